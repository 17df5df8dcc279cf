import type { Kysely } from "kysely";
import type { RotateSecretOptions } from "../healing/rotation.ts";
import type { Watchdog, WatchdogOptions } from "../healing/watchdog.ts";
import type { ContractQueries } from "../queries/contracts.ts";
import type { AnomalyQueries, DeliveryQueries, QuarantineQueries } from "../queries/deliveries.ts";
import type { DisputeQueries, PaymentQueries, RefundQueries } from "../queries/refunds.ts";
import type { WaitFor } from "../queries/wait-for.ts";
import type { RebuildOptions, RebuildProgress } from "../receiver/by-hand/rebuild.ts";
import type { ReceiveResult } from "../receiver/outcome.ts";
import type { ReceiveRequest } from "../receiver/request.ts";
import type { ReconcileOptions } from "../reconcile/reconcile-options.ts";
import type { Reconciled } from "../reconcile/reconcile.ts";
import type { ContractActions, ContractReads, RefundActions } from "../reconcile/surface.ts";
import type { Pruned, PruneOptions } from "../retention/prune-options.ts";
import type { Redacted } from "../retention/redact.ts";
import type { MirrorDatabase } from "../store/sql/database.ts";
import type { HandlerSurface } from "./handlers.ts";
import type { Health } from "./health.ts";

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
       * back from the payment page before the webhook arrives. If the webhook is late and the mirror has a `client`, it
       * asks the API.
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
     * Makes new jobs for a delivery, one for each of its `on` and `inTransaction` handlers. The mirror's state does not
     * change.
     *
     * @param id the `id` of an item of `deliveries.list()`, not its webhook id: two deliveries can have the same webhook
     * id
     * @returns how many jobs it made
     * @throws EscrowMirrorError `invalid-argument` if the id is not text; `not-found` if no applied delivery has this id;
     *   `inside-transaction`
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
     * @throws EscrowMirrorError `invalid-argument` if the id is not text; `not-found`
     */
    dismiss(id: string): Promise<void>;
  };
  /** The anomalies that the mirror noticed. */
  readonly anomalies: AnomalyQueries;
  /**
   * Reads contracts from the API and corrects the mirror. Use it if webhooks may be lost. It reads contracts with a failed
   * delivery in the service's log, contracts that the mirror lacks, contracts in progress, and ended contracts that look
   * incomplete. You can call it at any time, in several processes at once. If it stops early, a call with the same `since`
   * within the next hour continues it.
   *
   * @throws EscrowMirrorError `invalid-configuration` without a client; `invalid-argument`; `inside-transaction`; the
   *   signal's reason; the error of the 20th contract in a row, if the API or the store is down
   */
  reconcile(options?: ReconcileOptions): Promise<Reconciled>;
  /**
   * Computes every contract again from the stored deliveries and API reads. New deliveries are received meanwhile.
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
   *   time; `already-rotating` while another call runs; `closed` if the mirror closes before the service is asked;
   *   `invalid-configuration` without a client; `invalid-argument`; `store-unavailable`; `inside-transaction`
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
   * Reads the webhook subscription again and again. It warns at five and eight failures in a row. If the service has
   * disabled the subscription, it enables it again and reconciles what was missed. Start it in every process. One does
   * the work; if it ends, another takes over. Every process shows the warnings in `health().warnings`.
   *
   * @throws EscrowMirrorError `invalid-configuration` without a client, or if your client lacks `webhooks.get` or
   *   `webhooks.update`; `invalid-argument`
   */
  startWatchdog(options?: WatchdogOptions): Watchdog;
  /**
   * Erases a contract's personal data: bodies, headers, references, metadata, texts, names, buyer and seller, errors of its
   * jobs. Ids, statuses, times and amounts stay. No duplicate, late event, API read or rebuild brings it back. An unknown
   * contract is marked too, so that its personal data is never stored. You can call it again at any time.
   *
   * @throws EscrowMirrorError `invalid-argument`; `store-unavailable`; `inside-transaction`
   */
  redact(contractId: string): Promise<Redacted>;
  /**
   * The mirror's state, for a health check. It rejects only inside an `inTransaction` handler, with `inside-transaction`.
   */
  health(): Promise<Health>;
  /**
   * The counts of this process and the gauges of `health()`, in the Prometheus text format (0.0.4). Send it as
   * `text/plain; version=0.0.4; charset=utf-8`. It rejects only where `health()` does.
   */
  metrics(): Promise<string>;
  /** Kysely for your own reads and joins. Its connection can't write. */
  readonly db: Kysely<MirrorDatabase>;
  /**
   * Closes the mirror. New deliveries get 503. Deliveries in flight are committed and answered. Running handlers get an
   * abort signal, and time to end. At the deadline their jobs go back to the queue. A running `rotateSecret` stops if it has
   * not asked the service yet. Otherwise `close` waits for it until the deadline.
   *
   * @throws EscrowMirrorError `inside-transaction` inside a handler
   */
  close(options?: CloseOptions): Promise<void>;
  /** Closes the mirror at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of `mirror.close()`. */
export interface CloseOptions {
  /** How long running handlers, and a running `rotateSecret`, may take to end. Milliseconds, default 10,000. */
  readonly deadlineMs?: number | undefined;
}
