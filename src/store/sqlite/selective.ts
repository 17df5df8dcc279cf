import { sql, type SqlBool } from "kysely";
import type { Selective } from "../sql/statements.ts";

/**
 * Tells SQLite that few rows have the value, so that it uses the index. Without this it trusts its statistics. An app that
 * shares the file may have run `analyze` or `pragma optimize` while the tables were small. By these numbers SQLite would read
 * whole tables, also once they are large.
 */
export const selective: Selective = (condition) => sql<SqlBool>`likelihood(${condition}, 0.000001)`;
