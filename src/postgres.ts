export { postgres } from "./store/postgres/store.ts";
export type { PostgresOptions, PostgresTarget } from "./store/postgres/options.ts";
export type { Period } from "./store/postgres/payloads.ts";
export type { HostKysely, PgClient, PgNotification, PgPool } from "./store/postgres/pool.ts";
export type { Store } from "./store/store.ts";
