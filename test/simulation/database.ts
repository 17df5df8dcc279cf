import { postgres } from "../../src/store/postgres/store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";

/** The store at a place: `postgres://…#schema`, else an SQLite file. */
export function openDatabase(place: string): Store {
  if (!place.startsWith("postgres:")) return sqlite(place);
  const url = new URL(place);
  const schema = url.hash.slice(1);
  url.hash = "";
  return postgres({ connectionString: url.href, schema });
}
