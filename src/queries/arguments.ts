import { toIsoTime } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { canonicalId } from "../shared/ids.ts";

/** An id as it is stored: a GUID in any case or braces is one id. */
export function idOf(id: string): string {
  if (typeof id !== "string")
    throw new EscrowMirrorError("invalid-argument", `an id is text, ${typeof id} was given`);
  return canonicalId(id) ?? id;
}

/** One of our own times as it is stored. */
export function timeOf(time: string | Date, name: string): string {
  const ms = typeof time === "string" ? Date.parse(time) : time.getTime();
  if (Number.isFinite(ms)) return toIsoTime(ms);
  throw new EscrowMirrorError("invalid-argument", `${name} is no time: pass ISO 8601 with a zone, or a Date`);
}
