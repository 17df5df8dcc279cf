import { join } from "node:path";
import { nextTurn } from "../../src/shared/timers.ts";
import { filledContractId } from "../support/fill.ts";
import { createServerOfOurs } from "../support/postgres-server.ts";
import { inVain, lists } from "./reads-lists.ts";
import { fillPostgres, fillSqlite, type Filled } from "./reads-stores.ts";
import { atMost, median, microseconds, microsecondsEach, withFolder, type Figure } from "./stopwatch.ts";

const rounds = 7;
const fewContracts = 10_000;
/** Reads of one round. */
const perRound = 200;
/** As many as the smaller store has of the rarest rows: both sides read the same number of rows again and again. */
const pagesPerRound = 2;
const pageRounds = 60;

export interface ReadsBenchOptions {
  /** How many contracts the large store holds. */
  readonly stored: number;
}

/**
 * Reads by id against the same statements by hand; a page of each list where many contracts are stored against one where
 * few are; and how long the reads that go over many rows take, or hold the event loop.
 */
export async function benchReads({ stored }: ReadsBenchOptions): Promise<Figure[]> {
  const onSqlite = await withFolder((folder) =>
    benchStore("SQLite", stored, (contracts) => fillSqlite(join(folder, `${contracts}.db`), contracts)),
  );
  const server = await createServerOfOurs();
  try {
    const onPostgres = await benchStore("Postgres", stored, (contracts) =>
      fillPostgres(server.url, `bench_${contracts}`, contracts),
    );
    return [...onSqlite, ...onPostgres];
  } finally {
    await server.remove();
  }
}

async function benchStore(
  name: string,
  stored: number,
  fill: (contracts: number) => Promise<Filled>,
): Promise<Figure[]> {
  const few = await fill(fewContracts);
  const many = await fill(stored);
  const figures = [
    ...(await benchById(name, few)),
    ...(await benchPages(name, few, many)),
    await benchInVain(name, many),
    await benchHealth(name, many),
    await benchCount(name, many),
  ];
  await few.close();
  await many.close();
  return figures;
}

async function benchById(name: string, { mirror, byHand, contracts, floor }: Filled): Promise<Figure[]> {
  const reads = {
    "contracts.get": (number: number) => mirror.contracts.get(filledContractId(number)),
    "contracts.history": (number: number) => mirror.contracts.history(filledContractId(number)),
    "refunds.get": (number: number) => mirror.refunds.get(String(500_000 + number)),
    "deliveries.get": (number: number) => mirror.deliveries.get(`wh-${number}`),
  } as const;
  const figures: Figure[] = [];
  for (const what of Object.keys(reads) as (keyof typeof reads)[]) {
    const { one, other } = await inTurns(
      (turn) => reads[what]((turn * 7919) % contracts),
      (turn) => byHand[what]((turn * 7919) % contracts),
      perRound,
    );
    figures.push(
      atMost(2.5, {
        what: `${what} on ${name}`,
        measured: microseconds(one),
        against: `the same shapes by hand, ${floor} in one read transaction: ${microseconds(other)}`,
        ratio: one / other,
      }),
    );
  }
  return figures;
}

/** Of each list the filter that grows most. */
async function benchPages(name: string, few: Filled, many: Filled): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [list, filters] of Object.entries(lists)) {
    const found: Figure[] = [];
    for (const [filter, read] of Object.entries(filters)) {
      const { one, other } = await inTurns(
        turnPages(many, read),
        turnPages(few, read),
        pagesPerRound,
        pageRounds,
      );
      found.push(
        atMost(1.3, {
          what: `a page of ${list} on ${name} with ${count(many.contracts)} contracts, by ${filter}`,
          measured: microseconds(one),
          against: `with ${count(few.contracts)}: ${microseconds(other)}`,
          ratio: one / other,
        }),
      );
    }
    figures.push(...found.sort((a, b) => b.ratio - a.ratio).slice(0, 1));
  }
  return figures;
}

/** Page after page, from the beginning once they end. */
function turnPages({ mirror }: Filled, read: typeof inVain): (turn: number) => Promise<void> {
  let cursor: string | null = null;
  return async (turn) => {
    if (turn === 0) cursor = null;
    cursor = (await read(mirror, { limit: 50, cursor })).nextCursor;
  };
}

async function benchInVain(name: string, { mirror, contracts }: Filled): Promise<Figure> {
  const ms = await msOf(() => inVain(mirror, { limit: 50, cursor: null }));
  return atMost(1, {
    what: `a page on ${name} that looks for what is not there among ${count(contracts)} contracts`,
    measured: `${ms.toFixed(1)} ms`,
    against: "the loop held for 50 ms",
    ratio: ms / 50,
  });
}

async function benchHealth(name: string, { mirror, contracts }: Filled): Promise<Figure> {
  const ms = await msOf(() => mirror.health());
  return atMost(1, {
    what: `health on ${name} with ${count(contracts)} contracts`,
    measured: `${ms.toFixed(1)} ms`,
    against: "5 ms",
    ratio: ms / 5,
  });
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < 50; turn++) times.push((await microsecondsEach(1, work)) / 1000);
  return quarter(times);
}

async function benchCount(name: string, { mirror, contracts }: Filled): Promise<Figure> {
  const holds: number[] = [];
  for (let round = 0; round < rounds; round++)
    holds.push(await longestHoldMs(() => mirror.contracts.count()));
  const ms = median(holds);
  return atMost(1, {
    what: `contracts.count on ${name} with ${count(contracts)} contracts holds the loop`,
    measured: `${ms.toFixed(1)} ms at most`,
    against: "50 ms",
    ratio: ms / 50,
  });
}

/** The longest time in which the event loop did not turn. */
async function longestHoldMs(work: () => Promise<unknown>): Promise<number> {
  const watch = { isOver: false, longest: 0 };
  const watching = watchTurns(watch);
  await work();
  watch.isOver = true;
  await watching;
  return watch.longest;
}

async function watchTurns(watch: { isOver: boolean; longest: number }): Promise<void> {
  for (let before = performance.now(); !watch.isOver;) {
    await nextTurn();
    const now = performance.now();
    watch.longest = Math.max(watch.longest, now - before);
    before = now;
  }
}

type Turned = (turn: number) => unknown;

/**
 * Microseconds of one turn of each, in which one goes after the other: what a quarter of the turns stay below. Disturbances
 * of the machine only ever add.
 */
async function inTurns(one: Turned, other: Turned, turns: number, roundsMax = rounds) {
  const times = { one: [] as number[], other: [] as number[] };
  for (let round = 0; round <= roundsMax; round++) {
    for (let turn = 0; turn < turns; turn++) {
      const ofOne = await microsecondsEach(1, () => one(turn));
      const ofOther = await microsecondsEach(1, () => other(turn));
      // The first round only warms up.
      if (round > 0) times.one.push(ofOne);
      if (round > 0) times.other.push(ofOther);
    }
  }
  return { one: quarter(times.one), other: quarter(times.other) };
}

function quarter(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 4)] ?? Number.NaN;
}

function count(contracts: number): string {
  return contracts.toLocaleString("en");
}
