import { EscrowMirrorError } from "../shared/errors.ts";
import { groupBy } from "../shared/group-by.ts";
import { createLock } from "../shared/lock.ts";
import { createPace } from "../shared/pace.ts";
import type {
  Condition,
  FieldOf,
  Picking,
  Query,
  Store,
  StoreReader,
  StoreTransaction,
  Stretch,
} from "../store/store.ts";
import { tables, type TableName, type Tables } from "../store/tables.ts";
import { proveWritten } from "../store/unwritable.ts";
import { systemClock } from "../shared/clock.ts";
import { createPlainQueue } from "./plain-queue.ts";
import { blank, byFields, collides, holds, keyOf, numbered, stretchOf, type Row } from "./plain-rows.ts";

/** The rows of each table by their key. */
type Content = { readonly [Name in TableName]: ReadonlyMap<string, Row> };

/**
 * The store in plain maps: the reference model of the tests.
 * A transaction works on a copy of the maps and swaps them in when it commits.
 */
export function createMemoryStore(): Store {
  const lock = createLock();
  const pace = createPace();
  let committed = emptyContent();
  let sequence = 0;
  let closed = false;
  let clock = systemClock;
  const check = (): void => {
    if (closed) throw new EscrowMirrorError("closed", "the memory store is closed, and the mirror with it");
  };
  return {
    description: "memory",
    get db(): never {
      throw new EscrowMirrorError(
        "invalid-configuration",
        "a store in memory has no SQL: use sqlite(':memory:')",
      );
    },
    open: async (options) => {
      closed = false;
      clock = options.clock;
    },
    transaction: (work) =>
      lock.run(async () => {
        await pace();
        check();
        const draft = createDraft(committed, () => ++sequence);
        const result = await work({
          ...draft,
          jobs: createPlainQueue(draft, () => clock),
          lend: () => {
            throw new EscrowMirrorError(
              "invalid-configuration",
              "a store in memory has no transactions to lend: use sqlite(':memory:')",
            );
          },
        });
        committed = draft.content();
        return result;
      }),
    read: async (work) => {
      await pace();
      check();
      return work(createDraft(committed, () => ++sequence));
    },
    lookEveryMs: 1000,
    nextJobAt: async (handlers) => {
      check();
      const due = [...committed.jobs.values()].filter(
        (job) => job["state"] === "due" && handlers.includes(job["handler"] as string),
      );
      return due.map((job) => job["nextAttemptAt"] as string).sort()[0] ?? null;
    },
    upkeep: {
      dropPayloads: async (before) => ({ partitions: [], rowsBefore: before }),
      shrink: async () => false,
      wipe: async () => true,
    },
    close: () =>
      lock.run(async () => {
        closed = true;
      }),
  };
}

function emptyContent(): Content {
  return Object.fromEntries(Object.keys(tables).map((table) => [table, new Map()])) as unknown as Content;
}

interface Draft extends Omit<StoreTransaction, "jobs" | "lend"> {
  content(): Content;
}

function createDraft(base: Content, nextSeq: () => number): Draft {
  let content = base;
  const copied = new Set<TableName>();
  const writable = (table: TableName): Map<string, Row> => {
    if (!copied.has(table)) content = { ...content, [table]: new Map(content[table]) };
    copied.add(table);
    return content[table] as Map<string, Row>;
  };
  const rowsOf = <Name extends TableName>(
    table: Name,
    where: readonly Condition<Tables[Name]>[] = [],
  ): Row[] => [...content[table].values()].filter((row) => where.every((condition) => holds(row, condition)));

  const put = (table: TableName, row: Row, replaced?: Row): void => {
    const isUnique = tables[table].unique.length > 0;
    if (isUnique && rowsOf(table).some((each) => each !== replaced && collides(table, each, row)))
      throw new Error(`${table}: another row has the key or a unique field of this one`);
    writable(table).set(keyOf(table, row), row);
  };

  return {
    content: () => content,

    async find<Name extends TableName>(table: Name, query: Query<Tables[Name]> = {}) {
      const rows = rowsOf(table, query.where).sort(byFields(query.orderBy ?? [], query.descending ?? false));
      return rows.slice(0, query.limit ?? rows.length).map(blank(query.without)) as unknown as Tables[Name][];
    },

    async walk<Name extends TableName>(
      table: Name,
      stretch: Stretch<Tables[Name]>,
      { where = [], limit, without }: Picking<Tables[Name]> = {},
    ) {
      const rows = stretchOf(rowsOf(table), stretch);
      const picked = rows.filter((row) => where.every((condition) => holds(row, condition)));
      return picked.slice(0, limit).map(blank(without)) as unknown as Tables[Name][];
    },

    async count(table, stretch) {
      return stretchOf(rowsOf(table), stretch).length;
    },

    async lookup<Name extends TableName>(
      table: Name,
      field: FieldOf<Name>,
      values: readonly (string | number)[],
      without?: readonly FieldOf<Name>[],
      limitEach = Number.POSITIVE_INFINITY,
    ) {
      const groups = groupBy(rowsOf(table), (row) => row[field]);
      const rows = [...new Set(values)].flatMap((value) => groups.get(value)?.slice(0, limitEach) ?? []);
      return rows.map(blank(without)) as unknown as Tables[Name][];
    },

    async lookupKeys<Name extends TableName>(
      table: Name,
      rows: readonly Partial<Tables[Name]>[],
      without?: readonly FieldOf<Name>[],
    ) {
      const keyed = rows.filter((row) => tables[table].key.every((field) => (row as Row)[field] != null));
      const found = keyed
        .map((row) => content[table].get(keyOf(table, row)))
        .filter((row) => row !== undefined);
      return found.map(blank(without)) as unknown as Tables[Name][];
    },

    lock(table, field, values, without) {
      return this.lookup(table, field, values, without);
    },

    async lockContracts(contractIds) {
      return this.lookup("contracts", "contractId", contractIds);
    },

    async insert(table, rows) {
      const known = rowsOf(table);
      const unique: readonly string[] = tables[table].unique;
      const taken = new Map(unique.map((field) => [field, new Set(known.map((row) => row[field]))]));
      return rows.map((row: Row) => {
        const isTaken = [...taken].some(([field, values]) => row[field] !== null && values.has(row[field]));
        if (isTaken || content[table].has(keyOf(table, row))) return false;
        const fresh = numbered(table, row, nextSeq);
        writable(table).set(keyOf(table, fresh), fresh);
        for (const [field, values] of taken) values.add(row[field]);
        return true;
      });
    },

    async upsert(table, rows) {
      for (const row of rows) {
        const known = content[table].get(keyOf(table, row));
        const fresh = known && "seq" in known ? { ...row, seq: known["seq"] } : numbered(table, row, nextSeq);
        put(table, fresh, known);
      }
    },

    async updateEach(table, field, rows) {
      const groups = groupBy(rowsOf(table), (row) => row[field]);
      for (const set of rows) {
        const named = groups.get(set[field]) ?? [];
        proveWritten(table, 1, named.length);
        for (const row of named) {
          writable(table).delete(keyOf(table, row));
          put(table, { ...row, ...set }, row);
        }
      }
    },

    async remove(table, where) {
      for (const row of rowsOf(table, where)) writable(table).delete(keyOf(table, row));
    },

    async savepoint(work) {
      const [before, copiedBefore] = [content, new Set(copied)];
      copied.clear();
      try {
        return await work();
      } catch (error) {
        content = before;
        copied.clear();
        for (const table of copiedBefore) copied.add(table);
        throw error;
      }
    },
  } satisfies Draft & StoreReader;
}
