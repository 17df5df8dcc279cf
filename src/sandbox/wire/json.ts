import { Amount, formatHalalas } from "./money.ts";
import type { AmountStyle } from "./money.ts";

/** A piece that is JSON already: what is the same in a thousand answers is written once. */
export class Written {
  constructor(readonly json: string) {}
}

export type Json =
  | string
  | number
  | boolean
  | null
  | Amount
  | Written
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/**
 * JSON as the service writes it: keys in the order given, amounts with two decimals (`600.00`), which
 * `JSON.stringify` cannot. What this returns is what is signed and what is sent: nobody serialises twice.
 */
export function writeJson(value: Json, style: AmountStyle = "two-decimals"): string {
  const parts: string[] = [];
  write(value, style, parts);
  // One flat string: thousands of kept payloads that are trees of pieces would keep the collector busy.
  return parts.join("");
}

function write(value: Json, style: AmountStyle, parts: string[]): void {
  if (typeof value === "string") parts.push(JSON.stringify(value));
  else if (value === null || typeof value !== "object") parts.push(String(value));
  else if (value instanceof Amount) parts.push(formatHalalas(value.halalas, style));
  else if (value instanceof Written) parts.push(value.json);
  else if (isList(value)) writeList(value, style, parts);
  else writeObject(value, style, parts);
}

function writeList(list: readonly Json[], style: AmountStyle, parts: string[]): void {
  let opening = "[";
  for (const item of list) {
    parts.push(opening);
    write(item, style, parts);
    opening = ",";
  }
  parts.push(opening === "[" ? "[]" : "]");
}

function writeObject(
  value: { readonly [key: string]: Json | undefined },
  style: AmountStyle,
  parts: string[],
): void {
  let opening = "{";
  for (const key in value) {
    const field = value[key];
    if (field === undefined) continue;
    parts.push(opening, toKey(key));
    write(field, style, parts);
    opening = ",";
  }
  parts.push(opening === "{" ? "{}" : "}");
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
