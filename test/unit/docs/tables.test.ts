import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { postgres } from "../../../src/store/postgres/store.ts";
import { columnsOf } from "../../../src/store/sql/codec.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import type { Store } from "../../../src/store/store.ts";
import { tables, type TableName } from "../../../src/store/tables.ts";
import { delivery } from "../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../support/mirror.ts";
import { freshSchema, postgresUrl, run } from "../../support/postgres.ts";
import { columnsIn, type DocColumn } from "./columns.ts";
import { readText } from "./pages.ts";

const page = readText("docs/tables.md");
const names = Object.keys(tables) as TableName[];

function documented(table: string): (DocColumn & { meaning: string; rely: string })[] {
  const [, section = ""] = new RegExp(`^### \`${table}\`$([^]*?)(?=^### |$(?![^]))`, "m").exec(page) ?? [];
  return [...section.matchAll(/^\| `(\w+)`(.*)\|$/gm)].map(([, name = "", cells = ""]) => {
    const [onSqlite = "", onPostgres = "", isNull = "", meaning = "", rely = ""] = cells
      .split("|")
      .slice(1)
      .map((cell) => cell.trim());
    const types = { sqlite: onSqlite, postgres: onPostgres };
    return { name, ...types, nullable: isNull === "yes", meaning, rely };
  });
}

it("the guide has every table, and no other", () => {
  const headings = [...page.matchAll(/^### `(\w+)`$/gm)].map(([, name = ""]) => name);
  expect(headings.toSorted()).toEqual([...names].sort());
});

it.each(names)("the guide has every column of %s, with its type on both stores", (table) => {
  const columns = documented(table).map(({ meaning: _, rely: __, ...column }) => column);
  expect(columns).toEqual(columnsIn()[table]);
  expect(columns.map(({ name }) => name).toSorted()).toEqual(
    columnsOf(table)
      .map(({ name }) => name)
      .toSorted(),
  );
});

it.each(names)(
  "the guide says of every column of %s what it means and whether it may be relied on",
  (table) => {
    for (const { name, meaning, rely } of documented(table)) {
      expect(meaning, name).not.toBe("");
      expect(["yes", "no"], name).toContain(rely);
    }
  },
);

const queries = [...page.matchAll(/^```sql\n([^]*?)^```$/gm)].map(([, sql = ""]) => sql);
const [join = "", joinOnPostgres = "", lateOnSqlite = "", lateOnPostgres = "", lateMilestones = ""] = queries;

/** Paid 15 days ago; paid 13 days ago; disputed 16 days ago, and its payment's webhook was lost. */
async function payThree(store: Store): Promise<void> {
  const mirror = await openMirror({ store });
  for (const days of [15, 13]) {
    const createdAt = new Date(Date.now() - days * 86_400_000).toISOString();
    const paid = { id: `p-${days}`, createdAt, contractId: `CNT-${days}`, reference: `order-${days}` };
    await mirror.receive(delivery("payment.completed", { ...paid, status: "Escrow", paymentId: "PAY-1" }));
  }
  const createdAt = new Date(Date.now() - 16 * 86_400_000).toISOString();
  const unpaid = { id: "p-lost", createdAt, contractId: "CNT-lost", status: "Dispute" };
  await mirror.receive(delivery("contract.disputed", unpaid));
  await mirror.close();
}

const late = [
  { contract_id: "CNT-lost", status: "Dispute" },
  { contract_id: "CNT-15", status: "Escrow" },
];

it("the guide's queries find their contracts on SQLite", async () => {
  const path = temporaryFile();
  await payThree(sqlite(path));
  const database = new Database(path);
  database.exec("create table orders (id text primary key, total integer)");
  database.exec("insert into orders values ('order-13', 600)");
  expect(database.prepare(join).all()).toMatchObject([{ id: "order-13", total: 600, status: "Escrow" }]);
  expect(database.prepare(lateOnSqlite).all()).toMatchObject(late);
  database.close();
});

it("the guide's queries for Postgres find their contracts there", async () => {
  const schema = freshSchema();
  await payThree(postgres({ connectionString: postgresUrl, schema }));
  const ask = (sql: string) => run(sql.replaceAll("escrow_mirror.", `"${schema}".`));
  expect(await ask(lateOnPostgres)).toMatchObject(late);
  await ask(`create table escrow_mirror.orders (id text primary key, total integer)`);
  await ask(`insert into escrow_mirror.orders values ('order-13', 600)`);
  const rows = await ask(joinOnPostgres.replace("from orders", "from escrow_mirror.orders"));
  expect(rows).toMatchObject([{ id: "order-13", total: 600, status: "Escrow" }]);
});

it("the guide's query for milestones finds those of contracts in progress, and none of a cancelled one", async () => {
  const path = temporaryFile();
  const mirror = await openMirror({ store: sqlite(path) });
  const createdAt = new Date(Date.now() - 16 * 86_400_000).toISOString();
  const send = (event: string, contractId: string, milestoneId: string | null, status: string) =>
    mirror.receive(
      delivery(event, {
        id: `${event}-${contractId}-${milestoneId}`,
        createdAt,
        contractId,
        milestoneId,
        status,
      }),
    );
  for (const contractId of ["CNT-open", "CNT-cancelled"]) {
    await send("payment.completed", contractId, null, "Escrow");
    await send("milestone.payment.completed", contractId, "13", "Escrow");
    await send("milestone.payment.completed", contractId, "14", "Escrow");
  }
  await send("milestone.refund.full-succeeded", "CNT-cancelled", "13", "Refunded");
  await mirror.close();
  const database = new Database(path);
  expect(database.prepare(lateMilestones).all()).toMatchObject([
    { contract_id: "CNT-open", milestone_id: "13", status: "Escrow" },
    { contract_id: "CNT-open", milestone_id: "14", status: "Escrow" },
  ]);
  database.close();
});
