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
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${writeJson(field, style)}`;
  }
  return `{${text}}`;
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}
