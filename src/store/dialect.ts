/** How one kind of database differs, as named flags and words; everything else is common to all. */
export interface Dialect {
  readonly name: "sqlite" | "postgres";
  /** The SQL type of each column type, as the migrations spell it. */
  readonly types: SqlTypes;
  /** Gives a row when the table named by its one parameter exists. */
  readonly tableExists: string;
}

/** Where the tables are. Both parts are checked when a store is named, so that they can stand in SQL text. */
export interface TablePlace {
  /** `""`, or a schema's name and a dot. */
  readonly schema: string;
  readonly prefix: string;
}

export interface SqlTypes {
  readonly serial: string;
  readonly text: string;
  readonly integer: string;
  readonly boolean: string;
  readonly json: string;
  readonly bytes: string;
}

export const sqliteDialect: Dialect = {
  name: "sqlite",
  types: {
    serial: "integer primary key",
    text: "text",
    integer: "integer",
    boolean: "integer",
    json: "text",
    bytes: "blob",
  },
  tableExists: "select 1 from sqlite_master where type = 'table' and name = ?",
};
