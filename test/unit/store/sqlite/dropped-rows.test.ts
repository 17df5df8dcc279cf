import Database from "better-sqlite3";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { describeDroppedRows, type MeddledStore } from "../../../support/dropped-rows.ts";
import { openMirror, temporaryFile } from "../../../support/mirror.ts";

/** @param body what the trigger does before it drops the row */
const dropping = (body: string) => async (): Promise<MeddledStore> => {
  const file = temporaryFile();
  await (await openMirror({ store: sqlite(file) })).close();
  const change = (sql: string): void => {
    const other = new Database(file);
    other.exec(sql);
    other.close();
  };
  change("create table theirs (at text)");
  return {
    store: sqlite(file),
    meddle: async (table, operation) => {
      change(
        `create trigger meddle before ${operation} on escrow_${table} begin ${body} select raise(ignore); end`,
      );
      return async () => change("drop trigger meddle");
    },
  };
};

describeDroppedRows("a trigger that drops rows", dropping(""));
describeDroppedRows(
  "a trigger that writes elsewhere and drops rows",
  dropping("insert into theirs values ('now'), ('now');"),
);
