import { Amount, formatHalalas } from "./money.ts";
import type { AmountStyle } from "./money.ts";

export type Json =
  string | number | boolean | null | Amount | readonly Json[] | { readonly [key: string]: Json | undefined };

/**
 * JSON as the service writes it: keys in the order given, amounts with two decimals (`600.00`), which
 * `JSON.stringify` cannot. What this returns is what is signed and what is sent: nobody serialises twice.
 */
export function writeJson(value: Json, style: AmountStyle = "two-decimals"): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null || typeof value !== "object") return String(value);
  if (value instanceof Amount) return formatHalalas(value.halalas, style);
  if (isList(value)) return `[${value.map((item) => writeJson(item, style)).join(",")}]`;
  return writeObject(value, style);
}

function writeObject(value: { readonly [key: string]: Json | undefined }, style: AmountStyle): string {
  let text = "";
  for (const key in value) {
    const field = value[key];
    if (field === undefined) continue;
    text += (text === "" ? "" : ",") + toKey(key) + writeJson(field, style);
  }
  return `{${text}}`;
}

/** The names of our own fields are few, and quoted once. Names that come from outside never become keys. */
const keys = new Map<string, string>();

function toKey(name: string): string {
  const known = keys.get(name);
  if (known !== undefined) return known;
  const key = `${JSON.stringify(name)}:`;
  keys.set(name, key);
  return key;
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}
