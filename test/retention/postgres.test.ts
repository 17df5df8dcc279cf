import { postgres } from "../../src/store/postgres/store.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";
import { describePrune } from "./prune-contract.ts";

describePrune({
  name: "postgres",
  create: () => postgres({ connectionString: postgresUrl, schema: freshSchema() }),
});
