import { EscrowMirrorError } from "../../shared/errors.ts";
import { sleep } from "../../shared/timers.ts";
import { sqlNamesIn, type TablePlace } from "../sql/dialect.ts";
import { isBusy, layOutPayloads, limitLockWait, partitionsOf, type Partition } from "./payloads.ts";
import type { Engine, Session } from "../sql/session.ts";
import { keptOutcomes } from "../payload.ts";
import { openStates } from "../queue.ts";
import type { DroppedPayloads } from "../store.ts";

export interface DropParts {
  readonly engine: Engine;
  readonly place: TablePlace;
  readonly before: string;
  readonly now: Date;
}

/** Old ones go, and those of the periods to come are made: a process may run for years without being opened again. */
export async function dropPartitions(parts: DropParts): Promise<DroppedPayloads> {
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
  // Rows of a partition go with it: to delete them one by one would write as much as they hold.
  const current = partitions.find(({ from, to }) => from <= before && before < to);
  return { partitions: dropped, rowsBefore: current?.from ?? before };
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
    `${store} got no lock for pruning in ${triesMax} tries: something has the tables in use for long, such as a backup or a transaction that was left open. Nothing is lost. Prune again when that has ended: it goes on where it stopped`,
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

function isKept(at: (table: string) => string): string {
  return `(d.outcome in (${listed(keptOutcomes)}) or exists (
    select from ${at("jobs")} as j where j.content_key = d.content_key and j.state in (${listed(openStates)})
  ))`;
}

function listed(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(", ");
}
