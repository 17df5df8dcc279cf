import Database from "better-sqlite3";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { storeKinds, temporaryFile } from "../support/mirror.ts";
import { describeHandlers } from "./handlers-contract.ts";
import { describeHandlersHealth } from "./health-contract.ts";
import { describeInTransaction } from "./in-transaction-contract.ts";

for (const [name, create] of storeKinds) {
  describeHandlers(name, create);
  describeHandlersHealth(name, create);
}

describeInTransaction("sqlite file", async () => {
  const file = temporaryFile();
  const database = new Database(file);
  database.exec("create table ledger (contract text primary key)");
  database.close();
  return { store: sqlite(file), table: "ledger" };
});
