/** `escrow-mirror/testing`: what tests of an integrator send, and what they check. Needs no peer. */
export { signDelivery, testSecret } from "./testing/delivery.ts";
export type { Delivery, SignOptions } from "./testing/delivery.ts";
export { buildEvent } from "./testing/build-event.ts";
export type { BuiltData, BuiltEvent, EventChanges, EventData } from "./testing/build-event.ts";
export { recordedDeliveries } from "./testing/recorded-deliveries.ts";
export type { RecordedDelivery } from "./testing/recorded-deliveries.ts";
export { createTestMirror } from "./testing/test-mirror.ts";
export type { TestMirror, TestMirrorOptions } from "./testing/test-mirror.ts";
export { livesFrom } from "./testing/lives-from.ts";
export type { Life } from "./testing/lives-from.ts";
export type { LifeTruth, ToldDispute, ToldRefund } from "./testing/story/truth.ts";
export type { TruePayment } from "./testing/story/life.ts";
export { toMermaid } from "./testing/mermaid.ts";
export type { MermaidOptions } from "./testing/mermaid.ts";
export { manualClock } from "./sandbox/world/clock.ts";
export type { SandboxClock, Timeline } from "./sandbox/world/clock.ts";
export { assertConverges } from "./testing/laws/assert-converges.ts";
export type { ConvergeOptions, Register, Schedule } from "./testing/laws/assert-converges.ts";
export { assertHandlerIdempotent } from "./testing/laws/assert-handler-idempotent.ts";
export type { IdempotentOptions } from "./testing/laws/assert-handler-idempotent.ts";
export { receiverConformance } from "./testing/conformance/receiver-conformance.ts";
export type {
  ConformanceCheck,
  ConformanceOptions,
  ConformanceReport,
  Observation,
} from "./testing/conformance/receiver-conformance.ts";
