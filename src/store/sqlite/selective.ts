import { sql, type SqlBool } from "kysely";
import type { Selective } from "../sql/statements.ts";

/**
 * By the statistics of a young file (`analyze`, `pragma optimize`, run by whoever shares it) SQLite would walk whole tables
 * for a value that has an index, and go on so when they are large. Told how few rows a value has, it goes by the index.
 */
export const selective: Selective = (condition) => sql<SqlBool>`likelihood(${condition}, 0.000001)`;
