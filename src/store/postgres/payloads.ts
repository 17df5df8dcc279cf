/**
 * Payloads divided by the time of arrival: pruning drops whole partitions instead of deleting rows. What must be unique
 * for ever, the ids and content keys that replays are known by, is in `deliveries`, which is not partitioned: a unique index
 * of a partitioned table must hold the partition's key, and equal ids may come in different months.
 */
import { EscrowMirrorError, isEscrowMirrorError } from "../../shared/errors.ts";
import { sqlNamesIn, type TablePlace } from "../sql/dialect.ts";
import type { Session } from "../sql/session.ts";

/** The period of one partition. */
export const periods = ["day", "month"] as const;

/** The period of one partition of raw bodies. */
export type Period = (typeof periods)[number];

/** How many periods have a partition before they begin. What comes later is kept in `payloads_other`. */
const periodsAhead = 3;

/**
 * Divides the payloads where that is asked for, and makes the partitions of the periods to come.
 *
 * @returns whether they are divided
 */
export async function layOutPayloads(
  session: Session,
  place: TablePlace,
  { period, mayCreate, now }: { period: Period | undefined; mayCreate: boolean; now: Date },
): Promise<boolean> {
  const found = await periodOf(session, place);
  if (found === undefined && period === undefined) return false;
  if (found !== undefined && period !== undefined && found !== period)
    throw new EscrowMirrorError(
      "invalid-configuration",
      `the payloads are partitioned by ${found} already, not by ${period}: leave \`partition\` as it was`,
    );
  if (found === undefined && !mayCreate)
    throw new EscrowMirrorError(
      "schema-version",
      `the payloads are not partitioned yet: run escrow-mirror migrate --partition ${period}, or set migrate: "auto"`,
    );
  if (!mayCreate) return true;
  if (found === undefined) await partition(session, place, period as Period);
  await makePartitions(session, place, found ?? (period as Period), now);
  return true;
}

async function partition(session: Session, place: TablePlace, period: Period): Promise<void> {
  await limitLockWait(session);
  for (const sql of partitioning(place, period)) await session.run(sql, []);
}

/** Puts the table of the migration, with all that is in it, below one that is divided; for `migrate --sql` too. */
export function partitioning(place: TablePlace, period: Period): string[] {
  const at = sqlNamesIn(place);
  return [
    `alter table ${at("payloads")} rename to ${place.prefix}payloads_other`,
    `create table ${at("payloads")} (
  like ${at("payloads_other")},
  primary key (content_key, received_at)
) partition by range (received_at)`,
    `comment on table ${at("payloads")} is '${period}'`,
    `alter table ${at("payloads")} attach partition ${at("payloads_other")} default`,
  ];
}

/** How the payloads are divided; `undefined` where they are not. */
export async function periodOf(session: Session, place: TablePlace): Promise<Period | undefined> {
  const [row] = await session.all(
    `select obj_description(oid, 'pg_class') from pg_catalog.pg_class
     where oid = to_regclass($1) and relkind = 'p'`,
    [sqlNamesIn(place)("payloads")],
  );
  if (row === undefined) return undefined;
  return row[0] === "day" ? "day" : "month";
}

async function makePartitions(session: Session, place: TablePlace, period: Period, now: Date): Promise<void> {
  const made = new Set((await partitionsOf(session, place)).map(({ from }) => from));
  for (let ahead = 0; ahead < periodsAhead; ahead++) {
    const from = startOf(period, now, ahead);
    const to = startOf(period, now, ahead + 1);
    if (made.has(from) || (await isCrowded(session, place, from, to))) continue;
    await makePartitionUnlessBusy(session, place, from, to);
  }
}

/** How many rows move into their partition at most while everybody waits; more stay, and go row by row. */
const movedRowsMax = 10_000;

async function isCrowded(session: Session, place: TablePlace, from: string, to: string): Promise<boolean> {
  const [one] = await session.all(
    `select 1 from ${sqlNamesIn(place)("payloads_other")}
     where received_at >= '${from}' and received_at < '${to}' offset ${movedRowsMax} limit 1`,
    [],
  );
  return one !== undefined;
}

/**
 * Where somebody reads the others for long, a dump perhaps, the partition is left for the next time: what comes until
 * then is kept among the others.
 */
async function makePartitionUnlessBusy(
  session: Session,
  place: TablePlace,
  from: string,
  to: string,
): Promise<void> {
  await session.run("savepoint partition", []);
  try {
    await makePartition(session, place, from, to);
  } catch (error) {
    if (!isBusy(error)) throw error;
    await session.run("rollback to partition", []);
  }
}

/**
 * A period that began without one has its rows among the others: they move. The others are locked before, so that no
 * row comes between the move and the attaching, which would then be refused.
 */
async function makePartition(session: Session, place: TablePlace, from: string, to: string): Promise<void> {
  const parent = sqlNamesIn(place)("payloads");
  const name = `${parent}_${from.replaceAll("-", "_")}`;
  await limitLockWait(session);
  await session.run(`lock table ${parent}_other in access exclusive mode`, []);
  await session.run(`create table ${name} (like ${parent} including all)`, []);
  await session.run(
    `with moved as (
       delete from ${parent}_other
       where received_at >= '${from}' and received_at < '${to}'
       returning *
     )
     insert into ${name} select * from moved`,
    [],
  );
  await session.run(
    `alter table ${parent} attach partition ${name} for values from ('${from}') to ('${to}')`,
    [],
  );
}

/**
 * Who waits for a heavy lock makes all others wait behind it, those that receive too. Longer than `deadlock_timeout`, after
 * which Postgres ends an autovacuum that is in the way; far shorter than what a delivery may wait.
 */
const lockWaitMs = 2000;

export async function limitLockWait(session: Session): Promise<void> {
  await session.run(`set local lock_timeout = ${lockWaitMs}`, []);
}

/** Whether a lock was not to be had in time. */
export function isBusy(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return isEscrowMirrorError(error, "store-unavailable") && cause?.code === "55P03";
}

/** `2026-11` or `2026-11-28`: what a time of that period begins with, so that text that sorts bytewise is the bound. */
function startOf(period: Period, now: Date, ahead: number): string {
  const isDay = period === "day";
  const start = Date.UTC(
    now.getUTCFullYear(),
    now.getUTCMonth() + (isDay ? 0 : ahead),
    isDay ? now.getUTCDate() + ahead : 1,
  );
  return new Date(start).toISOString().slice(0, isDay ? 10 : 7);
}

/** One period's payloads. */
export interface Partition {
  /** Without the schema. */
  readonly name: string;
  /** As it stands in SQL: quoted, with the schema. */
  readonly sql: string;
  /** The first time in it, and the first behind it. */
  readonly from: string;
  readonly to: string;
  /** In the schema of the other tables. What somebody attached from elsewhere is theirs to drop. */
  readonly isOurs: boolean;
}

export async function partitionsOf(session: Session, place: TablePlace): Promise<Partition[]> {
  const rows = await session.all(
    `select
       c.relname::text,
       quote_ident(n.nspname) || '.' || quote_ident(c.relname),
       (n.nspname = $2)::int,
       pg_get_expr(c.relpartbound, c.oid)::text
     from pg_catalog.pg_inherits as i
     join pg_catalog.pg_class as c on c.oid = i.inhrelid
     join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
     where i.inhparent = to_regclass($1)
     order by 1`,
    [sqlNamesIn(place)("payloads"), place.schema],
  );
  return rows.flatMap(([name, sql, isOurs, bounds]) => {
    const [, from, to] = /FROM \('([^']*)'\) TO \('([^']*)'\)/.exec(String(bounds)) ?? [];
    if (from === undefined || to === undefined) return [];
    return [{ name: String(name), sql: String(sql), isOurs: Number(isOurs) === 1, from, to }];
  });
}
