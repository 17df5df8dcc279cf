import { createHandlers, type Handlers } from "../handlers/create-handlers.ts";
import { toHandlers } from "../handlers/define-handler.ts";
import { createHandlerScope, type HandlerScope } from "../handlers/handler-scope.ts";
import { healingStandingOf } from "../healing/standing.ts";
import { createCommits } from "../queries/wait-for.ts";
import { keptHeaders } from "../receiver/deliveries/kept-headers.ts";
import { createReceiverLog, type ReceiverLog } from "../receiver/log.ts";
import { createListeners, type Listeners } from "../receiver/notify.ts";
import { createReceiver, type Receiver } from "../receiver/receiver.ts";
import { defaultHeaderPrefix } from "../signature/scheme.ts";
import type { Store } from "../store/store.ts";
import { createTelemetry, type Recorder } from "../telemetry/recorder.ts";
import { createHealth, type Look } from "./health.ts";
import type { Mirror } from "./mirror.ts";
import { parseMirrorOptions, type MirrorOptions, type MirrorSettings } from "./options.ts";
import { openSigning, type Signing } from "./signing.ts";
import { createSurface } from "./surface.ts";

export type { Mirror } from "./mirror.ts";

/**
 * Opens the store, creates or checks its tables, and returns the mirror.
 *
 * ```ts
 * const mirror = await createMirror({
 *   store: sqlite("escrow.db"),
 *   webhook: { secrets: process.env.ESCROW_WEBHOOK_SECRET! },
 * });
 * ```
 *
 * @throws EscrowMirrorError `invalid-configuration`, `missing-peer`, `schema-version`, `store-unavailable`
 */
export async function createMirror(options: MirrorOptions): Promise<Mirror> {
  const settings = parseMirrorOptions(options);
  const { store, migrate, logger, clock, folding } = settings;
  const log = createReceiverLog(logger, clock);
  const telemetry = createTelemetry(settings.telemetry, logger);
  const { recorder } = telemetry;
  // Wrong options are refused before anything is opened.
  const signing = await openSigning(settings, log);
  const defined = toHandlers(options.handlers ?? []);
  await store.open({ migrate, logger, clock });
  const scope = createHandlerScope();
  const handlers = openHandlers(settings, scope, recorder, await newestSeq(store));
  for (const each of defined) handlers.registry.add(each);
  // An open rotation may have got no further than the service: its secret verifies from the start.
  void signing.catchUp.ask();
  const commits = createCommits();
  const listeners = createListeners(handlers, scope, folding, commits);
  const receiver = openReceiver(settings, signing, { log, listeners, recorder });
  const look = openHealth(settings, signing, receiver, handlers);
  return createSurface(settings, {
    signing,
    receiver,
    handlers,
    scope,
    listeners,
    commits,
    look,
    telemetry,
  });
}

function openHandlers(
  { store, clock, logger, jobs: options, handlerTimeoutMs }: MirrorSettings,
  scope: HandlerScope,
  recorder: Recorder,
  startAt: number,
): Handlers {
  return createHandlers({ store, scope, clock, logger, recorder, options, handlerTimeoutMs, startAt });
}

/** Where handlers begin that are new here. */
async function newestSeq(store: Store): Promise<number> {
  const query = { orderBy: ["seq"], descending: true, limit: 1 } as const;
  const [newest] = await store.read((reader) => reader.find("deliveries", query));
  return newest?.seq ?? 0;
}

interface Hearing {
  readonly log: ReceiverLog;
  readonly listeners: Listeners;
  readonly recorder: Recorder;
}

function openReceiver(settings: MirrorSettings, signing: Signing, hearing: Hearing): Receiver {
  const { store, clock, folding, intake, maxBodyBytes, webhook } = settings;
  const { scheme, proof, verify } = signing;
  const parsing = {
    maxBodyBytes,
    idHeader: scheme.idHeader.toLowerCase(),
    keptHeaders: keptHeaders(scheme, webhook?.headerPrefix ?? defaultHeaderPrefix),
  };
  return createReceiver({ ...hearing, store, clock, folding, intake, proof, verify, parsing });
}

function openHealth(
  { store, clock }: MirrorSettings,
  { secrets, proof }: Signing,
  receiver: Receiver,
  handlers: Handlers,
): () => Promise<Look> {
  const unprovenIds = async () => (await proof.unproven(secrets?.current() ?? [])).map(({ id }) => id);
  return createHealth({
    store,
    receiver,
    clock,
    unprovenIds,
    registry: handlers.registry,
    healing: () => healingStandingOf({ store, clock, secrets, proof }),
  });
}
