/** Shows values as text, and reads values of options. */
import { InvalidArgumentError } from "commander";
import { plain } from "./plain.ts";

/** Text, or a dash if there is none. */
export function shown(value: string | number | null | undefined): string {
  return value === null || value === undefined || value === "" ? "-" : plain(String(value));
}

/** A time to the second, in UTC: `2026-04-14 14:30:00Z`. `--json` has the whole time. */
export function shownTime(time: string | null | undefined): string {
  return time == null || time === "" ? "-" : `${plain(time.slice(0, 19)).replace("T", " ")}Z`;
}

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** The age of a time in its largest unit: `12 days`. */
export function shownAge(time: string | null, now = Date.now()): string {
  if (time === null || time === "") return "-";
  const ms = Math.max(0, now - Date.parse(time));
  const [unit, unitMs] = units.find(([, each]) => ms >= each) ?? ["second", 1000];
  const count = Math.floor(ms / unitMs);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** An amount in halalas as money: `1,200.50 SAR`. */
export function shownAmount(minor: number | null, currency: string): string {
  if (minor === null) return "-";
  const digits = String(Math.abs(minor)).padStart(3, "0");
  const whole = digits.slice(0, -2).replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return `${minor < 0 ? "-" : ""}${whole}.${digits.slice(-2)} ${plain(currency)}`;
}

const ageUnits: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 };

/** Reads an age such as `30d`, `12h`, `90m` or `45s`, and gives milliseconds. */
export function readAge(text: string): number {
  const [, count = "0", unit = ""] = /^(\d{1,6})([dhms])$/.exec(text) ?? [];
  const ms = Number(count) * (ageUnits[unit] ?? 0);
  if (ms === 0) throw new InvalidArgumentError("Give an age, such as 30d, 12h, 90m or 45s.");
  return ms;
}

/** Reads a time in ISO 8601, or an age such as `2h`. */
export function readSince(text: string): string {
  if (/^\d+[dhms]$/.test(text)) return new Date(Date.now() - readAge(text)).toISOString();
  if (/^\d{4}-\d\d-\d\d/.test(text) && Number.isFinite(Date.parse(text))) return new Date(text).toISOString();
  throw new InvalidArgumentError("Give a time, such as 2026-03-01T08:00:00Z, or an age, such as 2h.");
}

/** Reads a whole number from 1. */
export function readCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number, such as 20.");
}
