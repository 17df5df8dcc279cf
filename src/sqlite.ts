export { sqlite, type SqliteOptions } from "./store/sqlite-store.ts";
export type { SqliteHandle } from "./store/sqlite-handle.ts";
export type { Store } from "./store/store.ts";
