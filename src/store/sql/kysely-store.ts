import type { Kysely } from "kysely";
import { systemClock, type Clock } from "../../shared/clock.ts";
import type { JobQueue } from "../queue.ts";
import type { Batches } from "./batches.ts";
import { decodeRows } from "./codec.ts";
import type { MirrorDatabase } from "./database.ts";
import { sqlNamesIn, type Dialect, type TablePlace } from "./dialect.ts";
import { migrate } from "./migrate.ts";
import type { Engine, Session } from "./session.ts";
import type { Statements } from "./statements.ts";
import { createWalks, type Walks } from "./walks.ts";
import type {
  Condition,
  Lent,
  OpenOptions,
  Picking,
  Query,
  Store,
  StoreTransaction,
  Stretch,
  Upkeep,
} from "../store.ts";
import { allBut, tables, type TableName, type Tables } from "../tables.ts";
import { areThere, proveMet, unwritable } from "../unwritable.ts";

export interface KyselyStoreParts<Connected extends Session> {
  readonly engine: Engine<Connected>;
  readonly dialect: Dialect;
  readonly place: TablePlace;
  readonly statements: Statements;
  readonly db: Kysely<MirrorDatabase>;
  /** Makes the statements that take many rows at a time. Called once for each transaction. */
  readonly batches: (session: Connected) => Batches;
  readonly queue: (session: Connected, clock: () => Clock) => JobQueue;
  readonly lend: (session: Connected) => Lent;
  readonly lookEveryMs: number;
  readonly nextJobAt: Store["nextJobAt"];
  readonly upkeep: Upkeep;
}

/** The one SQL implementation of the store. */
export function createKyselyStore<Connected extends Session>(parts: KyselyStoreParts<Connected>): Store {
  const { engine, dialect, place, db, batches, queue } = parts;
  const statements = { ...parts.statements, ...createWalks(dialect, sqlNamesIn(place)) };
  let clock = systemClock;
  const transactionOf = (session: Connected, inBatches: Batches): StoreTransaction => ({
    ...createTransaction(session, statements, inBatches),
    jobs: proving(
      queue(session, () => clock),
      inBatches,
    ),
    lend: () => parts.lend(session),
  });
  return {
    description: engine.description,
    db,
    open: async (options: OpenOptions) => {
      clock = options.clock;
      await migrate(engine, dialect, place, options);
    },
    transaction: (work) =>
      engine.transaction(async (session) => {
        const inBatches = batches(session);
        const result = await work(transactionOf(session, inBatches));
        await inBatches.finish();
        return result;
      }),
    read: (work) => engine.read((session) => work(createTransaction(session, statements, batches(session)))),
    lookEveryMs: parts.lookEveryMs,
    nextJobAt: parts.nextJobAt,
    upkeep: parts.upkeep,
    close: () => engine.close(),
  };
}

function proving(jobs: JobQueue, batches: Batches): JobQueue {
  return {
    ...jobs,
    insert: async (added) => {
      const wentIn = await jobs.insert(added);
      if (await areThere(batches, "jobs", added, wentIn)) return wentIn;
      // A job that was not inserted met one of its key, and now no job of that key is there. Either it was done and was pruned
      // between the two statements, or something drops what is written. A second try shows which.
      const rest = added.filter((_, index) => wentIn[index] !== true);
      const later = await jobs.insert(rest);
      await proveMet(batches, "jobs", rest, later);
      const laterIn = new Set(rest.filter((_, index) => later[index] === true));
      return added.map((job, index) => wentIn[index] === true || laterIn.has(job));
    },
  };
}

function createTransaction(
  session: Session,
  statements: Statements & Walks,
  batches: Batches,
): Omit<StoreTransaction, "jobs" | "lend"> {
  const { lookup, lookupKeys, lock, lockContracts, upsert, updateEach } = batches;
  return {
    lookup,
    lookupKeys,
    lock,
    lockContracts,
    upsert,
    updateEach,

    async insert(table, rows) {
      const wentIn = await batches.insert(table, rows);
      // Where other fields are unique too, whoever inserts finds out what a row met.
      if (tables[table].unique.length === 0) await proveMet(batches, table, rows, wentIn);
      return wentIn;
    },

    async find<Name extends TableName>(table: Name, query: Query<Tables[Name]> = {}) {
      const { sql, values } = statements.find(table, query);
      return decodeRows(table, await session.all(sql, values), query.without);
    },

    async walk<Name extends TableName>(
      table: Name,
      stretch: Stretch<Tables[Name]>,
      picking: Picking<Tables[Name]> = {},
    ) {
      const { sql, values } = statements.walk(table, stretch, picking);
      return decodeRows(table, await session.all(sql, values), picking.without);
    },

    async count(table, stretch) {
      const { sql, values } = statements.count(table, stretch);
      const [row] = await session.all(sql, values);
      return Number(row?.[0]);
    },

    async remove<Name extends TableName>(table: Name, where: readonly Condition<Tables[Name]>[]) {
      const { sql, values } = statements.remove(table, where);
      await session.run(sql, values);
      const left = statements.find(table, { where, limit: 1, without: allBut(table, tables[table].key) });
      if ((await session.all(left.sql, left.values)).length > 0) throw unwritable(table);
    },

    async savepoint(work) {
      const goBack = batches.mark();
      await session.run("savepoint escrow_mirror", []);
      try {
        const result = await work();
        await session.run("release savepoint escrow_mirror", []);
        return result;
      } catch (error) {
        await session.run("rollback to savepoint escrow_mirror", []);
        await session.run("release savepoint escrow_mirror", []);
        goBack();
        throw error;
      }
    },
  };
}
