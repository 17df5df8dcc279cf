/**
 * The large part of deliveries, raw bodies and headers, in a table of its own that is partitioned by the time of
 * arrival: pruning drops whole partitions instead of deleting rows. What must be unique for ever, the ids and content
 * keys that replays are known by, stays in `deliveries`, which is not partitioned: a unique index of a partitioned table must
 * hold the partition's key, and equal ids may come in different months.
 */
import {
  OperationNodeTransformer,
  SchemableIdentifierNode,
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryResult,
  type RootOperationNode,
  type SelectQueryNode,
  type UnknownRow,
} from "kysely";
import { EscrowMirrorError, isEscrowMirrorError } from "../shared/errors.ts";
import { columnsOf } from "./codec.ts";
import { sqlNamesIn, type TablePlace } from "./dialect.ts";
import type { Session } from "./session.ts";

/** How much time one partition holds. */
export const periods = ["day", "month"] as const;

export type Period = (typeof periods)[number];

/** What is known of the database once it is open. */
export interface PayloadLayout {
  partitioned: boolean;
}

export interface PrunedPayloads {
  /** Names of the partitions that were dropped. */
  readonly partitions: readonly string[];
  /** How many deliveries outside of partitions lost their body and headers. */
  readonly rows: number;
}

/** How many periods have a partition before they begin. What comes later is kept in `payloads_other`. */
const periodsAhead = 3;

/**
 * Lays the tables out where that is asked for, and makes the partitions of the periods to come.
 *
 * @returns whether they are laid out so
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
  if (found === undefined)
    for (const sql of payloadTables(place, period as Period)) await session.run(sql, []);
  await makePartitions(session, place, found ?? (period as Period), now);
  return true;
}

/** The tables, for `migrate --sql` too. A view gives whole deliveries, wherever their payload is. */
export function payloadTables(place: TablePlace, period: Period): string[] {
  const at = sqlNamesIn(place);
  const columns = columnsOf("deliveries").map(({ name }) =>
    name === "headers" || name === "body"
      ? `coalesce(d.${name}, (select p.${name} from ${at("payloads")} as p where p.received_at = d.received_at and p.content_key = d.content_key)) as ${name}`
      : `d.${name}`,
  );
  return [
    `create table ${at("payloads")} (
  received_at text collate "C" not null,
  content_key bytea not null,
  headers text collate "C",
  body bytea,
  primary key (received_at, content_key)
) partition by range (received_at)`,
    `comment on table ${at("payloads")} is '${period}'`,
    `create table ${at("payloads_other")} partition of ${at("payloads")} default`,
    `create view ${at(wholeView)} as select ${columns.join(", ")} from ${at("deliveries")} as d`,
  ];
}

const wholeView = "deliveries_whole";

async function periodOf(session: Session, place: TablePlace): Promise<Period | undefined> {
  const [row] = await session.all(
    "select obj_description(to_regclass($1), 'pg_class') where to_regclass($1) is not null",
    [sqlNamesIn(place)("payloads")],
  );
  if (row === undefined) return undefined;
  return row[0] === "day" ? "day" : "month";
}

async function makePartitions(session: Session, place: TablePlace, period: Period, now: Date): Promise<void> {
  const made = new Set((await partitionsOf(session, place)).map(({ from }) => from));
  for (let ahead = 0; ahead < periodsAhead; ahead++) {
    const from = startOf(period, now, ahead);
    if (!made.has(from)) await makePartitionUnlessBusy(session, place, from, startOf(period, now, ahead + 1));
  }
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
    `with moved as (delete from ${parent}_other where received_at >= '${from}' and received_at < '${to}' returning *) insert into ${name} select * from moved`,
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

async function limitLockWait(session: Session): Promise<void> {
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

/** A table that is, or was, a partition. */
export interface PayloadTable {
  /** Without the schema, as it was named when it was a partition. */
  readonly name: string;
  /** As it stands in SQL now: quoted, with the schema. */
  readonly sql: string;
}

interface Partition extends PayloadTable {
  readonly oid: number;
  readonly from: string;
  readonly to: string;
  /** In the schema of the other tables. What somebody attached from elsewhere is theirs to drop. */
  readonly isOurs: boolean;
}

async function partitionsOf(session: Session, place: TablePlace): Promise<Partition[]> {
  const rows = await session.all(
    "select c.relname::text, quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.oid::bigint, (n.nspname = $2)::int, pg_get_expr(c.relpartbound, c.oid)::text from pg_catalog.pg_inherits as i join pg_catalog.pg_class as c on c.oid = i.inhrelid join pg_catalog.pg_namespace as n on n.oid = c.relnamespace where i.inhparent = to_regclass($1) order by 1",
    [sqlNamesIn(place)("payloads"), place.schema],
  );
  return rows.flatMap(([name, sql, oid, isOurs, bounds]) => {
    const [, from, to] = /FROM \('([^']*)'\) TO \('([^']*)'\)/.exec(String(bounds)) ?? [];
    if (from === undefined || to === undefined) return [];
    return [
      { name: String(name), sql: String(sql), oid: Number(oid), isOurs: Number(isOurs) === 1, from, to },
    ];
  });
}

/** What a delivery keeps whatever its age: what may still be released, or is owed to a handler. */
function isKept(place: TablePlace): string {
  return `(d.outcome = 'quarantined' or exists (select from ${sqlNamesIn(place)("jobs")} as j where j.webhook_id = d.webhook_id and j.state in ('due', 'running')))`;
}

/** Some deliveries, by number: `from` is among them, `to` is not. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The partitions that hold nothing newer. */
export async function oldPartitions(
  session: Session,
  place: TablePlace,
  before: string,
): Promise<PayloadTable[]> {
  return (await partitionsOf(session, place)).filter(({ to, isOurs }) => isOurs && to <= before);
}

/** Gives the deliveries that keep their payload what `table` has of them, in their own row. */
export async function keepInRow(
  session: Session,
  place: TablePlace,
  table: PayloadTable,
  { from, to }: Span,
): Promise<void> {
  await limitLockWait(session);
  // Another process that prunes may have dropped it.
  const [there] = await session.all("select 1 where to_regclass($1) is not null", [table.sql]);
  if (there === undefined) return;
  await session.run(
    `update ${sqlNamesIn(place)("deliveries")} as d set headers = p.headers, body = p.body from ${table.sql} as p where d.seq >= $1 and d.seq < $2 and p.received_at = d.received_at and p.content_key = d.content_key and d.headers is null and d.body is null and ${isKept(place)}`,
    [from, to],
  );
}

/**
 * Makes a table of its own of a partition, so that dropping it keeps nobody from the others. Its new name is found again
 * when the process ends before that; the comment is the old one. Not `concurrently`: Postgres refuses that where there is a
 * default partition.
 */
export async function setAside(session: Session, place: TablePlace, { name }: PayloadTable): Promise<void> {
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
export async function tablesAside(session: Session, place: TablePlace): Promise<PayloadTable[]> {
  const rows = await session.all(
    "select coalesce(obj_description(c.oid, 'pg_class'), c.relname::text), quote_ident(n.nspname) || '.' || quote_ident(c.relname) from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace where n.nspname = $1 and c.relname ~ $2 and not c.relispartition and c.relkind = 'r' order by 1",
    [place.schema, `^${place.prefix}payloads_gone_[0-9]+$`],
  );
  return rows.map(([name, sql]) => ({ name: String(name), sql: String(sql) }));
}

export async function dropAside(session: Session, { sql }: PayloadTable): Promise<void> {
  await limitLockWait(session);
  await session.run(`drop table if exists ${sql}`, []);
}

/** Deletes old payloads in no partition of a period, row by row and no more than `rowsMax`; says how many. */
export async function deleteOthers(
  session: Session,
  place: TablePlace,
  { before, rowsMax }: { readonly before: string; readonly rowsMax: number },
): Promise<number> {
  const at = sqlNamesIn(place);
  const [row] = await session.all(
    `with gone as (delete from ${at("payloads_other")} where ctid = any(array(select p.ctid from ${at("payloads_other")} as p where p.received_at < $1 and not exists (select from ${at("deliveries")} as d where d.content_key = p.content_key and d.received_at = p.received_at and ${isKept(place)}) limit $2)) returning 1) select count(*)::bigint from gone`,
    [before, rowsMax],
  );
  return Number(row?.[0]);
}

/** Empties the payloads of deliveries `from` … `to`, by number, that are in the delivery's own row. */
export async function emptyRows(
  session: Session,
  place: TablePlace,
  { before, from, to }: Span & { readonly before: string },
): Promise<number> {
  const at = sqlNamesIn(place);
  const [row] = await session.all(
    `with gone as (update ${at("deliveries")} as d set body = null, headers = null where d.seq >= $1 and d.seq < $2 and d.received_at < $3 and (d.body is not null or d.headers is not null) and not ${isKept(place)} returning 1) select count(*)::bigint from gone`,
    [from, to, before],
  );
  return Number(row?.[0]);
}

/** The numbers that deliveries have: the first and the last. */
export async function deliverySpan(session: Session, place: TablePlace): Promise<[number, number]> {
  const [row] = await session.all(
    `select coalesce(min(seq), 0), coalesce(max(seq), -1) from ${sqlNamesIn(place)("deliveries")}`,
    [],
  );
  return [Number(row?.[0]), Number(row?.[1])];
}

/** Reads deliveries from the view, once the payloads are apart; what is written goes to the table. */
export function wholeDeliveries(place: TablePlace, layout: PayloadLayout): KyselyPlugin {
  const transformer = new WholeDeliveries(place);
  return {
    transformQuery: ({ node, queryId }: PluginTransformQueryArgs): RootOperationNode =>
      layout.partitioned ? transformer.transformNode(node, queryId) : node,
    transformResult: async ({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> =>
      result,
  };
}

class WholeDeliveries extends OperationNodeTransformer {
  readonly #schema: string | null;
  readonly #prefix: string;
  #selects = 0;

  constructor(place: TablePlace) {
    super();
    this.#schema = place.schema;
    this.#prefix = place.prefix;
  }

  protected override transformSelectQuery(node: SelectQueryNode, ...rest: never[]): SelectQueryNode {
    this.#selects++;
    try {
      return super.transformSelectQuery(node, ...rest);
    } finally {
      this.#selects--;
    }
  }

  protected override transformSchemableIdentifier(
    node: SchemableIdentifierNode,
    ...rest: never[]
  ): SchemableIdentifierNode {
    const isOurs = node.identifier.name === `${this.#prefix}deliveries` && node.schema?.name === this.#schema;
    if (this.#selects === 0 || !isOurs || this.#schema === null)
      return super.transformSchemableIdentifier(node, ...rest);
    return SchemableIdentifierNode.createWithSchema(this.#schema, `${this.#prefix}${wholeView}`);
  }
}
