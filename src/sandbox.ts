/** `escrow-mirror/sandbox`: the whole escrow service on a laptop. */
export { createSandbox } from "./sandbox/create-sandbox.ts";
export { manualClock } from "./sandbox/world/clock.ts";
export type { SandboxClock } from "./sandbox/world/clock.ts";
export { replayRecording } from "./sandbox/webhooks/recorder.ts";
export type { Replayed, ReplayOptions } from "./sandbox/webhooks/recorder.ts";
export type { BusinessOptions, FeeOptions, NewUserOptions, SandboxOptions } from "./sandbox/world/options.ts";
export type { FaultCounts, FaultOptions } from "./sandbox/world/faults.ts";
export type { ContractAction } from "./sandbox/service/machine.ts";
export type { Sandbox, UserChange } from "./sandbox/sandbox.ts";
export { SandboxError } from "./sandbox/world/sandbox-error.ts";
export type { SandboxErrorCode } from "./sandbox/world/sandbox-error.ts";
export type { SmsRecord, SubscriptionRecord, UserRecord } from "./sandbox/world/records.ts";
export type {
  SandboxAttempt,
  SandboxContract,
  SandboxDelivery,
  SandboxMilestone,
  SandboxRefund,
} from "./sandbox/control/truth.ts";
