export { sqlite, type SqliteOptions, type SqliteTarget } from "./store/sqlite/store.ts";
export type { SqliteHandle } from "./store/sqlite/handle.ts";
export type { Store } from "./store/store.ts";
