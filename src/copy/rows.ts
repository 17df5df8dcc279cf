/** A row of any store: its key, and a hash of its values. */
import { createHash } from "node:crypto";
import { columnsOf, encodeValue } from "../store/sql/codec.ts";
import type { Condition, FieldOf } from "../store/store.ts";
import { tables, type TableName, type Tables } from "../store/tables.ts";

export function valueOf(row: object, field: string): unknown {
  return (row as Record<string, unknown>)[field] ?? null;
}

/** An anomaly for good has no position, and so no key. */
export function isKeyed(table: TableName, row: object): boolean {
  return tables[table].key.every((field) => valueOf(row, field) !== null);
}

export function keyOf(table: TableName, row: object): string {
  return JSON.stringify(tables[table].key.map((field) => valueOf(row, field)));
}

/** The identity of a row in both databases: its key, or all its values. */
export function identityOf(table: TableName, row: object): string {
  return isKeyed(table, row) ? keyOf(table, row) : hashOf(table, row);
}

/** Of all but the number that a database gave the row. */
export function hashOf(table: TableName, row: object): string {
  const hash = createHash("sha256");
  for (const { field, type } of columnsOf(table).filter((column) => column.type !== "serial")) {
    const value = encodeValue(type, valueOf(row, field));
    const bytes = value === null ? "" : typeof value === "object" ? value : String(value);
    hash.update(`${value === null ? "-" : bytes.length}:`).update(bytes);
  }
  return hash.digest("hex");
}

/** Holds for this row of the store that it was read from. */
export function isRow<Name extends TableName>(table: Name, row: object): Condition<Tables[Name]>[] {
  const fields = isKeyed(table, row) ? tables[table].key : ["seq"];
  return (fields as FieldOf<Name>[]).map((field) => ({
    field,
    op: "=",
    value: valueOf(row, field),
  })) as unknown as Condition<Tables[Name]>[];
}
