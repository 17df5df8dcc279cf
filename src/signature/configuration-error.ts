import { EscrowMirrorError } from "../shared/errors.ts";

/** An `invalid-configuration` error of the signature options: what was seen, the likely cause, the fix. */
export function invalidConfiguration(seen: string, cause: string, fix: string): EscrowMirrorError {
  return new EscrowMirrorError("invalid-configuration", `${seen} Likely cause: ${cause} Fix: ${fix}`);
}

/**
 * A wrong value as an error message may show it. Options get mixed up, so any text may turn out to be the
 * secret: only a short plain word is quoted, the rest is described.
 */
export function describeSeen(value: unknown): string {
  if (typeof value === "string") return describeText(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : describeType(typeof value);
}

/** The same for what may well be a secret, such as a number that YAML made of one: nothing of it is shown. */
export function describeKind(value: unknown): string {
  return typeof value === "number" || typeof value === "boolean" ? `a ${typeof value}` : describeSeen(value);
}

function describeText(text: string): string {
  return /^[a-z0-9.-]{1,20}$/i.test(text) ? `"${text}"` : `a text of ${text.length} characters`;
}

function describeType(type: string): string {
  return type === "undefined" ? type : `a value of type ${type}`;
}
