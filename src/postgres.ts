export { postgres } from "./store/postgres/store.ts";
export type { PostgresOptions, PostgresTarget } from "./store/postgres/options.ts";
export type { Period } from "./store/postgres/payloads.ts";
export type { HostKysely } from "./store/postgres/host-kysely.ts";
export type { PgClient, PgNotification, PgPool } from "./store/postgres/pg.ts";
export type { Store } from "./store/store.ts";
