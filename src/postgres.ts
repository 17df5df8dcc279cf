export { postgres, type PostgresOptions, type PostgresTarget } from "./store/postgres-store.ts";
export type { HostKysely, PgClient, PgPool } from "./store/postgres-pool.ts";
export type { Store } from "./store/store.ts";
