/** The calls of a mirror, made of its parts. */
import type { Handlers } from "../handlers/create-handlers.ts";
import type { HandlerScope } from "../handlers/handler-scope.ts";
import { createContractQueries } from "../queries/contracts.ts";
import {
  createAnomalyQueries,
  createDeliveryQueries,
  createQuarantineQueries,
} from "../queries/deliveries.ts";
import { createDisputeQueries, createPaymentQueries, createRefundQueries } from "../queries/refunds.ts";
import { createWaitFor, type Commits } from "../queries/wait-for.ts";
import { dismiss } from "../receiver/by-hand/dismiss.ts";
import { rebuild } from "../receiver/by-hand/rebuild.ts";
import { release } from "../receiver/by-hand/release.ts";
import type { CommitParts } from "../receiver/commit.ts";
import type { Listeners } from "../receiver/notify.ts";
import type { Receiver } from "../receiver/receiver.ts";
import { createServiceSurface, type ServiceSurface } from "../reconcile/surface.ts";
import { prune } from "../retention/prune.ts";
import { redact } from "../retention/redact.ts";
import type { Telemetry } from "../telemetry/recorder.ts";
import { startBackground, type Background } from "./background.ts";
import { createHandlerSurface } from "./handlers.ts";
import type { Look } from "./health.ts";
import { readingsOf } from "./metrics.ts";
import type { CloseOptions, Mirror } from "./mirror.ts";
import type { MirrorSettings } from "./options.ts";
import type { Signing } from "./signing.ts";

export interface MirrorParts {
  readonly signing: Signing;
  readonly receiver: Receiver;
  readonly handlers: Handlers;
  readonly scope: HandlerScope;
  readonly listeners: Listeners;
  readonly commits: Commits;
  readonly look: () => Promise<Look>;
  readonly telemetry: Telemetry;
}

export function createSurface(settings: MirrorSettings, parts: MirrorParts): Mirror {
  const { receiver, handlers, scope, listeners, look, telemetry } = parts;
  const { clock, client, folding, intentTimeoutMs } = settings;
  const store = scope.wrap(settings.store);
  const commit = { store, clock, folding, listeners };
  const takeSnapshot: Receiver["takeSnapshot"] = (snapshot) => receiver.takeSnapshot(snapshot);
  const service = createServiceSurface({ commit, scope, client, intentTimeoutMs, takeSnapshot });
  const readGauges = async () => readingsOf(await look());
  const reconcile = (signal: AbortSignal) => service.reconcile({ signal });
  const background = startBackground(settings, { receiver, listeners, telemetry, readGauges, reconcile });
  const close = createClose(settings, parts, background);
  return {
    ...createHandlerSurface(store, handlers),
    ...createRecords(settings, parts, commit, service),
    ...createUpkeep(parts, commit, service),
    receive: (request) => receiver.receive(request),
    startWatchdog: (options) => background.startWatchdog(options),
    health: async () => {
      scope.refuseInTransaction("mirror.health()");
      return (await look()).health;
    },
    metrics: async () => {
      scope.refuseInTransaction("mirror.metrics()");
      return telemetry.text(await readGauges());
    },
    get db() {
      return store.db;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

type Records = "contracts" | "refunds" | "payments" | "disputes" | "deliveries" | "quarantine" | "anomalies";

/** The stored records: read them, and act on one. */
function createRecords(
  { client, maxBodyBytes }: MirrorSettings,
  { handlers, scope, commits }: MirrorParts,
  commit: CommitParts,
  service: ServiceSurface,
): Pick<Mirror, Records> {
  const { store, clock } = commit;
  const waitFor = createWaitFor(
    store,
    commits,
    client && ((id, signal) => service.contracts.refresh(id, { signal })),
  );
  return {
    contracts: {
      ...createContractQueries(store),
      ...service.contracts,
      waitFor: async (...given) => {
        scope.refuseInTransaction("mirror.contracts.waitFor()");
        return waitFor(...given);
      },
    },
    refunds: { ...createRefundQueries(store, clock), ...service.refunds },
    payments: createPaymentQueries(store),
    disputes: createDisputeQueries(store),
    deliveries: { ...createDeliveryQueries(store), replay: (id) => handlers.replay(id) },
    quarantine: {
      ...createQuarantineQueries(store),
      release: (id) => release({ ...commit, maxBodyBytes }, id),
      dismiss: (id) => dismiss(store, id),
    },
    anomalies: createAnomalyQueries(store),
  };
}

type UpkeepMethod = "reconcile" | "rebuild" | "rotateSecret" | "prune" | "redact";

/** Long calls, which wait for more than one transaction. */
function createUpkeep(
  { signing, scope }: MirrorParts,
  commit: CommitParts,
  service: ServiceSurface,
): Pick<Mirror, UpkeepMethod> {
  return {
    reconcile: (options) => service.reconcile(options),
    rebuild: (options = {}) => rebuild(commit, options),
    rotateSecret: async (options) => {
      scope.refuseInTransaction("mirror.rotateSecret()");
      await signing.rotations.rotate(options);
    },
    prune: async (options) => {
      scope.refuseInTransaction("mirror.prune()");
      return prune(commit, options);
    },
    redact: async (contractId) => {
      scope.refuseInTransaction("mirror.redact()");
      return redact(commit, contractId);
    },
  };
}

const closeDeadlineMs = 10_000;

/** Deliveries in flight are answered before their handlers end, and the store is closed last. */
function createClose(settings: MirrorSettings, parts: MirrorParts, background: Background): Mirror["close"] {
  const { signing, receiver, handlers, scope } = parts;
  let closing: Promise<void> | undefined;
  const closeAll = async (deadlineMs: number): Promise<void> => {
    const stopped = Promise.all([background.stop(), signing.rotations.close(deadlineMs)]);
    await receiver.close();
    await signing.catchUp.close();
    await stopped;
    await handlers.close(deadlineMs);
    await settings.store.close();
  };
  return async ({ deadlineMs = closeDeadlineMs }: CloseOptions = {}) => {
    scope.refuseInHandler("mirror.close()");
    await (closing ??= closeAll(deadlineMs));
  };
}
