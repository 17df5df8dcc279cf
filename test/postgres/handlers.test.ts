import { beforeAll } from "vitest";
import { describeDoneJobs } from "../handlers/done-jobs-contract.ts";
import { describeHandlers } from "../handlers/handlers-contract.ts";
import { describeHandlersHealth } from "../handlers/health-contract.ts";
import { describeInTransaction } from "../handlers/in-transaction-contract.ts";
import { describeRetryAll } from "../handlers/retry-all-contract.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { emptied, freshSchema, postgresUrl, run } from "../support/postgres.ts";

const schema = freshSchema();
const ledgers = freshSchema();

beforeAll(() => run(`create schema ${ledgers}`));

const create = () => emptied(postgres({ connectionString: postgresUrl, schema }));
describeHandlers("postgres", create);
describeHandlersHealth("postgres", create);
describeDoneJobs("postgres", create);
describeRetryAll("postgres", create);

describeInTransaction("postgres", async () => {
  await run(`create table if not exists ${ledgers}.ledger (contract text primary key)`);
  await run(`truncate ${ledgers}.ledger`);
  return { store: emptied(postgres({ connectionString: postgresUrl, schema })), table: `${ledgers}.ledger` };
});
