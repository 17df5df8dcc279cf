import type { TablePlace } from "../sql/dialect.ts";
import { byIdHash } from "./ids.ts";
import type { Indexing } from "../sql/statements.ts";
import { tables, type TableName } from "../tables.ts";

/**
 * Which index a statement goes by is written down: by the statistics of a young file (`analyze`, `pragma optimize`, run by
 * whoever shares the file) SQLite would go through whole tables, and go on so when they are large.
 */
export function sqliteIndexing(place: TablePlace): Indexing {
  return {
    condition: byIdHash(place),
    hint: (table, field) => {
      const index = indexOf(place.prefix, table, field);
      return index === undefined ? "" : ` indexed by "${index}"`;
    },
  };
}

/** The indexes of which a value has many rows, or that are asked for many values at once. */
function indexOf(prefix: string, table: TableName, field: string): string | undefined {
  if (table === "deliveries" && field === "contractId") return `${prefix}deliveries_by_contract`;
  if (table === "refunds" && field === "refundId") return `${prefix}refunds_by_id`;
  // A unique constraint that is the table's first one, and begins with this field.
  const isFirst = field === "contentKey" || (field === "contractId" && tables[table].key[0] === field);
  return isFirst ? `sqlite_autoindex_${prefix}${table}_1` : undefined;
}
