/** A time read from the wire, in the two forms that are kept. */
export interface WireTime {
  /** ISO 8601 in UTC with `Z`, the fraction exactly as given: `2026-01-25T10:28:10.4874015Z`. */
  readonly text: string;
  /**
   * The same instant as text that sorts bytewise: no `Z`, at least nine fractional digits
   * (`2026-01-25T10:28:10.487401500`). Equal instants have equal keys, however they were written.
   */
  readonly orderKey: string;
  /** False when the text named no zone and was read as UTC. */
  readonly zone: boolean;
}

/** More fractional digits than this are no time. .NET sends seven, Go up to nine. */
export const fractionDigitsMax = 64;

// The service's own form, checked by two expressions because every delivery passes here. 29 February and years that
// nobody sends take the general form, which knows the calendar.
const usualDate = /(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31/
  .source;
const usualForm = new RegExp(
  String.raw`^[12]\d{3}-(?:${usualDate})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$`,
);

const date = String.raw`(\d{4})-(\d\d)-(\d\d)`;
const time = String.raw`([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,${fractionDigitsMax}}))?)?`;
const zone = String.raw`([Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)`;
const anyForm = new RegExp(`^${date}(?:[Tt ]${time}${zone}?)?$`);

/**
 * Reads an ISO 8601 time: `T`, `t` or a space; seconds and fraction optional; `Z`, `z`, `±HH:mm`, `±HHmm`, `±HH` or
 * no zone (read as UTC); a date alone is its midnight. An offset is converted, the fraction is never touched.
 * `undefined` for anything else, for days that don't exist, and for years outside 0002–9999 in UTC: year 1 is
 * .NET's "no time". The process's own time zone plays no part.
 */
export function parseWireTime(value: unknown): WireTime | undefined {
  if (typeof value !== "string") return undefined;
  if (usualForm.test(value)) return { text: value, orderKey: orderKeyOf(value), zone: true };
  const match = anyForm.exec(value);
  if (match === null) return undefined;
  const seconds = toUtcSeconds(match);
  if (seconds === undefined) return undefined;
  const [, , , , , , , fraction, offset] = match;
  const text = fraction === undefined ? `${seconds}Z` : `${seconds}.${fraction}Z`;
  return { text, orderKey: orderKeyOf(text), zone: offset !== undefined };
}

/** The order key of a time that this library wrote (UTC with `Z`). Other text is not checked. */
export function orderKeyOf(text: string): string {
  const digits = text.slice(0, -1);
  if (digits.length === secondsLength) return `${digits}.000000000`;
  return digits.length <= keyLength ? digits.padEnd(keyLength, "0") : withoutTrailingZeros(digits);
}

/** Whole milliseconds since 1970-01-01T00:00:00Z, rounded down. `NaN` for `""`, the key of an event without a time. */
export function orderKeyToMs(orderKey: string): number {
  return Date.parse(`${orderKey.slice(0, millisecondsLength)}Z`);
}

/**
 * Milliseconds from `keyA` to `keyB`, negative when `keyB` is earlier. A difference between two whole
 * milliseconds is given as the half between them, so that a comparison with a whole number of milliseconds
 * (`Math.abs(…) <= skewMs`) is exact whatever the fractions. `NaN` when either key is `""`.
 */
export function millisecondsBetween(keyA: string, keyB: string): number {
  const whole = orderKeyToMs(keyB) - orderKeyToMs(keyA);
  const restA = keyA.slice(millisecondsLength);
  const restB = keyB.slice(millisecondsLength);
  if (restA === restB) return whole;
  return restA < restB ? whole + 0.5 : whole - 0.5;
}

/** `YYYY-MM-DDTHH:mm:ss` */
const secondsLength = 19;
/** … with `.fff` */
const millisecondsLength = 23;
/** … with nine fractional digits */
const keyLength = 29;

// The clock fields are in range by the expression; a Date only carries days over and knows the calendar.
function toUtcSeconds(match: RegExpExecArray): string | undefined {
  const [, year, month, day, hour = "0", minute = "0", second = "0", , offset] = match;
  const instant = new Date(0);
  instant.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (instant.getUTCMonth() !== Number(month) - 1 || instant.getUTCDate() !== Number(day)) return undefined;
  instant.setUTCHours(Number(hour), Number(minute) - offsetMinutes(offset), Number(second));
  const utcYear = instant.getUTCFullYear();
  return utcYear < 2 || utcYear > 9999 ? undefined : instant.toISOString().slice(0, secondsLength);
}

function offsetMinutes(offset: string | undefined): number {
  if (offset === undefined || offset === "Z" || offset === "z") return 0;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(3).replace(":", ""));
  return offset.startsWith("-") ? -minutes : minutes;
}

// Digits beyond the ninth sort right without padding, because a shorter text sorts before its continuation.
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > keyLength && digits.charAt(end - 1) === "0") end--;
  return digits.slice(0, end);
}
