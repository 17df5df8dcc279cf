import Database from "better-sqlite3";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { createMemoryStore } from "../../../../src/testing/memory-store.ts";
import { temporaryFile } from "../../../support/mirror.ts";
import {
  describeLacks,
  describeRefusals,
  describeUnstorable,
  poison,
  type Sabotaged,
} from "../../../support/unstorable.ts";

describeUnstorable("memory", () => {
  const store = createMemoryStore();
  return () => store;
});

describeUnstorable("SQLite", () => {
  const file = temporaryFile();
  return () => sqlite(file);
});

const sabotaged = (): Sabotaged => {
  const file = temporaryFile();
  return {
    store: sqlite(file),
    say: async (sql) => {
      const beside = new Database(file);
      beside.exec(sql);
      beside.close();
    },
    before: "escrow_",
    prefix: "escrow_",
    refusing: (table) => [
      `create trigger poison before insert on escrow_${table} when new.contract_id = '${poison}' begin select raise(abort, 'poison'); end`,
      "drop trigger poison",
    ],
  };
};

describeRefusals("SQLite", sabotaged);
describeLacks("SQLite", sabotaged);
