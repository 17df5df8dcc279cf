import type { Kysely } from "kysely";
import type { Batches } from "./batches.ts";
import { columnOf, decodeRows, decodeValue } from "./codec.ts";
import type { MirrorDatabase } from "./database.ts";
import type { Dialect, TablePlace } from "./dialect.ts";
import { migrate } from "./migrate.ts";
import type { Engine, Session } from "./session.ts";
import type { Statements } from "./statements.ts";
import type { Condition, FieldOf, OpenOptions, Query, Store, StoreTransaction } from "../store.ts";
import type { TableName, Tables } from "../tables.ts";

export interface KyselyStoreParts<Connected extends Session> {
  readonly engine: Engine<Connected>;
  readonly dialect: Dialect;
  readonly place: TablePlace;
  readonly statements: Statements;
  readonly db: Kysely<MirrorDatabase>;
  /** How many rows go in one call; for each transaction. */
  readonly batches: (session: Connected) => Batches;
}

/** The one SQL implementation of the store. */
export function createKyselyStore<Connected extends Session>(parts: KyselyStoreParts<Connected>): Store {
  const { engine, dialect, place, statements, db, batches } = parts;
  return {
    description: engine.description,
    db,
    open: (options: OpenOptions) => migrate(engine, dialect, place, options),
    transaction: (work) =>
      engine.transaction(async (session) => {
        const inBatches = batches(session);
        const result = await work(createTransaction(session, statements, inBatches));
        await inBatches.finish();
        return result;
      }),
    read: (work) => engine.read((session) => work(createTransaction(session, statements, batches(session)))),
    close: () => engine.close(),
  };
}

function createTransaction(session: Session, statements: Statements, batches: Batches): StoreTransaction {
  const { lookup, lock, lockContracts, insert, upsert, updateEach } = batches;
  return {
    lookup,
    lock,
    lockContracts,
    insert,
    upsert,
    updateEach,

    async find<Name extends TableName>(table: Name, query: Query<Tables[Name]> = {}) {
      const { sql, values } = statements.find(table, query);
      return decodeRows(table, await session.all(sql, values), query.without);
    },

    async countBy<Name extends TableName>(
      table: Name,
      field: FieldOf<Name>,
      where: readonly Condition<Tables[Name]>[] = [],
    ) {
      const { sql, values } = statements.countBy(table, field, where);
      const rows = await session.all(sql, values);
      const { type } = columnOf(table, field);
      return new Map(
        rows.map(([value, count]) => [decodeValue(type, value) as string | null, Number(count)]),
      );
    },

    async remove(table, where) {
      const { sql, values } = statements.remove(table, where);
      await session.run(sql, values);
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
