import { EscrowMirrorError } from "../../shared/errors.ts";
import { decodeText, encodeText } from "../stored-text.ts";
import { tables, type TableName, type Tables } from "../tables.ts";
import type { ColumnType } from "../tables/shape.ts";

/** A value as a database driver takes and gives it. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** One column: the field that the code names and the name and form that it has in SQL. */
export interface Column {
  readonly field: string;
  readonly name: string;
  readonly type: ColumnType;
}

/** The columns of a table in the order in which the stores write and read them. */
export function columnsOf(table: TableName): readonly Column[] {
  return columns[table];
}

export function columnOf(table: TableName, field: string): Column {
  const column = columns[table].find((each) => each.field === field);
  if (column === undefined) throw new TypeError(`table ${table} has no field ${field}`);
  return column;
}

/** `contractId` → `contract_id`; `from` and `to` are words of SQL. */
function toColumnName(field: string): string {
  if (field === "from" || field === "to") return `${field}_status`;
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function encodeValue(type: ColumnType, value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  switch (type) {
    case "text":
      return encodeText(value as string);
    case "json":
      return JSON.stringify(value);
    case "boolean":
      return value === true ? 1 : 0;
    case "hex":
      return Buffer.from(value as string, "hex");
    case "serial":
    case "integer":
    case "bytes":
      return value as SqlValue;
  }
}

export function decodeValue(type: ColumnType, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  switch (type) {
    case "text":
      return decodeText(value as string);
    case "json":
      return parseJson(value);
    case "boolean":
      return Number(value) === 1;
    case "hex":
      return hexOf(bytesOf(value));
    case "serial":
    case "integer":
      return Number(value);
    case "bytes":
      return bytesOf(value);
  }
}

/** The parser's own message would quote what is stored. */
function parseJson(value: unknown): unknown {
  try {
    return JSON.parse(value as string);
  } catch (cause) {
    throw new EscrowMirrorError("internal-error", "a column that holds JSON can't be read as JSON", {
      cause,
    });
  }
}

/** A host's driver may have been told to read bytes as something else: what is made of that would be wrong without a word. */
function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new EscrowMirrorError("internal-error", `the database driver gives bytes as ${typeof value}`);
}

/** Without a copy of the bytes: each row has some. */
function hexOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("hex");
}

/** A row from its values, in column order less those that were not read. */
function decodeRow<Name extends TableName>(
  table: Name,
  values: readonly unknown[],
  without: readonly string[] = [],
): Tables[Name] {
  const row: Record<string, unknown> = {};
  let index = 0;
  for (const { field, type } of columns[table])
    row[field] = without.includes(field) ? null : decodeValue(type, values[index++]);
  if (index !== values.length)
    throw new EscrowMirrorError(
      "internal-error",
      `${table}: the database driver gives ${values.length} values for ${index} columns`,
    );
  return row as unknown as Tables[Name];
}

export function decodeRows<Name extends TableName>(
  table: Name,
  rows: readonly (readonly unknown[])[],
  without: readonly string[] = [],
): Tables[Name][] {
  return rows.map((values) => decodeRow(table, values, without));
}

/** The values to bind for one row, in the order of `columns`. */
export function encodeRow(columns: readonly Column[], row: object): SqlValue[] {
  return columns.map(({ field, type }) => encodeValue(type, (row as Record<string, unknown>)[field]));
}

const columns = Object.fromEntries(
  Object.entries(tables).map(([table, shape]) => [
    table,
    Object.entries(shape.columns).map(([field, type]) => ({ field, name: toColumnName(field), type })),
  ]),
) as unknown as Record<TableName, readonly Column[]>;
