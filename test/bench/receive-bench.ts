import Database from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";
import { join } from "node:path";
import { createMirror, type Mirror } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { columnsOf, encodeValue } from "../../src/store/codec.ts";
import { sqliteDialect } from "../../src/store/dialect.ts";
import { initial } from "../../src/store/migrations/0001-initial.ts";
import { tables } from "../../src/store/tables.ts";
import { makeDeliveries, secret, type BenchDelivery } from "./deliveries.ts";
import { recordingStore, type RecordedWrite } from "./recording-store.ts";
import { atLeast, median, microsecondsEach, perSecond, withFolder, type Figure } from "./stopwatch.ts";

const inFlight = 64;
const rounds = 7;
const perRound = 6400;
const perRoundKysely = 640;

/**
 * `mirror.receive` with 64 deliveries in flight on SQLite FULL, against the same rows written by hand with prepared
 * statements in transactions of 64, and against one Kysely transaction for each delivery, which looks up the delivery and
 * its contract and writes the same rows. Round by round, one after the other, so that a disturbance of the machine meets
 * all three.
 */
export async function benchReceive(): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const ours: number[] = [];
    const byHand: number[] = [];
    const kysely: number[] = [];
    const mirror = await createMirror({
      store: sqlite(join(folder, "mirror.db")),
      webhook: { secrets: secret },
    });
    const hand = openByHand(join(folder, "by-hand.db"));
    const each = openKysely(join(folder, "kysely.db"));
    for (let round = 0; round < rounds; round++) {
      const deliveries = [...makeDeliveries(perRound, round * perRound)];
      const commits = await record(deliveries);
      ours.push(await microsecondsEach(perRound, () => receiveAll(mirror, deliveries)));
      byHand.push(await microsecondsEach(perRound, () => hand.write(commits)));
      const few = commits.flat().slice(0, writesOf(commits, perRoundKysely));
      kysely.push(await microsecondsEach(perRoundKysely, () => each.write(few)));
    }
    await mirror.close();
    hand.close();
    await each.close();
    return toFigures(median(ours), median(byHand), median(kysely));
  });
}

export async function receiveAll(mirror: Mirror, deliveries: Iterable<BenchDelivery>): Promise<void> {
  const queue = deliveries[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const { status, outcome } = await mirror.receive(next.value);
      if (status !== 200 || outcome !== "applied") throw new Error(`a bench delivery was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

function toFigures(ours: number, byHand: number, kysely: number): Figure[] {
  const what = "mirror.receive, 64 in flight, SQLite FULL";
  const measured = perSecond(ours);
  return [
    atLeast(0.5, {
      what,
      measured,
      against: `the same rows by hand, prepared, in transactions of 64: ${perSecond(byHand)}`,
      ratio: byHand / ours,
    }),
    atLeast(5, {
      what,
      measured,
      against: `one Kysely transaction for each delivery: ${perSecond(kysely)}`,
      ratio: kysely / ours,
    }),
  ];
}

/** What the mirror writes for these deliveries, commit by commit. */
async function record(deliveries: readonly BenchDelivery[]): Promise<RecordedWrite[][]> {
  const commits: RecordedWrite[][] = [];
  const store = recordingStore(sqlite(":memory:"), commits);
  const mirror = await createMirror({ store, webhook: { secrets: secret } });
  commits.length = 0;
  await receiveAll(mirror, deliveries);
  await mirror.close();
  return commits.filter((writes) => writes.length > 0);
}

function writesOf(commits: readonly RecordedWrite[][], deliveries: number): number {
  let seen = 0;
  return commits.flat().findIndex(({ table }) => table === "deliveries" && ++seen > deliveries);
}

function openByHand(path: string) {
  const database = openTables(path);
  const statements = new Map<string, Database.Statement>();
  const prepare = ({ how, table }: RecordedWrite): Database.Statement => {
    const key = how + table;
    const known = statements.get(key) ?? database.prepare(toSql(how, table));
    statements.set(key, known);
    return known;
  };
  const writeCommit = database.transaction((writes: readonly RecordedWrite[]) => {
    for (const write of writes) prepare(write).run(...toValues(write));
  });
  return {
    write: (commits: readonly RecordedWrite[][]) => {
      for (const writes of commits) writeCommit.immediate(writes);
    },
    close: () => database.close(),
  };
}

function openKysely(path: string) {
  const database = openTables(path);
  const db = new Kysely<Record<string, Record<string, unknown>>>({
    dialect: new SqliteDialect({ database }),
  });
  const receiveOne = (writes: readonly RecordedWrite[]): Promise<void> =>
    db.transaction().execute(async (trx) => {
      for (const { table, row } of writes) await lookUp(trx, table, row as Record<string, unknown>);
      for (const write of writes) await insertWith(trx, write);
    });
  return {
    write: async (writes: readonly RecordedWrite[]) => {
      for (const group of byDelivery(writes)) await receiveOne(group);
    },
    close: () => db.destroy(),
  };
}

type AnyKysely = Kysely<Record<string, Record<string, unknown>>>;

/** What no receiver can do without: whether this delivery is known, and where its contract stands. */
async function lookUp(
  trx: AnyKysely,
  table: RecordedWrite["table"],
  row: Record<string, unknown>,
): Promise<void> {
  if (table !== "deliveries") return;
  await trx.selectFrom("escrow_deliveries").select("seq").where("id", "=", row["id"]).execute();
  await trx.selectFrom("escrow_contracts").selectAll().where("contract_id", "=", row["contractId"]).execute();
}

async function insertWith(trx: AnyKysely, write: RecordedWrite): Promise<void> {
  const { table, how } = write;
  const names = writtenColumns(table).map(({ name }) => name);
  const values = toValues(write);
  const row = Object.fromEntries(names.map((name, index) => [name, values[index]]));
  const key = tables[table].key.map((field) => columnName(table, field));
  await trx
    .insertInto(`escrow_${table}`)
    .values(row)
    .onConflict((conflict) =>
      how === "insert" ? conflict.doNothing() : conflict.columns(key).doUpdateSet(row),
    )
    .execute();
}

/** The rows of a commit dealt out, one delivery's share to each transaction. */
function byDelivery(writes: readonly RecordedWrite[]): RecordedWrite[][] {
  const deliveries = writes.filter(({ table }) => table === "deliveries");
  const groups = deliveries.map((write) => [write]);
  for (const [index, write] of writes.filter(({ table }) => table !== "deliveries").entries())
    groups[index % groups.length]?.push(write);
  return groups;
}

/** By hand one would have an index keep each id unique, not our triggers. */
function openTables(path: string): Database.Database {
  const database = new Database(path);
  database.pragma("journal_mode = wal");
  database.pragma("synchronous = full");
  database.pragma("cache_size = -32768");
  database.pragma("wal_autocheckpoint = 4096");
  const types = { ...sqliteDialect.types, idsUniqueBy: "index" } as const;
  for (const statement of initial.statements(types, "", "escrow_")) database.exec(statement);
  return database;
}

function toSql(how: RecordedWrite["how"], table: RecordedWrite["table"]): string {
  const names = writtenColumns(table).map(({ name }) => name);
  const insert = `insert into escrow_${table} (${names.join()}) values (${names.map(() => "?").join()})`;
  if (how === "insert") return `${insert} on conflict do nothing`;
  const key = tables[table].key.map((field) => columnName(table, field));
  const set = names.filter((name) => !key.includes(name)).map((name) => `${name} = excluded.${name}`);
  return `${insert} on conflict (${key.join()}) do update set ${set.join()}`;
}

function toValues({ table, row }: RecordedWrite): unknown[] {
  const values = row as Record<string, unknown>;
  return writtenColumns(table).map(({ field, type }) => encodeValue(type, values[field]));
}

function writtenColumns(table: RecordedWrite["table"]) {
  return columnsOf(table).filter(({ type }) => type !== "serial");
}

function columnName(table: RecordedWrite["table"], field: string): string {
  return columnsOf(table).find((column) => column.field === field)?.name ?? field;
}
