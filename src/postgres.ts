export {
  postgres,
  type PostgresOptions,
  type PostgresStore,
  type PostgresTarget,
} from "./store/postgres-store.ts";
export type { Period, PrunedPayloads } from "./store/postgres-payloads.ts";
export type { HostKysely, PgClient, PgPool } from "./store/postgres-pool.ts";
export type { Store } from "./store/store.ts";
