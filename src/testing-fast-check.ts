/** `escrow-mirror/testing/fast-check`: property tests with the peer fast-check, in any test runner. */
export { arbitraries } from "./testing/arbitraries/arbitraries.ts";
export type { Signing } from "./testing/arbitraries/arbitraries.ts";
export type { LifeConstraints } from "./testing/arbitraries/contract-life.ts";
export type { HistoryConstraints } from "./testing/arbitraries/history.ts";
export type { HostileRequest } from "./testing/arbitraries/hostile.ts";
export type { ScheduleConstraints } from "./testing/arbitraries/schedule.ts";
export { assertConverges } from "./testing/laws/assert-converges.ts";
export type { ConvergeOptions, Register, Schedule } from "./testing/laws/assert-converges.ts";
export { assertHandlerIdempotent } from "./testing/laws/assert-handler-idempotent.ts";
export type { IdempotentOptions } from "./testing/laws/assert-handler-idempotent.ts";
export { commands } from "./testing/arbitraries/commands.ts";
export type { CommandOptions, Integrator, IntegratorModel } from "./testing/arbitraries/commands.ts";
