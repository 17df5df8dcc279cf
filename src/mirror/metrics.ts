/** The gauges of telemetry, from what `health()` finds. */
import { instruments, type Instrument, type Labels, type Reading } from "../telemetry/instruments.ts";
import type { Look } from "./health.ts";

/** Leaves out the store's gauges while it can't be read: 0 would mean that nothing waits. */
export function readingsOf({ health, isStoreRead }: Look): Reading[] {
  const { ok, warnings, consecutiveFailures } = health;
  const ofThisProcess = [
    reading(instruments.healthy, ok ? 1 : 0),
    reading(instruments.warnings, warnings.length),
    reading(instruments.consecutiveFailures, consecutiveFailures),
  ];
  return isStoreRead ? [...ofThisProcess, ...ofTheStore(health)] : ofThisProcess;
}

function ofTheStore({ lastDeliveryAt, quarantined, jobs }: Look["health"]): Reading[] {
  const last = lastDeliveryAt === null ? [] : [Date.parse(lastDeliveryAt) / 1000];
  return [
    ...last.map((seconds) => reading(instruments.lastDelivery, seconds)),
    reading(instruments.quarantined, quarantined),
    ...Object.entries(jobs).map(([state, count]) => reading(instruments.jobs, count, { state })),
  ];
}

function reading(gauge: Instrument, value: number, labels: Labels = {}): Reading {
  return { gauge, value, labels };
}
