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
  textOf(id, "an id");
}

/**
 * Text and nothing that could pass for it: stores differ in what a number is equal to, and a list would become several
 * values.
 *
 * @throws EscrowMirrorError `invalid-argument`
 */
export function textOf(text: string, field: string): string {
  if (typeof text === "string") return text;
  throw new EscrowMirrorError("invalid-argument", `${field} must be text, ${shown(text)} was given`);
}

/** One of our own times as it is stored. @throws EscrowMirrorError `invalid-argument` */
export function timeOf(time: string | Date, name: string): string {
  const ms = time instanceof Date ? time.getTime() : orderKeyToMs(parseWireTime(time)?.orderKey ?? "");
  const text = Number.isFinite(ms) ? toIsoTime(ms) : "";
  if (hasFourDigitYear.test(text)) return text;
  throw new EscrowMirrorError(
    "invalid-argument",
    `${name} is not a time: pass ISO 8601 text (UTC, or with its offset) or a Date, of a year up to 9999`,
  );
}

/** Times are compared as text: `+058…`, as a year beyond 9999 is written, would be before all others. */
const hasFourDigitYear = /^\d{4}-/;

/** One of a closed list of names: a misspelt one would find nothing. @throws EscrowMirrorError `invalid-argument` */
export function choiceOf<Name extends string>(value: Name, names: readonly Name[], field: string): Name {
  if (names.includes(value)) return value;
  const message = `${shown(value)} is not allowed for ${field}: pass one of ${names.join(", ")}`;
  throw new EscrowMirrorError("invalid-argument", message);
}

/** How long ago, in ms. @throws EscrowMirrorError `invalid-argument` */
export function ageOf(ms: number, field: string): number {
  if (typeof ms === "number" && ms >= 0 && ms <= ageMsMax) return ms;
  throw new EscrowMirrorError(
    "invalid-argument",
    `${field} is ${shown(ms)}: pass an age in milliseconds, such as 86_400_000 for a day`,
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
  checkNames(filter, [...Object.keys(known), "limit", "cursor"], "a filter of this list", "a list");
}

/** Refuses an option with a name that the call does not take. @throws EscrowMirrorError `invalid-argument` */
export function checkOptions(options: object, names: readonly string[], caller: string): void {
  checkNames(options, names, `an option of ${caller}`, caller);
}

function checkNames(given: object, names: readonly string[], kind: string, caller: string): void {
  const known = names.join(", ");
  if (!isPlain(given))
    throw new EscrowMirrorError("invalid-argument", `${caller} takes an object with ${known}`);
  const unknown = Reflect.ownKeys(given).find((name) => !names.includes(name as string));
  if (unknown !== undefined)
    throw new EscrowMirrorError("invalid-argument", `${shown(unknown)} is not ${kind}: it takes ${known}`);
}

/**
 * All names of a plain object are its own. What a `URLSearchParams`, a `Map` or an instance of a class holds would not be
 * seen at all. (Fastify's queries have an empty prototype that has none itself, as have objects of another realm.)
 */
function isPlain(given: unknown): boolean {
  if (typeof given !== "object" || given === null) return false;
  const prototype: unknown = Object.getPrototypeOf(given);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A given value, for a message. Objects are only named as such: their own text may throw, or have no end. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, shownLengthMax));
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  return isObject ? `a value of type ${typeof value}` : String(value);
}

const shownLengthMax = 100;
