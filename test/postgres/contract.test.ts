import { CamelCasePlugin, Kysely, PostgresDialect } from "kysely";
import { describeQueue } from "../contract/queue-contract.ts";
import { describeStore } from "../contract/store-contract.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { emptied, freshSchema, openPool, postgresUrl } from "../support/postgres.ts";

const schemas = [freshSchema(), freshSchema(), freshSchema(), freshSchema()] as const;
const pool = openPool();
const kysely = new Kysely<object>({
  dialect: new PostgresDialect({ pool: openPool() }),
  plugins: [new CamelCasePlugin()],
});

describeStore({
  name: "postgres",
  create: () => emptied(postgres({ connectionString: postgresUrl, schema: schemas[0] })),
});

describeStore({
  name: "postgres with a prefix, on the app's pool",
  create: () => emptied(postgres({ pool, schema: schemas[1], prefix: "escrow_" })),
});

describeStore({
  name: "postgres on the app's Kysely, which has plugins",
  create: () => emptied(postgres({ kysely, schema: schemas[2] })),
});

describeStore({
  name: "postgres with partitioned payloads",
  create: () =>
    emptied(
      postgres({ connectionString: postgresUrl, schema: schemas[3], prefix: "p_", partition: "month" }),
    ),
});

describeQueue({
  name: "postgres",
  create: () => emptied(postgres({ connectionString: postgresUrl, schema: schemas[0] })),
});
