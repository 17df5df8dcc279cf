import { z } from "zod";
import type { FoldOptions } from "../domain/fold.ts";
import type { Backoff } from "../handlers/runner/backoff.ts";
import type { DefinedHandler } from "../handlers/define-handler.ts";
import type { RunnerOptions } from "../handlers/runner/runner.ts";
import type { ReceiverParts } from "../receiver/receiver.ts";
import { systemClock, type Clock } from "../shared/clock.ts";
import { parseConfiguration, strictOptions } from "../shared/configuration.ts";
import { unfailing, warningLogger, type Logger } from "../shared/logger.ts";
import type { MirrorClient } from "../reconcile/mirror-client.ts";
import type { SecretsSource } from "../receiver/secrets/live-secrets.ts";
import type { SignatureOption } from "../signature/scheme.ts";
import type { ToleranceOption } from "../signature/timestamp.ts";
import type { Store } from "../store/store.ts";
import type { TelemetryOptions } from "../telemetry/open-telemetry.ts";

/** Options of `createMirror`. */
export interface MirrorOptions {
  /** The database: `sqlite("escrow.db")` or `postgres({ … })`. */
  readonly store: Store;
  /** `auto` (default) creates and migrates the tables. `check` refuses to start if their version is another. */
  readonly migrate?: "auto" | "check" | undefined;
  /**
   * How deliveries are verified. Without it the mirror does everything else, but answers every delivery with 503
   * (`no-secret`).
   */
  readonly webhook?: WebhookOptions | undefined;
  /**
   * The service's API: `createClient({ … })` of `escrow-mirror/client`. `contracts.create`, `checkoutUrl`, `refresh` and
   * `import`, `refunds.create`, `reconcile`, `rotateSecret` and `startWatchdog` need it. `contracts.waitFor` asks it if
   * webhooks are late.
   */
  readonly client?: MirrorClient | undefined;
  /** `skewMs`: how much two clocks of the service may differ. Milliseconds, default 60,000. */
  readonly fold?: Partial<FoldOptions> | undefined;
  /** Limits for deliveries that wait for their commit. */
  readonly intake?: IntakeOptions | undefined;
  /** Handlers to register before the first delivery: `defineHandler(name, event, run)`. */
  readonly handlers?: readonly DefinedHandler[] | undefined;
  /** How handlers run. */
  readonly jobs?: JobsOptions | undefined;
  /**
   * How long one `inTransaction` handler may take. Also how long all of them together may take in one commit.
   * Milliseconds, default 10,000.
   */
  readonly handlerTimeoutMs?: number | undefined;
  /**
   * How long to wait for the answer or the webhook of a `contracts.create` or `refunds.create`. If neither arrives in this
   * time, the anomaly `intent-open` says so. Milliseconds, default 5,400,000 (90 minutes): the service stops its retries of a
   * webhook before that.
   */
  readonly intentTimeoutMs?: number | undefined;
  /** A tracer and a meter of OpenTelemetry, either or both. `mirror.metrics()` works with and without them. */
  readonly telemetry?: TelemetryOptions | undefined;
  /**
   * A logger like pino's or the console. It never gets a secret, a signature or a payload. Default: silent, except
   * for one process warning for each reason why deliveries are not accepted.
   */
  readonly logger?: Logger | undefined;
  /** Default: the machine's. */
  readonly clock?: Clock | undefined;
}

/** The option `webhook`: how deliveries are verified and read. */
export interface WebhookOptions {
  /**
   * The whole signing secret, with its `whsec_`. An array if you have several: during a rotation, or for several accounts.
   * Or a function that returns them. It is called again after a wrong signature, at most every 5 s.
   */
  readonly secrets: SecretsSource;
  /** A preset's name, or a scheme. Default `"default"`: the service's own. */
  readonly signature?: SignatureOption | undefined;
  /** Default `X-Service-`. */
  readonly headerPrefix?: string | undefined;
  /** The largest body. Bytes, default 1,048,576. Larger ones get 413: don't count on a retry. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * How far a *signed* timestamp may be from now. Milliseconds, default 24 h past and 5 min future. Unused if the
   * scheme signs no timestamp.
   */
  readonly toleranceMs?: ToleranceOption | undefined;
  /**
   * `true` while you change the secret. A wrong signature then gets 503 instead of 401, so the service retries.
   * Default `false`.
   */
  readonly rotating?: boolean | undefined;
}

/** The option `intake`: limits of memory. */
export interface IntakeOptions {
  /** How many deliveries may wait for their commit. More get 503. Default 10,000. */
  readonly itemsMax?: number | undefined;
  /** How many bytes the waiting deliveries may have together. More get 503. Default 64 MiB. */
  readonly bytesMax?: number | undefined;
  /** How many deliveries may share one commit. Default 256. */
  readonly batchMax?: number | undefined;
  /**
   * How many bytes of unverified bodies this process holds at once. Above it, the largest body that is still arriving
   * gets 503. Bytes, default 32 MiB.
   */
  readonly unverifiedBytesMax?: number | undefined;
  /**
   * How long one body may take to arrive. Later it gets 503. Milliseconds, default and at most 20,000: the service
   * waits 30 s for an answer.
   */
  readonly bodyTimeoutMs?: number | undefined;
}

/** How handlers are run. */
export interface JobsOptions {
  /** `false` in a process that only receives: other processes, or `jobs.runOnce()`, run its jobs. Default `true`. */
  readonly run?: boolean | undefined;
  /** How many handlers run at once in this process. Default 8. */
  readonly concurrency?: number | undefined;
  /** If a process gives no sign of life for this long, other processes take its jobs. Milliseconds, default 30,000. */
  readonly leaseMs?: number | undefined;
  /** How long one run may take. Milliseconds, default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** After how many failed attempts a job is dead. Default 15. */
  readonly maxAttempts?: number | undefined;
  /**
   * The wait before the second attempt. It doubles for each further attempt, up to an hour. Or a function of the number
   * of attempts. If it throws or returns no number, the default is used. Milliseconds, default 1,000; a year at most.
   */
  readonly backoffMs?: Backoff | undefined;
}

/** The options with their defaults. */
export interface MirrorSettings {
  readonly store: Store;
  readonly migrate: "auto" | "check";
  /** `undefined` where the mirror takes no deliveries in. */
  readonly webhook: (WebhookOptions & { readonly rotating: boolean }) | undefined;
  readonly client: MirrorClient | undefined;
  readonly maxBodyBytes: number;
  readonly folding: FoldOptions;
  readonly intake: ReceiverParts["intake"];
  readonly jobs: RunnerOptions;
  readonly handlerTimeoutMs: number;
  readonly intentTimeoutMs: number;
  readonly telemetry: TelemetryOptions;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** @throws EscrowMirrorError `invalid-configuration` that names the option, what is wrong with it and what fits */
export function parseMirrorOptions(options: MirrorOptions): MirrorSettings {
  const { migrate, webhook, fold, intake, jobs, handlerTimeoutMs, intentTimeoutMs } = parseConfiguration(
    "createMirror",
    schema,
    options,
  );
  return {
    store: options.store,
    migrate,
    webhook: options.webhook && { ...options.webhook, rotating: webhook?.rotating ?? false },
    client: options.client,
    maxBodyBytes: webhook?.maxBodyBytes ?? maxBodyBytesDefault,
    folding: fold,
    intake,
    jobs: { ...jobs, backoffMs: options.jobs?.backoffMs ?? 1000 },
    handlerTimeoutMs,
    intentTimeoutMs,
    telemetry: options.telemetry ?? {},
    logger: unfailing(options.logger ?? warningLogger()),
    clock: options.clock ?? systemClock,
  };
}

const maxBodyBytesDefault = 1_048_576;
const positive = z.int().min(1);
const isStore = (value: unknown): boolean =>
  typeof (value as Partial<Store> | null)?.open === "function" &&
  typeof (value as Partial<Store> | null)?.transaction === "function";
const has =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    names.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === "function");
const isLogger = has("debug", "info", "warn", "error");
const isTracer = has("startSpan", "startActiveSpan");
const isMeter = has(
  "createCounter",
  "createHistogram",
  "createObservableGauge",
  "addBatchObservableCallback",
  "removeBatchObservableCallback",
);

const isClient = (value: unknown): boolean => {
  const { contracts, webhooks } = (value ?? {}) as Record<string, Record<string, unknown> | undefined>;
  const calls = ["get", "create", "refund", "renewCheckout"].map((name) => contracts?.[name]);
  return [...calls, webhooks?.["allLogs"]].every((each) => typeof each === "function");
};

const tooSmall = (option: keyof IntakeOptions) => ({
  path: ["intake", option],
  message: "is below webhook.maxBodyBytes: a body of that size would get 503 for ever",
});
const isHandler = (value: unknown): boolean =>
  typeof (value as Partial<DefinedHandler> | null)?.run === "function";
const isBackoff = (value: unknown): boolean =>
  typeof value === "function" || (typeof value === "number" && value >= 0 && Number.isFinite(value));

const schema = strictOptions({
  store: z.custom(isStore, 'expected a store: sqlite("escrow.db")'),
  migrate: z.enum(["auto", "check"]).default("auto"),
  webhook: strictOptions({
    // These are read, and refused with advice, by the signature layer.
    secrets: z.unknown().optional(),
    signature: z.unknown().optional(),
    headerPrefix: z.unknown().optional(),
    maxBodyBytes: positive.default(maxBodyBytesDefault),
    toleranceMs: z.unknown().optional(),
    rotating: z.boolean().default(false),
  }).optional(),
  client: z.custom(isClient, "expected a client: createClient({ … }) of escrow-mirror/client").optional(),
  fold: strictOptions({ skewMs: z.int().min(0).default(60_000) }).prefault({}),
  intake: strictOptions({
    itemsMax: positive.default(10_000),
    bytesMax: positive.default(67_108_864),
    batchMax: positive.default(256),
    unverifiedBytesMax: positive.default(33_554_432),
    bodyTimeoutMs: positive.max(20_000).default(20_000),
  }).prefault({}),
  handlers: z.array(z.custom(isHandler, "expected a result of defineHandler()")).default([]),
  jobs: strictOptions({
    run: z.boolean().default(true),
    concurrency: positive.default(8),
    leaseMs: z.int().min(100).default(30_000),
    timeoutMs: positive.default(60_000),
    maxAttempts: positive.default(15),
    backoffMs: z.custom(isBackoff, "expected milliseconds, or a function of the attempt").optional(),
  }).prefault({}),
  intentTimeoutMs: positive.default(5_400_000),
  handlerTimeoutMs: positive.max(20_000).default(10_000),
  telemetry: strictOptions({
    tracer: z.custom(isTracer, "expected a tracer of @opentelemetry/api: trace.getTracer(…)").optional(),
    meter: z.custom(isMeter, "expected a meter of @opentelemetry/api: metrics.getMeter(…)").optional(),
  }).optional(),
  logger: z.custom(isLogger, "expected debug, info, warn and error, as pino and console have").optional(),
  clock: z
    .custom((value) => typeof (value as Partial<Clock> | null)?.now === "function", "expected { now() }")
    .optional(),
})
  .refine(({ webhook, intake }) => intake.bytesMax >= (webhook?.maxBodyBytes ?? 0), tooSmall("bytesMax"))
  .refine(
    ({ webhook, intake }) => intake.unverifiedBytesMax >= (webhook?.maxBodyBytes ?? 0),
    tooSmall("unverifiedBytesMax"),
  );
