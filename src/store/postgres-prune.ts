import { setTimeout as sleep } from "node:timers/promises";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { TablePlace } from "./dialect.ts";
import {
  deleteOthers,
  deliverySpan,
  dropAside,
  emptyRows,
  isBusy,
  keepInRow,
  layOutPayloads,
  oldPartitions,
  setAside,
  tablesAside,
  type PayloadLayout,
  type PayloadTable,
  type PrunedPayloads,
  type Span,
} from "./postgres-payloads.ts";
import type { Engine, Session } from "./session.ts";

export interface PruneParts {
  readonly engine: Engine;
  readonly place: TablePlace;
  readonly layout: PayloadLayout;
  readonly before: string;
  readonly now: Date;
}

/** How many deliveries one transaction looks at: none holds locks for long. */
const pageRows = 5000;

/** Takes old payloads away, in many short transactions: those that receive meanwhile hardly wait. */
export async function prunePayloads(parts: PruneParts): Promise<PrunedPayloads> {
  const { engine, place, layout, before } = parts;
  const partitions = layout.partitioned ? await rollPartitions(parts) : [];
  let rows = layout.partitioned ? await emptyOthers(parts) : 0;
  for (const page of await pagesOf(parts))
    rows += await engine.transaction((session) => emptyRows(session, place, { before, ...page }));
  return { partitions, rows };
}

/**
 * Old ones go, and those of the periods to come are made: a process may run for years without being opened again. What is
 * kept is in the delivery's own row before its partition is out of sight; once more after that, for what came to be kept
 * meanwhile. Whatever an interrupted run set aside is dropped too.
 */
async function rollPartitions(parts: PruneParts): Promise<string[]> {
  const { engine, place, before, now } = parts;
  const old = await engine.migration(async (session) => {
    await layOutPayloads(session, place, { period: undefined, mayCreate: true, now });
    return oldPartitions(session, place, before);
  });
  for (const partition of old) {
    await keepAllInRow(parts, partition);
    await migratePatiently(parts, (session) => setAside(session, place, partition));
  }
  const aside = await engine.read((session) => tablesAside(session, place));
  for (const table of aside) {
    await keepAllInRow(parts, table);
    await migratePatiently(parts, (session) => dropAside(session, table));
  }
  return aside.map(({ name }) => name);
}

async function keepAllInRow(parts: PruneParts, table: PayloadTable): Promise<void> {
  for (const page of await pagesOf(parts))
    await migratePatiently(parts, (session) => keepInRow(session, parts.place, table, page));
}

async function emptyOthers({ engine, place, before }: PruneParts): Promise<number> {
  let rows = 0;
  for (;;) {
    const emptied = await engine.transaction((session) =>
      deleteOthers(session, place, { before, rowsMax: pageRows }),
    );
    if (emptied === 0) return rows;
    rows += emptied;
  }
}

async function pagesOf({ engine, place }: PruneParts): Promise<Span[]> {
  const [first, last] = await engine.read((session) => deliverySpan(session, place));
  const pages = Math.ceil((last - first + 1) / pageRows);
  return Array.from({ length: pages }, (_, index) => {
    const from = first + index * pageRows;
    return { from, to: from + pageRows };
  });
}

/** How often a lock is tried for, and the time between in which those that had to wait get on. */
const triesMax = 5;
const pauseMs = 1000;

async function migratePatiently(
  { engine }: PruneParts,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await engine.migration(work);
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (tried === triesMax) throw busy(engine.description, error);
      await sleep(pauseMs);
    }
  }
}

function busy(store: string, cause: unknown): EscrowMirrorError {
  return new EscrowMirrorError(
    "store-unavailable",
    `${store} got no lock for pruning in ${triesMax} tries: something has the tables in use for long, such as a backup or a transaction that was left open. Nothing is lost; prune again when that has ended, it goes on where it stopped`,
    { cause },
  );
}
