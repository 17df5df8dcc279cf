import { EscrowMirrorError } from "../../shared/errors.ts";
import { sleep } from "../../shared/timers.ts";
import { sqlNamesIn, type TablePlace } from "../sql/dialect.ts";
import {
  isBusy,
  layOutPayloads,
  limitLockWait,
  partitionsOf,
  type PayloadLayout,
  type PayloadTable,
} from "./payloads.ts";
import type { Engine, Session } from "../sql/session.ts";

export interface PrunedPayloads {
  /** Names of the partitions that were dropped. */
  readonly partitions: readonly string[];
  /** How many deliveries outside of partitions lost their body and headers. */
  readonly rows: number;
}

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

/** Some deliveries, by number: `from` is among them, `to` is not. */
interface Span {
  readonly from: number;
  readonly to: number;
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

/** The partitions that hold nothing newer. */
async function oldPartitions(session: Session, place: TablePlace, before: string): Promise<PayloadTable[]> {
  return (await partitionsOf(session, place)).filter(({ to, isOurs }) => isOurs && to <= before);
}

/** Gives the deliveries that keep their payload what `table` has of them, in their own row. */
async function keepInRow(
  session: Session,
  place: TablePlace,
  table: PayloadTable,
  { from, to }: Span,
): Promise<void> {
  await limitLockWait(session);
  // Another process that prunes may have dropped it.
  const [there] = await session.all("select 1 where to_regclass($1) is not null", [table.sql]);
  if (there === undefined) return;
  const at = sqlNamesIn(place);
  await session.run(
    `update ${at("deliveries")} as d set headers = p.headers, body = p.body
     from ${table.sql} as p
     where d.seq >= $1 and d.seq < $2
       and p.received_at = d.received_at and p.content_key = d.content_key
       and d.headers is null and d.body is null
       and ${isKept}`,
    [from, to],
  );
}

/**
 * Makes a table of its own of a partition, so that dropping it keeps nobody from the others. Its new name is found again
 * when the process ends before that; the comment is the old one. Not `concurrently`: Postgres refuses that where there is a
 * default partition.
 */
async function setAside(session: Session, place: TablePlace, { name }: PayloadTable): Promise<void> {
  const found = (await partitionsOf(session, place)).find((each) => each.isOurs && each.name === name);
  if (found === undefined) return;
  const at = sqlNamesIn(place);
  const aside = `payloads_gone_${found.oid}`;
  await limitLockWait(session);
  await session.run(`alter table ${at("payloads")} detach partition ${found.sql}`, []);
  await session.run(`alter table ${found.sql} rename to ${place.prefix}${aside}`, []);
  await session.run(`comment on table ${at(aside)} is '${name.replaceAll("'", "''")}'`, []);
}

/** What was set aside and is not dropped yet. */
async function tablesAside(session: Session, { schema, prefix }: TablePlace): Promise<PayloadTable[]> {
  const rows = await session.all(
    `select
       coalesce(obj_description(c.oid, 'pg_class'), c.relname::text) as name,
       quote_ident(n.nspname) || '.' || quote_ident(c.relname) as sql
     from pg_catalog.pg_class as c
     join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname ~ $2 and not c.relispartition and c.relkind = 'r'
     order by 1`,
    [schema, `^${prefix}payloads_gone_[0-9]+$`],
  );
  return rows.map(([name, sql]) => ({ name: String(name), sql: String(sql) }));
}

async function dropAside(session: Session, { sql }: PayloadTable): Promise<void> {
  await limitLockWait(session);
  await session.run(`drop table if exists ${sql}`, []);
}

/** Deletes old payloads in no partition of a period, row by row and no more than `rowsMax`; says how many. */
async function deleteOthers(
  session: Session,
  place: TablePlace,
  { before, rowsMax }: { readonly before: string; readonly rowsMax: number },
): Promise<number> {
  const at = sqlNamesIn(place);
  const [row] = await session.all(
    `with gone as (
       delete from ${at("payloads_other")} where ctid = any(array(
         select p.ctid from ${at("payloads_other")} as p
         where p.received_at < $1 and not exists (
           select from ${at("deliveries")} as d
           where d.content_key = p.content_key and d.received_at = p.received_at and ${isKept}
         )
         limit $2
       ))
       returning 1
     )
     select count(*)::bigint from gone`,
    [before, rowsMax],
  );
  return Number(row?.[0]);
}

/** Empties the payloads of deliveries `from` … `to`, by number, that are in the delivery's own row. */
async function emptyRows(
  session: Session,
  place: TablePlace,
  { before, from, to }: Span & { readonly before: string },
): Promise<number> {
  const at = sqlNamesIn(place);
  const [row] = await session.all(
    `with gone as (
       update ${at("deliveries")} as d set body = null, headers = null
       where d.seq >= $1 and d.seq < $2 and d.received_at < $3
         and (d.body is not null or d.headers is not null)
         and not ${isKept}
       returning 1
     )
     select count(*)::bigint from gone`,
    [from, to, before],
  );
  return Number(row?.[0]);
}

/** What a delivery keeps whatever its age: what may still be released. */
const isKept = "d.outcome = 'quarantined'";

/** The numbers that deliveries have: the first and the last. */
async function deliverySpan(session: Session, place: TablePlace): Promise<[number, number]> {
  const deliveries = sqlNamesIn(place)("deliveries");
  const [row] = await session.all(
    `select coalesce(min(seq), 0)::bigint as first, coalesce(max(seq), -1)::bigint as last from ${deliveries}`,
    [],
  );
  const [first, last] = [Number(row?.[0]), Number(row?.[1])];
  if (Number.isSafeInteger(first) && Number.isSafeInteger(last)) return [first, last];
  throw new TypeError("the numbers that deliveries have can't be read");
}
