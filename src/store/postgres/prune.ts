import { EscrowMirrorError } from "../../shared/errors.ts";
import { sleep } from "../../shared/timers.ts";
import { sqlNamesIn, type TablePlace } from "../sql/dialect.ts";
import { isBusy, layOutPayloads, limitLockWait, partitionsOf, periodOf, type Partition } from "./payloads.ts";
import type { Engine, Session } from "../sql/session.ts";

/** The bodies and headers that were removed. */
export interface PrunedPayloads {
  /** Names of the partitions that were dropped. */
  readonly partitions: readonly string[];
  /** How many deliveries outside of partitions lost their body and headers. */
  readonly rows: number;
}

export interface PruneParts {
  readonly engine: Engine;
  readonly place: TablePlace;
  readonly before: string;
  readonly now: Date;
}

/** How many rows one transaction deletes: none holds locks for long. */
const pageRows = 5000;

/** Takes old payloads away, in many short transactions: those that receive meanwhile hardly wait. */
export async function prunePayloads(parts: PruneParts): Promise<PrunedPayloads> {
  const partitions = await dropPartitions(parts);
  let rows = 0;
  for (;;) {
    const deleted = await parts.engine.transaction((session) => deletePage(session, parts));
    if (deleted === 0) return { partitions, rows };
    rows += deleted;
  }
}

/** Old ones go, and those of the periods to come are made: a process may run for years without being opened again. */
async function dropPartitions(parts: PruneParts): Promise<string[]> {
  const { engine, place, before, now } = parts;
  const partitions = await engine.migration(async (session) => {
    const isDivided = await layOutPayloads(session, place, { period: undefined, mayCreate: true, now });
    return isDivided ? partitionsOf(session, place) : [];
  });
  const old = partitions.filter(({ to, isOurs }) => isOurs && to <= before);
  const dropped: string[] = [];
  for (const partition of old)
    if (await patiently(engine, (session) => dropPartition(session, place, partition)))
      dropped.push(partition.name);
  return dropped;
}

/** How often a lock is tried for, and the time between in which those that had to wait get on. */
const triesMax = 5;
const pauseMs = 1000;

async function patiently<T>(engine: Engine, work: (session: Session) => Promise<T>): Promise<T> {
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

/**
 * Rows to keep move to the other partition, which accepts them only once this one is detached. One transaction, so
 * nobody misses them in between. The dropped files are deleted after the locks.
 */
async function dropPartition(session: Session, place: TablePlace, { name }: Partition): Promise<boolean> {
  await limitLockWait(session);
  // Another process that prunes may have dropped it.
  const found = (await partitionsOf(session, place)).find((each) => each.isOurs && each.name === name);
  if (found === undefined) return false;
  const at = sqlNamesIn(place);
  await session.run(`alter table ${at("payloads")} detach partition ${found.sql}`, []);
  await session.run(
    `insert into ${at("payloads")}
     select p.* from ${found.sql} as p
     join ${at("deliveries")} as d on d.content_key = p.content_key and d.received_at = p.received_at
     where ${isKept(at)}`,
    [],
  );
  await session.run(`drop table ${found.sql}`, []);
  return true;
}

/** Deletes the oldest payloads that are in no partition of a period, row by row; says how many. */
async function deletePage(session: Session, { place, before }: PruneParts): Promise<number> {
  const at = sqlNamesIn(place);
  const isDivided = (await periodOf(session, place)) !== undefined;
  const payloads = at(isDivided ? "payloads_other" : "payloads");
  const [row] = await session.all(
    `with gone as (
       delete from ${payloads} where ctid = any(array(
         select p.ctid from ${payloads} as p
         where p.received_at < $1 and not exists (
           select from ${at("deliveries")} as d
           where d.content_key = p.content_key and d.received_at = p.received_at and ${isKept(at)}
         )
         order by p.received_at
         limit $2
       ))
       returning 1
     )
     select count(*)::bigint from gone`,
    [before, pageRows],
  );
  return Number(row?.[0]);
}

/** Deliveries that may still be released keep their payload, whatever their age. */
function isKept(at: (table: string) => string): string {
  return `(d.outcome = 'quarantined' or exists (
    select from ${at("jobs")} as j where j.content_key = d.content_key and j.state in ('waiting', 'due', 'running')
  ))`;
}
