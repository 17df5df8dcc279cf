/** Time as the service has it: in ticks of 100 ns, written with seven fractional digits. */

export const ticksPerSecond = 10_000_000;
export const ticksPerMinute = 60 * ticksPerSecond;

const ticksPerMs = 10_000;
const startMs = Date.UTC(2026, 0, 25, 10, 28, 10);

/** `2026-01-25T10:28:10.0000001Z` for 1. */
export function atTick(ticks: number): string {
  const ms = startMs + Math.floor(ticks / ticksPerMs);
  const rest = ((ticks % ticksPerMs) + ticksPerMs) % ticksPerMs;
  return `${new Date(ms).toISOString().slice(0, -1)}${String(rest).padStart(4, "0")}Z`;
}

/** The whole second that a tick lies in, in milliseconds since 1970. */
export function secondOf(ticks: number): number {
  return startMs + Math.floor(ticks / ticksPerSecond) * 1000;
}

/** The same instant as a clock east of Greenwich shows it: `2026-01-25T13:28:10.0000001+03:00`. */
export function atOffset(utc: string, minutes: number): string {
  const [seconds = "", fraction = ""] = utc.slice(0, -1).split(".");
  const local = new Date(Date.parse(`${seconds}Z`) + minutes * 60_000).toISOString().slice(0, 19);
  const zone = `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  return `${local}.${fraction}+${zone}`;
}
