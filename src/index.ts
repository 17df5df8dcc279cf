export { createMirror, type Mirror } from "./mirror/create-mirror.ts";
export type { CloseOptions } from "./mirror/mirror.ts";
export type { IntakeOptions, JobsOptions, MirrorOptions, WebhookOptions } from "./mirror/options.ts";
export type { HandlerQueries, HandlerSurface, JobActions, RegisteredHandler } from "./mirror/handlers.ts";
export type { RetryFilter } from "./mirror/retry-jobs.ts";
export { defineHandler } from "./handlers/define-handler.ts";
export type {
  DefinedHandler,
  EventHandler,
  EventName,
  EventOf,
  TransactionHandler,
  TransitionHandler,
  TransitionOn,
} from "./handlers/define-handler.ts";
export { PermanentError, RetryAfterError } from "./handlers/errors.ts";
export type { HandlerContext, HandlerOptions } from "./handlers/handler.ts";
export type { TransactionContext } from "./handlers/transaction/call-in-transaction.ts";
export type { KnownEvent, UnknownEvent, WebhookEvent, WebhookEventType } from "./handlers/event.ts";
export type { Job, JobFilter, JobQueries } from "./queries/jobs.ts";
export type { WaitFor, WaitOptions } from "./queries/wait-for.ts";
export type { Health } from "./mirror/health.ts";
export type {
  TelemetryAttributes,
  TelemetryInstrumentOptions,
  TelemetryMeter,
  TelemetryObserver,
  TelemetryOptions,
  TelemetrySpan,
  TelemetrySpanOptions,
  TelemetryTracer,
} from "./telemetry/open-telemetry.ts";
export type { JobCounts } from "./queries/counts.ts";
export { contractMachine } from "./domain/contract.ts";
export { milestoneMachine } from "./domain/milestone.ts";
export { reachable, type Machine, type MachineTransition } from "./domain/machine.ts";
export type { ContractStatus, MilestoneStatus } from "./domain/status.ts";
export type { AnomalyKind } from "./domain/anomaly.ts";
export { EscrowMirrorError, isEscrowMirrorError, type ErrorCode } from "./shared/errors.ts";
export type { Clock } from "./shared/clock.ts";
export type { Logger, LogFields } from "./shared/logger.ts";
export type { HeaderBag, ReceiveRequest } from "./receiver/request.ts";
export type {
  BodyStream,
  NodeBodyStream,
  WebBodyReader,
  WebBodyStream,
} from "./receiver/body/body-stream.ts";
export type { Outcome, Reason, ReceiveResult } from "./receiver/outcome.ts";
export type { Refusal, Refused } from "./receiver/tally.ts";
export type { SecretsSource } from "./receiver/secrets/live-secrets.ts";
export type { RebuildOptions, RebuildProgress } from "./receiver/by-hand/rebuild.ts";
export type { Redacted } from "./retention/redact.ts";
export type { Pruned, PruneOptions } from "./retention/prune-options.ts";
export type { MirrorClient } from "./reconcile/mirror-client.ts";
export type { CheckoutOptions } from "./reconcile/checkout-urls.ts";
export type { ContractActions, ContractReads, CreatedInMirror, RefundActions } from "./reconcile/surface.ts";
export type { Drift } from "./reconcile/drift.ts";
export type { Failure } from "./reconcile/isolation.ts";
export type { Warn, WatchdogWarning } from "./healing/alarm.ts";
export type { RotateSecretOptions } from "./healing/rotation.ts";
export type { Watchdog, WatchdogOptions } from "./healing/watchdog.ts";
export type { Reconciled, ReconcileProgress } from "./reconcile/reconcile.ts";
export type { ReadingOptions, ReconcileOptions } from "./reconcile/reconcile-options.ts";
export type { ContractIds, Imported, ImportOptions, ImportProgress } from "./reconcile/import-contracts.ts";
export { signaturePresets } from "./signature/scheme.ts";
export type { SignatureOption, SignaturePreset, SignatureScheme, SignedParts } from "./signature/scheme.ts";
export type { SecretOption, SecretsOption } from "./signature/secret.ts";
export type { ToleranceOption } from "./signature/timestamp.ts";
export { webhookPayloadSchema, type WebhookPayload } from "./events/wire.ts";
export type { KnownEventType, EventMetadata } from "./events/event.ts";
export type { Party } from "./events/snapshot.ts";
export type { MirrorDatabase } from "./store/sql/database.ts";
export type { Store } from "./store/store.ts";
export type { Page, PageRequest } from "./queries/page.ts";
export type { ContractFilter, ContractQueries } from "./queries/contracts.ts";
export type {
  DisputeQueries,
  OfContract,
  PaymentQueries,
  RefundFilter,
  RefundQueries,
} from "./queries/refunds.ts";
export type {
  AnomalyFilter,
  AnomalyQueries,
  DeliveryFilter,
  DeliveryQueries,
  QuarantineFilter,
  QuarantineQueries,
} from "./queries/deliveries.ts";
export type {
  Anomaly,
  MirroredContract,
  MirroredDelivery,
  MirroredDispute,
  MirroredMilestone,
  MirroredPayment,
  MirroredRefund,
  QuarantinedDelivery,
  Transition,
} from "./queries/shapes.ts";
