import { isDeepStrictEqual } from "node:util";
import { ambiguous, NumberText } from "./json.ts";

/** The fields that are read from one object of the payload, by every spelling that is understood. */
export interface FieldTable {
  /** Every field as absent: the shape that a reading starts from. */
  readonly absent: Readonly<Record<string, undefined>>;
  /** camelCase and PascalCase, which is how fields come. */
  readonly usual: ReadonlyMap<string, Field>;
  /** The same fields by their lower case, for any other casing. */
  readonly anyCase: ReadonlyMap<string, Field>;
  /** A value that is no object counts as absent, instead of being left for the schema to refuse. */
  readonly optional: boolean;
}

interface Field {
  readonly name: string;
  /** The table of a field that is an object with fields of its own. */
  readonly inner: FieldTable | undefined;
}

/** A table for fields named in the service's own camelCase. */
export function fieldTable(
  names: readonly string[],
  nested: Record<string, FieldTable> = {},
  { optional = false }: { readonly optional?: boolean } = {},
): FieldTable {
  const fields = names.map((name): Field => ({ name, inner: nested[name] }));
  return {
    absent: Object.fromEntries(names.map((name) => [name, undefined])),
    usual: new Map(fields.flatMap((field) => [field.name, toPascal(field.name)].map((key) => [key, field]))),
    anyCase: new Map(fields.map((field) => [field.name.toLowerCase(), field])),
    optional,
  };
}

/**
 * The table's fields of `value` under their own names, whatever casing they stand in; `undefined` where absent. What
 * is no object comes back as it is, for the schema to refuse. The path of a field that has two values, under one key
 * or under two casings, is added to `twice`. Each key is looked at once.
 */
export function readFields(value: unknown, table: FieldTable, twice: string[], path = ""): unknown {
  if (!isObject(value)) return table.optional ? undefined : value;
  const found: Record<string, unknown> = { ...table.absent };
  for (const key in value) {
    const field = table.usual.get(key) ?? table.anyCase.get(key.toLowerCase());
    if (field === undefined) continue;
    const { name, inner } = field;
    const read = inner === undefined ? value[key] : readFields(value[key], inner, twice, `${path}${name}.`);
    if (read === ambiguous || differs(found[name], read)) twice.push(path + name);
    found[name] = read;
  }
  return found;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  );
}

// JSON has no undefined: it is a field not yet seen.
function differs(earlier: unknown, read: unknown): boolean {
  return earlier !== undefined && earlier !== read && !isDeepStrictEqual(earlier, read);
}

function toPascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
