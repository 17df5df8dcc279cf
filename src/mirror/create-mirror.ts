import type { Kysely } from "kysely";
import { createContractQueries, type ContractQueries } from "../queries/contracts.ts";
import {
  createAnomalyQueries,
  createDeliveryQueries,
  createQuarantineQueries,
  type AnomalyQueries,
  type DeliveryQueries,
  type QuarantineQueries,
} from "../queries/deliveries.ts";
import {
  createDisputeQueries,
  createPaymentQueries,
  createRefundQueries,
  type DisputeQueries,
  type PaymentQueries,
  type RefundQueries,
} from "../queries/refunds.ts";
import { keptHeaders } from "../receiver/deliveries/kept-headers.ts";
import { createHandlers, type Handlers } from "../handlers/create-handlers.ts";
import { createInside, type Inside } from "../handlers/inside.ts";
import {
  createCommits,
  createWaitFor,
  type Commits,
  type Refresh,
  type WaitFor,
} from "../queries/wait-for.ts";
import { createListeners, type Listeners } from "../receiver/notify.ts";
import { nameOfError } from "../shared/errors.ts";
import { createCatchUp, createRotate, type CatchUp, type RotateSecretOptions } from "../healing/rotation.ts";
import { startWatchdog, type Watchdog, type WatchdogOptions } from "../healing/watchdog.ts";
import { healingStandingOf } from "../healing/standing.ts";
import type { ReconcileOptions } from "../reconcile/reconcile-options.ts";
import type { Reconciled } from "../reconcile/reconcile.ts";
import { watchOpenIntents } from "../reconcile/open-intents.ts";
import {
  createServiceSurface,
  type ContractActions,
  type ContractReads,
  type RefundActions,
} from "../reconcile/surface.ts";
import type { Store } from "../store/store.ts";
import { createHandlerSurface, type HandlerSurface } from "./handlers.ts";
import { createReceiverLog } from "../receiver/log.ts";
import { dismiss } from "../receiver/by-hand/dismiss.ts";
import { failed, type ReceiveResult } from "../receiver/outcome.ts";
import { createSecretProof } from "../receiver/secrets/proof.ts";
import { createReceiver, type Receiver } from "../receiver/receive.ts";
import { rebuild, type RebuildOptions, type RebuildProgress } from "../receiver/by-hand/rebuild.ts";
import { release } from "../receiver/by-hand/release.ts";
import { prune } from "../retention/prune.ts";
import { redact, type Redacted } from "../retention/redact.ts";
import type { Pruned, PruneOptions } from "../retention/prune-options.ts";
import type { ReceiveRequest } from "../receiver/request.ts";
import { createRateLimit } from "../shared/rate-limit.ts";
import { openSecrets } from "../receiver/secrets/live-secrets.ts";
import { createVerify, type Verify } from "../receiver/verify.ts";
import { defaultHeaderPrefix } from "../signature/scheme.ts";
import { createVerifier } from "../signature/verify.ts";
import type { MirrorDatabase } from "../store/sql/database.ts";
import { createTelemetry, type Telemetry } from "../telemetry/recorder.ts";
import { createHealth, type Health, type Look } from "./health.ts";
import { readingsOf } from "./metrics.ts";
import { parseOptions, type MirrorOptions, type MirrorSettings } from "./options.ts";

/** A local copy of every contract, kept up to date by webhooks. */
export interface Mirror extends HandlerSurface {
  /**
   * Handles one webhook request and resolves with the answer to send. Never rejects. A 2xx means that the delivery and its
   * effects are on the disk.
   */
  receive(request: ReceiveRequest): Promise<ReceiveResult>;
  /** The mirrored contracts. */
  readonly contracts: ContractQueries &
    ContractReads &
    ContractActions & {
      /**
       * Resolves with the contract when its history has a move to one of these statuses. Use it for a buyer who comes
       * back from the payment page before the webhook arrives. If the webhook is late, it asks the API, if the mirror
       * has a `client`.
       *
       * @throws EscrowMirrorError `unreachable-status` if the contract has ended in another status; `timeout`;
       * `aborted`; `inside-transaction`
       */
      readonly waitFor: WaitFor;
    };
  /** The refunds. */
  readonly refunds: RefundQueries & RefundActions;
  /** The payments. */
  readonly payments: PaymentQueries;
  /** The disputes. */
  readonly disputes: DisputeQueries;
  /** The stored deliveries. */
  readonly deliveries: DeliveryQueries & {
    /**
     * Makes new jobs for a delivery, one for each of its handlers. The mirror's state does not change.
     *
     * @param id the `id` of an item of `deliveries.list()`, not its webhook id: two deliveries can have the same webhook
     * id
     * @returns how many jobs it made
     * @throws EscrowMirrorError `invalid-argument` if the id is no text; `not-found` if no applied delivery has this id
     */
    replay(id: string): Promise<number>;
  };
  /** Deliveries with a valid signature that are stored and not applied. */
  readonly quarantine: QuarantineQueries & {
    /**
     * Applies a quarantined delivery.
     *
     * @param id the `id` of an item of `quarantine.list()`, not its webhook id: several items can have the same
     * webhook id
     * @throws EscrowMirrorError `not-found`; `not-releasable` if it still can't be read, or if its event is already applied
     */
    release(id: string): Promise<void>;
    /**
     * Marks a quarantined delivery as dealt with. It stays stored, and `list({ dismissed: true })` shows it.
     * `health()` no longer counts it. You can still release it.
     *
     * @param id the `id` of an item of `quarantine.list()`
     * @throws EscrowMirrorError `invalid-argument` if the id is no text; `not-found`
     */
    dismiss(id: string): Promise<void>;
  };
  /** The anomalies that the mirror noticed. */
  readonly anomalies: AnomalyQueries;
  /**
   * Reads changes from the API whose webhooks may be lost, and adds them to the mirror. It reads contracts with a failed
   * delivery in the log, contracts in progress, and ended ones that look incomplete. Run it at any time, in any number of
   * processes. If it
   * stops early, the next call within an hour continues it.
   *
   * @throws EscrowMirrorError `invalid-configuration` without a client; `invalid-argument`; `inside-transaction`; the
   *   signal's reason;
   * the error of the 20th contract in a row, if the API or the store is down
   */
  reconcile(options?: ReconcileOptions): Promise<Reconciled>;
  /**
   * Computes every contract again from the stored deliveries. New deliveries are still handled meanwhile.
   *
   * @throws the signal's reason if `signal` is aborted; EscrowMirrorError `store-unavailable`
   */
  rebuild(options?: RebuildOptions): Promise<RebuildProgress>;
  /**
   * Changes the signing secret at the service without losing a delivery, and passes the new one to `save`. Until the new
   * secret is saved and has verified a delivery, every process answers a wrong signature with 503. If the call fails or the
   * process ends, call it again.
   *
   * ```ts
   * await mirror.rotateSecret({ save: (secret) => secretStore.write("escrow-webhook", secret) });
   * ```
   *
   * @throws EscrowApiError as `client.webhooks.regenerateSecret`; EscrowMirrorError `secret-not-saved` if `save` failed each
   *   time; `already-rotating` while another call runs; `invalid-configuration` without a client; `invalid-argument`;
   *   `store-unavailable`; `inside-transaction`
   */
  rotateSecret(options: RotateSecretOptions): Promise<void>;
  /**
   * Deletes old bodies, headers and jobs, in short steps: deliveries are handled meanwhile. Ids, hashes and facts stay, so
   * duplicates are recognised for ever, and a late event or a rebuild gives the same result. A SQLite file that the mirror
   * made gets smaller.
   *
   * @throws EscrowMirrorError `invalid-argument`; `store-unavailable`; `inside-transaction`; the signal's reason
   */
  prune(options: PruneOptions): Promise<Pruned>;
  /**
   * Reads the webhook subscription again and again. It warns at five and eight failures in a row. If the service has disabled
   * the subscription, it enables it again and reconciles what was missed. Start it in every process: one does the work, and
   * another follows if it ends. `health().warnings` of every process tells what it saw.
   *
   * @throws EscrowMirrorError `invalid-configuration` without a client, or if your client lacks `webhooks.get` or
   *   `webhooks.update`; `invalid-argument`
   */
  startWatchdog(options?: WatchdogOptions): Watchdog;
  /**
   * Erases a contract's personal data: bodies, headers, references, metadata, texts, names, buyer and seller, errors of its
   * jobs. Ids, statuses, times and amounts stay. No duplicate, late event, API read or rebuild brings it back. An unknown
   * contract is marked too, so that data which arrives later is never stored. You can call it again at any time.
   *
   * @throws EscrowMirrorError `invalid-argument`; `store-unavailable`; `inside-transaction`
   */
  redact(contractId: string): Promise<Redacted>;
  /** The mirror's state, for a health check. Never rejects. */
  health(): Promise<Health>;
  /**
   * The counts of this process and the gauges of `health()`, in the Prometheus text format (0.0.4). Send it as
   * `text/plain; version=0.0.4; charset=utf-8`. Never rejects.
   */
  metrics(): Promise<string>;
  /** Kysely for your own reads and joins. Its connection can't write. */
  readonly db: Kysely<MirrorDatabase>;
  /**
   * Closes the mirror. New deliveries get 503. Deliveries in flight are committed and answered. Running handlers get an
   * abort signal, and time to end. At the deadline their jobs go back to the queue.
   *
   * @throws EscrowMirrorError `inside-transaction` inside a handler
   */
  close(options?: CloseOptions): Promise<void>;
  /** Closes the mirror at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of `mirror.close()`. */
export interface CloseOptions {
  /** How long running handlers may take to end. Milliseconds, default 10,000. */
  readonly deadlineMs?: number | undefined;
}

const closeDeadlineMs = 10_000;

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
  const settings = parseOptions(options);
  const { store, migrate, logger, clock, webhook, folding, maxBodyBytes } = settings;
  // Wrong options are refused before anything is opened.
  const verifier = createVerifier({ ...webhook, scheme: webhook?.signature });
  const log = createReceiverLog(logger, clock);
  const telemetry = createTelemetry(settings.telemetry, logger);
  const { recorder } = telemetry;
  const secrets =
    webhook &&
    (await openSecrets(webhook.secrets, verifier.scheme, clock, (error) => log.secretsFault(error)));
  await store.open({ migrate, logger, clock });
  const inside = createInside();
  const handlers = createHandlers({
    store,
    inside,
    clock,
    logger,
    recorder,
    options: settings.jobs,
    handlerTimeoutMs: settings.handlerTimeoutMs,
    startAt: await newestSeq(store),
  });
  handlers.define(options.handlers ?? []);
  const proof = createSecretProof(store, clock, webhook?.rotating ?? false);
  const commits = createCommits();
  const listeners = createListeners(handlers, inside, folding, commits);
  const rotating = {
    store,
    clock,
    secrets,
    proof,
    client: settings.client,
    scheme: verifier.scheme,
    leaseMs: settings.jobs.leaseMs,
  };
  const catchUp = createCatchUp(rotating, createRateLimit({ everyMs: 5000 }), (error) =>
    logger.warn({ step: "verify", error: nameOfError(error) }, "reading the newest signing secret failed"),
  );
  // An open rotation may have got no further than the service: its secret verifies from the start.
  void catchUp.ask();
  const receiver = createReceiver({
    store,
    proof,
    verify:
      secrets === undefined
        ? refuseAll
        : createVerify({ verifier, secrets, proof, clock, logger, catchUp: () => catchUp.ask() }),
    log,
    clock,
    folding,
    listeners,
    recorder,
    intake: settings.intake,
    parsing: {
      maxBodyBytes,
      idHeader: verifier.scheme.idHeader.toLowerCase(),
      keptHeaders: keptHeaders(verifier.scheme, webhook?.headerPrefix ?? defaultHeaderPrefix),
    },
  });
  const unprovenIds = secrets && (async () => (await proof.unproven(secrets.current())).map(({ id }) => id));
  const look = createHealth({
    store,
    receiver,
    clock,
    unprovenIds,
    refusedHandlers: () => handlers.registry.warnings(),
    healing: () => healingStandingOf({ store, clock, secrets, proof }),
  });
  const rotate = createRotate(rotating);
  return assemble(settings, {
    receiver,
    look,
    telemetry,
    handlers,
    inside,
    listeners,
    commits,
    catchUp,
    rotate,
  });
}

/** Without a secret nobody's signature can be told from a stranger's. */
const refuseAll: Verify = {
  checkHeaders: () => failed("no-secret"),
  checkSignature: async () => failed("no-secret"),
};

/** Where handlers begin that are new here. */
async function newestSeq(store: Store): Promise<number> {
  const query = { orderBy: ["seq"], descending: true, limit: 1 } as const;
  const [newest] = await store.read((reader) => reader.find("deliveries", query));
  return newest?.seq ?? 0;
}

interface Parts {
  readonly receiver: Receiver;
  readonly look: () => Promise<Look>;
  readonly telemetry: Telemetry;
  readonly handlers: Handlers;
  readonly inside: Inside;
  readonly listeners: Listeners;
  readonly commits: Commits;
  readonly catchUp: CatchUp;
  readonly rotate: (options: RotateSecretOptions) => Promise<void>;
}

function assemble(settings: MirrorSettings, parts: Parts): Mirror {
  const { receiver, look, telemetry, handlers, inside, listeners, commits, catchUp, rotate } = parts;
  const { clock, client, folding, intentTimeoutMs, maxBodyBytes, logger } = settings;
  const store = inside.wrap(settings.store);
  const watchdogs: Watchdog[] = [];
  const readGauges = async () => readingsOf(await look());
  const stopObserving = telemetry.observe(readGauges);
  let closing: Promise<void> | undefined;
  const closeAll = async (deadlineMs: number): Promise<void> => {
    stopObserving();
    const looked = watch?.stop();
    const watched = Promise.all(watchdogs.map((each) => each.stop()));
    await receiver.close();
    await catchUp.close();
    await watched;
    await looked;
    await handlers.close(deadlineMs);
    await settings.store.close();
  };
  const close = async ({ deadlineMs = closeDeadlineMs }: CloseOptions = {}): Promise<void> => {
    inside.refuseInHandler("mirror.close()");
    await (closing ??= closeAll(deadlineMs));
  };
  const committing = { store, clock, folding, listeners };
  // Only a process with a client makes such calls, and knows how long they may take.
  const watch =
    client &&
    watchOpenIntents({ ...committing, store: settings.store }, intentTimeoutMs, (error) =>
      logger.warn(
        { step: "persist", error: nameOfError(error) },
        "looking for calls without an answer failed",
      ),
    );
  const service = createServiceSurface({
    commit: committing,
    inside,
    client,
    intentTimeoutMs,
    takeSnapshot: (snapshot) => receiver.takeSnapshot(snapshot),
  });
  const refresh: Refresh | undefined = client && ((id, signal) => service.contracts.refresh(id, { signal }));
  const waitFor = createWaitFor(store, commits, refresh);
  return {
    ...createHandlerSurface(store, handlers),
    receive: (request) => receiver.receive(request),
    contracts: {
      ...createContractQueries(store),
      ...service.contracts,
      waitFor: async (...given) => {
        inside.refuseInTransaction("mirror.contracts.waitFor()");
        return waitFor(...given);
      },
    },
    refunds: { ...createRefundQueries(store, clock), ...service.refunds },
    payments: createPaymentQueries(store),
    disputes: createDisputeQueries(store),
    deliveries: { ...createDeliveryQueries(store), replay: (id) => handlers.replay(id) },
    quarantine: {
      ...createQuarantineQueries(store),
      release: (id) => release({ ...committing, maxBodyBytes }, id),
      dismiss: (id) => dismiss(store, id),
    },
    anomalies: createAnomalyQueries(store),
    reconcile: (options) => service.reconcile(options),
    rebuild: (options = {}) => rebuild(committing, options),
    startWatchdog: (options) => {
      const started = startWatchdog(
        {
          store: settings.store,
          clock,
          logger,
          client,
          leaseMs: settings.jobs.leaseMs,
          ownFailures: () => receiver.consecutiveFailures(),
          reconcile: (signal) => service.reconcile({ signal }),
        },
        options,
      );
      watchdogs.push(started);
      return started;
    },
    rotateSecret: async (options) => {
      inside.refuseInTransaction("mirror.rotateSecret()");
      await rotate(options);
    },
    prune: async (options) => {
      inside.refuseInTransaction("mirror.prune()");
      return prune({ store, clock }, options);
    },
    redact: async (contractId) => {
      inside.refuseInTransaction("mirror.redact()");
      return redact(committing, contractId);
    },
    health: async () => (await look()).health,
    metrics: async () => telemetry.text(await readGauges()),
    get db() {
      return store.db;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}
