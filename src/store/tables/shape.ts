/** A table as data: its columns, its key, and the fields that are unique. */

/** `hex` is text in the code and bytes in the database. */
export type ColumnType = "serial" | "text" | "integer" | "boolean" | "json" | "bytes" | "hex";

export interface TableShape<Row> {
  readonly columns: { readonly [Field in keyof Row]-?: ColumnType };
  /** The fields that identify a row. An upsert replaces by them. */
  readonly key: readonly (keyof Row & string)[];
  /** Further unique fields: an insert that meets a taken one inserts nothing. */
  readonly unique: readonly (keyof Row & string)[];
  /** A field of the key whose value rows of several contracts may share: who writes one sees the others. */
  readonly shared?: keyof Row & string;
  /** Text of any length that is looked for. */
  readonly long?: readonly (keyof Row & string)[];
}
