/** `escrow-mirror/sandbox`: the whole escrow service on a laptop. */
export { createSandbox } from "./sandbox/create-sandbox.ts";
export { manualClock } from "./sandbox/clock.ts";
export type { SandboxClock } from "./sandbox/clock.ts";
export { replayRecording } from "./sandbox/recorder.ts";
export type { Replayed, ReplayOptions } from "./sandbox/recorder.ts";
export type { BusinessOptions, FeeOptions, NewUserOptions, SandboxOptions } from "./sandbox/options.ts";
export type { FaultCounts, FaultOptions } from "./sandbox/faults.ts";
export type { ContractAction } from "./sandbox/machine.ts";
export type { Sandbox, UserChange } from "./sandbox/sandbox.ts";
export { SandboxError } from "./sandbox/sandbox-error.ts";
export type { SandboxErrorCode } from "./sandbox/sandbox-error.ts";
export type { SmsRecord, SubscriptionRecord, UserRecord } from "./sandbox/records.ts";
export type {
  SandboxAttempt,
  SandboxContract,
  SandboxDelivery,
  SandboxMilestone,
  SandboxRefund,
} from "./sandbox/truth.ts";
