export type { SqliteOptions, SqliteTarget } from "./store/sqlite/options.ts";
export { sqlite } from "./store/sqlite/store.ts";
export type { SqliteHandle } from "./store/sqlite/handle.ts";
export type { Store } from "./store/store.ts";
