import { postgres } from "../../src/store/postgres/store.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";
import { describePrune } from "./prune-contract.ts";
import { describeRedact } from "./redact-contract.ts";

const kind = {
  name: "postgres",
  create: () => postgres({ connectionString: postgresUrl, schema: freshSchema() }),
};
describePrune(kind);
describeRedact(kind);
