import * as fc from "fast-check";
import { resolve } from "./document.ts";
import type { Schema } from "./document.ts";

/** Values that a schema of the document allows. Every URL is one of `origin`: what is sent there stays on this machine. */
export function valuesOf(schema: Schema, origin: string): fc.Arbitrary<unknown> {
  const { anyOf, type } = schema;
  if (schema.$ref !== undefined) return valuesOf(resolve<Schema>(schema), origin);
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((option) => valuesOf(option, origin)));
  const types = typeof type === "string" ? [type] : (type ?? ["null"]);
  return fc.oneof(...types.map((one) => valuesOfType(one, schema, origin)));
}

function valuesOfType(type: string, schema: Schema, origin: string): fc.Arbitrary<unknown> {
  switch (type) {
    case "object":
      return objectsOf(schema, origin);
    case "array":
      return fc.array(valuesOf(schema.items ?? {}, origin), { maxLength: Math.min(schema.maxItems ?? 3, 3) });
    case "string":
      return stringsOf(schema, origin);
    case "integer":
      return fc.integer({
        min: schema.minimum ?? -1_000,
        max: Math.min(schema.maximum ?? 1_000_000, 1_000_000),
      });
    case "number":
      return fc
        .integer({ min: (schema.exclusiveMinimum ?? -1) + 1, max: 10_000_000 })
        .map((halalas) => halalas / 100);
    case "boolean":
      return fc.boolean();
    default:
      return fc.constant(null);
  }
}

function objectsOf({ properties = {}, required = [] }: Schema, origin: string): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, field]) => [name, valuesOf(field, origin)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required], noNullPrototype: true });
}

const instants = fc.date({ min: new Date("1900-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });

function stringsOf(
  { format, pattern, minLength = 0, maxLength = 20 }: Schema,
  origin: string,
): fc.Arbitrary<string> {
  if (format === "uuid") return fc.uuid();
  if (format === "date-time") return instants.map((date) => date.toISOString());
  if (format === "date") return instants.map((date) => date.toISOString().slice(0, 10));
  if (format === "uri") return fc.webPath().map((path) => `${origin}/hook${path}`);
  if (pattern === undefined) return fc.string({ minLength, maxLength });
  if (pattern === String.raw`\S`)
    return fc.string({ minLength: 1, maxLength }).filter((text) => text.trim() !== "");
  return fc.stringMatching(new RegExp(pattern));
}
