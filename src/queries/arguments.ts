import { toIsoTime } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { canonicalId } from "../shared/ids.ts";
import { orderKeyToMs, parseWireTime } from "../shared/wire-time.ts";
import type { PageRequest } from "./page.ts";

/** An id as it is stored: a GUID in any case or braces is one id. @throws EscrowMirrorError `invalid-argument` */
export function idOf(id: string): string {
  checkText(id);
  return canonicalId(id) ?? id;
}

/** @throws EscrowMirrorError `invalid-argument` */
export function checkText(id: string): void {
  if (typeof id !== "string")
    throw new EscrowMirrorError("invalid-argument", `an id is text, ${typeof id} was given`);
}

/** One of our own times as it is stored. @throws EscrowMirrorError `invalid-argument` */
export function timeOf(time: string | Date, name: string): string {
  const ms = time instanceof Date ? time.getTime() : orderKeyToMs(parseWireTime(time)?.orderKey ?? "");
  if (Number.isFinite(ms)) return toIsoTime(ms);
  throw new EscrowMirrorError(
    "invalid-argument",
    `${name} is no time: pass ISO 8601 text (UTC, or with its offset) or a Date`,
  );
}

/** One of a closed list of names: a misspelt one would find nothing. @throws EscrowMirrorError `invalid-argument` */
export function choiceOf<Name extends string>(value: Name, names: readonly Name[], field: string): Name {
  if (names.includes(value)) return value;
  const message = `${JSON.stringify(value)} is no ${field}: pass one of ${names.join(", ")}`;
  throw new EscrowMirrorError("invalid-argument", message);
}

/** How long ago, in ms. @throws EscrowMirrorError `invalid-argument` */
export function ageOf(ms: number, field: string): number {
  if (typeof ms === "number" && ms >= 0 && ms <= ageMsMax) return ms;
  throw new EscrowMirrorError(
    "invalid-argument",
    `${field} is ${String(ms)}: pass an age in milliseconds, such as 86_400_000 for a day`,
  );
}

/** A thousand years: the time that long ago can still be written. */
const ageMsMax = 1000 * 366 * 86_400_000;

/**
 * Refuses a filter with a name that this list does not take: misspelt, it would be no filter, and the list would give
 * everything.
 *
 * @param known every name that it takes, beside `limit` and `cursor`
 * @throws EscrowMirrorError `invalid-argument`
 */
export function checkFilter<Filter extends PageRequest>(
  filter: Filter,
  known: Readonly<Record<Exclude<keyof Filter, keyof PageRequest> & string, true>>,
): void {
  const names = [...Object.keys(known), "limit", "cursor"];
  if (typeof filter !== "object" || filter === null)
    throw new EscrowMirrorError("invalid-argument", `a list takes an object with ${names.join(", ")}`);
  const unknown = Object.keys(filter).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new EscrowMirrorError(
      "invalid-argument",
      `${JSON.stringify(unknown)} is no filter of this list: it takes ${names.join(", ")}`,
    );
}
