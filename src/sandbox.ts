/** `escrow-mirror/sandbox`: the whole escrow service on a laptop. */
export { createSandbox } from "./sandbox/create-sandbox.ts";
export { manualClock } from "./sandbox/world/clock.ts";
export type { SandboxClock, Timeline } from "./sandbox/world/clock.ts";
export { replayRecording } from "./sandbox/webhooks/recorder.ts";
export type { Replayed, ReplayOptions } from "./sandbox/webhooks/recorder.ts";
export type { BusinessOptions, FeeOptions, NewUserOptions, SandboxOptions } from "./sandbox/world/options.ts";
export type { FaultOptions } from "./sandbox/world/fault-options.ts";
export type { FaultCounts } from "./sandbox/world/faults.ts";
export type { ContractAction } from "./sandbox/service/machine.ts";
export type {
  AmountInput,
  ContractInput,
  KycInput,
  MetaDataInput,
  MilestoneInput,
  PartyInput,
  RefundInput,
} from "./sandbox/control/input.ts";
export type { Sandbox } from "./sandbox/sandbox.ts";
export type { UserChange } from "./sandbox/control/user-changes.ts";
export { SandboxError } from "./sandbox/world/sandbox-error.ts";
export type { SandboxErrorCode } from "./sandbox/world/sandbox-error.ts";
export type { SmsRecord, SubscriptionRecord, UserRecord } from "./sandbox/world/records.ts";
export type { SandboxAttempt, SandboxDelivery } from "./sandbox/world/shown-delivery.ts";
export type { SandboxContract, SandboxMilestone, SandboxRefund } from "./sandbox/control/truth.ts";
