import { Pool } from "pg";
import { createMirror, type Mirror } from "../../src/index.ts";
import { postgres } from "../../src/postgres.ts";
import { columnsOf, encodeRow, type Column, type SqlValue } from "../../src/store/sql/codec.ts";
import { toArray } from "../../src/store/postgres/array.ts";
import { arrayTypeOf } from "../../src/store/postgres/columns.ts";
import { tables, type TableName } from "../../src/store/tables.ts";
import { createServerOfOurs } from "../support/postgres-server.ts";
import { startScript } from "../support/process.ts";
import { makeDeliveries, receiveAll, secret } from "./deliveries.ts";
import { byDelivery, record, type RecordedWrite } from "./recording-store.ts";
import {
  atLeast,
  atMost,
  median,
  microseconds,
  microsecondsEach,
  perSecond,
  shown,
  type Figure,
} from "./stopwatch.ts";
import { openStripeSync } from "./stripe-sync.ts";

export interface PostgresBenchOptions {
  /** How many deliveries the large store holds. */
  readonly stored: number;
  readonly onStored?: (count: number) => void;
}

const rounds = 7;
/** Five hundred whole lives. */
const perRound = 2500;
const perRoundEach = 250;
const slice = 10_000;
const fewStored = 10_000;

/**
 * `mirror.receive` with 64 deliveries in flight on a Postgres of its own that syncs to the disk, against the same rows
 * written by hand and against another library, round by round.
 */
export async function benchPostgres({
  stored,
  onStored = () => {},
}: PostgresBenchOptions): Promise<Figure[]> {
  const server = await createServerOfOurs({ fsync: true });
  try {
    return [
      ...(await benchReceive(server.url)),
      ...(await benchProcesses(server.url)),
      ...(await benchStored(server.url, stored, onStored)),
    ];
  } finally {
    await server.remove();
  }
}

async function benchReceive(url: string): Promise<Figure[]> {
  const mirror = await openMirror(url, "bench_mirror");
  const hand = await openByHand(url, "bench_hand");
  const each = await openByHand(url, "bench_each");
  const stripe = await openStripeSync(url);
  const taken = { ours: [] as number[], hand: [] as number[], each: [] as number[], stripe: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const deliveries = [...makeDeliveries(perRound, (round * perRound) / 5)];
    const commits = await record(deliveries);
    taken.ours.push(await microsecondsEach(perRound, () => receiveAll(mirror, deliveries)));
    taken.hand.push(await microsecondsEach(perRound, () => hand.writeBatches(commits)));
    const few = commits.flatMap(byDelivery).slice(0, perRoundEach);
    taken.each.push(await microsecondsEach(few.length, () => each.writeEach(few)));
    const events = stripe.prepare(perRound, (round * perRound) / 5);
    taken.stripe.push(await microsecondsEach(perRound, events));
  }
  await stripe.check((rounds * perRound) / 5);
  await Promise.all([mirror.close(), hand.close(), each.close(), stripe.close()]);
  return toFigures(median(taken.ours), median(taken.hand), median(taken.each), median(taken.stripe));
}

function toFigures(ours: number, hand: number, each: number, stripe: number): Figure[] {
  const what = "mirror.receive, 64 in flight, Postgres";
  const measured = perSecond(ours);
  const other = `@supabase/stripe-sync-engine's processWebhook, 64 in flight, five events a charge: ${perSecond(stripe)}`;
  return [
    atLeast(0.5, {
      what,
      measured,
      against: `the same rows by hand with unnest, in transactions of 64: ${perSecond(hand)}`,
      ratio: hand / ours,
    }),
    atLeast(2.5, {
      what,
      measured,
      against: `by hand, a transaction for each delivery: ${perSecond(each)}`,
      ratio: each / ours,
    }),
    atLeast(1.5, { what, measured, against: other, ratio: stripe / ours }),
    shown({
      what: "the same rows by hand with unnest, without verify, parse, dedupe or fold",
      measured: perSecond(hand),
      against: other,
      ratio: stripe / hand,
    }),
  ];
}

/** Two processes with half of the deliveries each, against one with all. */
async function benchProcesses(url: string): Promise<Figure[]> {
  const one = await throughput(url, "bench_one", 1);
  const two = await throughput(url, "bench_two", 2);
  return [
    shown({
      what: "two receiving processes on one Postgres",
      measured: perSecond(two),
      against: `one: ${perSecond(one)}`,
      ratio: one / two,
    }),
  ];
}

const perProcessRun = 25_000;
/** From the project's folder: the bench is bundled elsewhere. */
const childPath = "test/support/children/bench-postgres.ts";

async function throughput(url: string, schema: string, processes: number): Promise<number> {
  await (await openMirror(url, schema)).close();
  const count = perProcessRun / processes;
  const children = Array.from({ length: processes }, (_, index) =>
    startScript(childPath, [url, schema, String(count), String((index * count) / 5)]),
  );
  for (const child of children) await child.line();
  return microsecondsEach(perProcessRun, async () => {
    for (const child of children) child.process.stdin.write("go\n");
    await Promise.all(children.map((child) => child.line()));
  });
}

/** The two stores take turns, so that a disturbance of the machine meets both. */
async function benchStored(url: string, total: number, onStored: (count: number) => void): Promise<Figure[]> {
  const large = await fill(url, "bench_large", total, onStored);
  const small = await fill(url, "bench_small", fewStored, () => {});
  const taken = { many: [] as number[], few: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    taken.many.push(await microsecondsEach(perRound, large.receiving(perRound)));
    taken.few.push(await microsecondsEach(perRound, small.receiving(perRound)));
  }
  await Promise.all([large.mirror.close(), small.mirror.close()]);
  const [many, few] = [median(taken.many), median(taken.few)];
  return [
    atMost(1.3, {
      what: `a delivery with ${total.toLocaleString("en")} stored in Postgres`,
      measured: microseconds(many),
      against: `with ${fewStored.toLocaleString("en")} stored: ${microseconds(few)}`,
      ratio: many / few,
    }),
  ];
}

/** A mirror that has taken `total` deliveries in, and what it takes in next. */
async function fill(url: string, schema: string, total: number, onStored: (count: number) => void) {
  const mirror = await openMirror(url, schema);
  let stored = 0;
  const receiving = (count: number): (() => Promise<void>) => {
    const deliveries = [...makeDeliveries(count, stored / 5)];
    stored += count;
    return () => receiveAll(mirror, deliveries);
  };
  for (let filled = 0; filled < total; filled += slice) {
    await receiving(Math.min(slice, total - filled))();
    onStored(stored);
  }
  // Plans are made on what the tables hold, as autovacuum would see to within the minute.
  await analyze(url, schema);
  return { mirror, receiving };
}

async function analyze(url: string, schema: string): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1 });
  for (const table of Object.keys(tables)) await pool.query(`analyze ${schema}.${table}`);
  await pool.query("checkpoint");
  await pool.end();
}

function openMirror(url: string, schema: string): Promise<Mirror> {
  return createMirror({ store: postgres({ connectionString: url, schema }), webhook: { secrets: secret } });
}

async function openByHand(url: string, schema: string) {
  await (await openMirror(url, schema)).close();
  const pool = new Pool({ connectionString: url, max: 10 });
  const write = async (writes: readonly RecordedWrite[], how: typeof rowByRow): Promise<void> => {
    const client = await pool.connect();
    await client.query("begin");
    for (const { text, values } of how(schema, writes)) await client.query(text, values);
    await client.query("commit");
    client.release();
  };
  return {
    writeBatches: async (commits: readonly RecordedWrite[][]) => {
      for (const writes of commits) await write(writes, inArrays);
    },
    /** Ten at a time, as a pool lets an app do it. */
    writeEach: async (deliveries: readonly RecordedWrite[][]) => {
      const queue = [...deliveries];
      const worker = async (): Promise<void> => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) await write(next, rowByRow);
      };
      await Promise.all(Array.from({ length: 10 }, worker));
    },
    close: () => pool.end(),
  };
}

interface HandWritten {
  readonly text: string;
  readonly values: SqlValue[];
}

function rowByRow(schema: string, writes: readonly RecordedWrite[]): HandWritten[] {
  return writes.map((write) => {
    const columns = written(write.table);
    const markers = columns.map((_, index) => `$${index + 1}`);
    const text = `${insertInto(schema, write.table)} values (${markers.join()}) ${onConflict(write)}`;
    return { text, values: encodeRow(columns, write.row) };
  });
}

/** One statement for each table: a later row of a key replaces an earlier one, as it would row by row. */
function inArrays(schema: string, writes: readonly RecordedWrite[]): HandWritten[] {
  const groups = new Map<string, Map<string, RecordedWrite>>();
  for (const write of writes) {
    const group = groups.get(write.table) ?? new Map<string, RecordedWrite>();
    const row = write.row as Record<string, unknown>;
    groups.set(
      write.table,
      group.set(JSON.stringify(tables[write.table].key.map((field) => row[field])), write),
    );
  }
  return [...groups.values()].map((group) => {
    const [first] = group.values();
    const { table } = first as RecordedWrite;
    const columns = written(table);
    const rows = [...group.values()].map(({ row }) => encodeRow(columns, row));
    const arrays = columns.map(({ type }, index) => `$${index + 1}::${arrayTypeOf(type)}[]`);
    return {
      text: `${insertInto(schema, table)} select * from unnest(${arrays.join()}) ${onConflict(first as RecordedWrite)}`,
      values: columns.map(({ type }, index) =>
        toArray(
          arrayTypeOf(type),
          rows.map((row) => row[index] ?? null),
        ),
      ),
    };
  });
}

function insertInto(schema: string, table: TableName): string {
  return `insert into ${schema}.${table} (${written(table)
    .map(({ name }) => name)
    .join()})`;
}

function onConflict({ table, how }: RecordedWrite): string {
  if (how === "insert") return "on conflict do nothing";
  const key = columnsOf(table).filter(({ field }) => tables[table].key.some((each) => each === field));
  const rest = written(table).filter((column) => !key.includes(column));
  const set = rest.map(({ name }) => `${name} = excluded.${name}`);
  return `on conflict (${key.map(({ name }) => name).join()}) do update set ${set.join()}`;
}

function written(table: TableName): Column[] {
  return columnsOf(table).filter(({ type }) => type !== "serial");
}
