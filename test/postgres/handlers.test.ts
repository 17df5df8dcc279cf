import { beforeAll } from "vitest";
import { describeHandlers } from "../handlers/handlers-contract.ts";
import { describeInTransaction } from "../handlers/in-transaction-contract.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { emptied, freshSchema, postgresUrl, run } from "../support/postgres.ts";

const schema = freshSchema();
const ledgers = freshSchema();

beforeAll(() => run(`create schema ${ledgers}`));

describeHandlers("postgres", () => emptied(postgres({ connectionString: postgresUrl, schema })));

describeInTransaction("postgres", async () => {
  await run(`create table if not exists ${ledgers}.ledger (contract text primary key)`);
  await run(`truncate ${ledgers}.ledger`);
  return { store: emptied(postgres({ connectionString: postgresUrl, schema })), table: `${ledgers}.ledger` };
});
