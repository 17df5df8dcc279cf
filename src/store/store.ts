import type { Kysely } from "kysely";
import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { MirrorDatabase } from "./sql/database.ts";
import type { JobQueue } from "./queue.ts";
import type { TableName, Tables } from "./tables.ts";

/**
 * A database for the mirror: `sqlite()` or `postgres()` makes one. It has tables, keys and transactions, but no rules about
 * contracts. So all stores behave the same.
 *
 * Every method rejects with `store-unavailable` if the database is locked, full or unreachable, and with `closed` after `close`.
 */
export interface Store {
  /** The kind and the place, for logs and messages. Never a password. */
  readonly description: string;
  /** Kysely for the app's own reads and joins. Throws `invalid-configuration` on a store without SQL. */
  readonly db: Kysely<MirrorDatabase>;
  /**
   * Makes the tables ready: `auto` migrates them, `check` rejects with `schema-version` if their version is another.
   */
  open(options: OpenOptions): Promise<void>;
  /**
   * Runs `work` in one transaction. It commits when `work` resolves, and rolls back when it rejects. `work` may run
   * again after a conflict with another writer, so it must do nothing outside of the transaction. Rejects with
   * `store-unavailable` if rows that were written are not there, for example because a trigger dropped them.
   */
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>;
  /** Runs `work` on one consistent view of the committed rows. */
  read<T>(work: (reader: StoreReader) => Promise<T>): Promise<T>;
  /** How often to look for jobs of other processes. Milliseconds. */
  readonly lookEveryMs: number;
  /**
   * When the next job of these handlers is due, by this process's clock: ISO 8601. In the past if one is due now; `null`
   * if none waits. Cheap enough for many calls a second.
   */
  nextJobAt(handlers: readonly string[]): Promise<string | null>;
  /**
   * Listens for jobs of other processes, if the store has this option. The mirror still checks for jobs too. Returns a
   * function that stops it.
   */
  readonly listen?: ((listener: JobListener) => () => Promise<void>) | undefined;
  /** Frees the room that deleted rows took. */
  readonly upkeep: Upkeep;
  /** Waits for running work, then closes the database. */
  close(): Promise<void>;
}

/** Frees room in a store. Each call is one short step. The caller decides what to delete, and when. */
export interface Upkeep {
  /**
   * Drops the partitions that hold only payloads from before `before`. Payloads that must stay are moved first. Without
   * partitions it drops nothing.
   */
  dropPayloads(before: string): Promise<DroppedPayloads>;
  /** Gives up to `pages` free pages of the file back to the disk. Resolves with whether there may be more. */
  shrink(pages: number): Promise<boolean>;
  /** Wipes the bytes of deleted rows out of the files. Resolves with whether none is left there. */
  wipe(): Promise<boolean>;
}

/** The payloads that were dropped whole. */
export interface DroppedPayloads {
  /** The names of the partitions. */
  readonly partitions: readonly string[];
  /**
   * Payloads that arrived before this time must be deleted row by row. Later ones are in a partition that will be
   * dropped whole. ISO 8601.
   */
  readonly rowsBefore: string;
}

/** Gets notifications of jobs that other processes add. */
export interface JobListener {
  /** Jobs of this handler are due. */
  readonly heard: (handler: string) => void;
  /** Called when listening starts or stops. While it is stopped, the mirror finds jobs only by checking. */
  readonly changed: (isListening: boolean) => void;
}

/** How a store is opened. */
export interface OpenOptions {
  /** `auto` makes or updates the tables. `check` refuses tables of another version. */
  readonly migrate: "auto" | "check";
  /** The mirror's logger. */
  readonly logger: Logger;
  /** The mirror's clock. */
  readonly clock: Clock;
}

/** Reads. Inside a transaction it sees the transaction's own writes. */
export interface StoreReader {
  /** The rows that fit the query. */
  find<Name extends TableName>(table: Name, query?: Query<Tables[Name]>): Promise<Tables[Name][]>;
  /** Reads a stretch of an index, in its order. `where` selects some of the rows, and `limit` counts only these. */
  walk<Name extends TableName>(
    table: Name,
    stretch: Stretch<Tables[Name]>,
    picking?: Picking<Tables[Name]>,
  ): Promise<Tables[Name][]>;
  /** How many rows the stretch has. */
  count<Name extends TableName>(table: Name, stretch: Stretch<Tables[Name]>): Promise<number>;
  /**
   * The rows whose `field` is one of `values`, in no order.
   *
   * @param without fields that are not read
   * @param limitEach how many rows to read for each value at most; which of them is not defined
   */
  lookup<Name extends TableName>(
    table: Name,
    field: FieldOf<Name>,
    values: readonly (string | number)[],
    without?: readonly FieldOf<Name>[],
    limitEach?: number,
  ): Promise<Tables[Name][]>;
  /** The rows with the same keys as these, in no order. A key with a null in it fits no row. */
  lookupKeys<Name extends TableName>(
    table: Name,
    rows: readonly Partial<Tables[Name]>[],
    without?: readonly FieldOf<Name>[],
  ): Promise<Tables[Name][]>;
}

/** The part of a store that reads. */
export type View = Pick<Store, "read">;

/** Reads and writes inside one transaction. */
export interface StoreTransaction extends StoreReader {
  /**
   * Locks these contracts against all other writers until the transaction ends, also those that have no row yet. Resolves
   * with the rows that exist. Locks are taken in one order, so two commits never wait for each other.
   */
  lockContracts(contractIds: readonly string[]): Promise<Tables["contracts"][]>;
  /**
   * Like `lookup`, and locks the rows against all other writers until the transaction ends, in the order of the values.
   */
  lock<Name extends TableName>(
    table: Name,
    field: FieldOf<Name>,
    values: readonly (string | number)[],
    without?: readonly FieldOf<Name>[],
  ): Promise<Tables[Name][]>;
  /** Inserts rows, except those whose key or unique field is taken. Resolves with whether each was inserted. */
  insert<Name extends TableName>(table: Name, rows: readonly NewRow<Name>[]): Promise<boolean[]>;
  /** Inserts each row, or replaces the row with its key. */
  upsert<Name extends TableName>(table: Name, rows: readonly NewRow<Name>[]): Promise<void>;
  /** Updates rows by `field`. Each item has the `field` and the same further fields to set, and its row exists. */
  updateEach<Name extends TableName>(
    table: Name,
    field: FieldOf<Name>,
    rows: readonly Partial<Tables[Name]>[],
  ): Promise<void>;
  /** Deletes the rows that fit all conditions. */
  remove<Name extends TableName>(table: Name, where: readonly Condition<Tables[Name]>[]): Promise<void>;
  /** The jobs of handlers. */
  readonly jobs: JobQueue;
  /** Lends the transaction to a handler, as `trx` and `connection`. */
  lend(): Lent;
  /** Runs `work`. If it rejects, its writes are undone and the transaction goes on. */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
}

/** A transaction lent to a handler, until the handler ends. */
export interface Lent {
  /** Kysely on the transaction. It finds the mirror's tables by their plain names. */
  readonly trx: Kysely<MirrorDatabase>;
  /** The driver's own connection. `undefined` if the app's Kysely hides it. */
  readonly connection: unknown;
  /** The store's own error, if it made a statement of the handler fail: another try may succeed. Else `undefined`. */
  faultOf(error: unknown): Error | undefined;
  /** Ends the loan: from now on `trx` and `connection` throw. */
  takeBack(): void;
}

/** The name of a field of a table. */
export type FieldOf<Name extends TableName> = keyof Tables[Name] & string;

/** A row that has no number yet. */
export type NewRow<Name extends TableName> = Omit<Tables[Name], "seq">;

/** Picks, orders and limits rows. */
export interface Query<Row> {
  /** Conditions that all must hold. */
  readonly where?: readonly Condition<Row>[];
  /** The fields to order by, ascending. Text is compared bytewise. */
  readonly orderBy?: readonly (keyof Row & string)[];
  /** Reverses the order. Default `false`. */
  readonly descending?: boolean;
  /** How many rows at most. */
  readonly limit?: number;
  /** Large fields that are not read and come as `null`. */
  readonly without?: readonly (keyof Row & string)[];
}

/** The parts of a query that a stretch can have too. A stretch has its own order. */
export type Picking<Row> = Pick<Query<Row>, "where" | "limit" | "without">;

/**
 * Rows that are next to each other in an index. The database reads this index alone and never sorts, whatever its
 * statistics say. So the cost of a page does not depend on the number of rows.
 */
export interface Stretch<Row> {
  /** The first field of the index, if the stretch is the rows with one value of it. */
  readonly of?:
    | {
        /** The field. */
        readonly field: keyof Row & string;
        /** Its value in all rows of the stretch. */
        readonly value: string | number | null;
      }
    | undefined;
  /** The other fields of the index, which order the rows. None is `null` in any row of the stretch. */
  readonly by: readonly (keyof Row & string)[];
  /** Reverses the order. Default `false`. */
  readonly descending?: boolean | undefined;
  /** Values of `by`, or of its first fields. The stretch begins after all rows with these values. */
  readonly after?: readonly (string | number)[] | undefined;
  /** The first field of `by` is at least this. */
  readonly from?: string | number | undefined;
  /** The first field of `by` is below this. */
  readonly until?: string | number | undefined;
  /** Fields that are never `null` in the stretch. Name them if the index leaves out rows with `null` there. */
  readonly present?: readonly (keyof Row & string)[] | undefined;
  /** How many rows are left out at the beginning. */
  readonly skip?: number | undefined;
  /** How many rows are looked at. */
  readonly rowsMax: number;
}

/** A condition on one field. Text is compared bytewise. */
export type Condition<Row> = {
  readonly [Field in keyof Row & string]:
    | { readonly field: Field; readonly op: "="; readonly value: string | number | boolean }
    | { readonly field: Field; readonly op: "<" | "<=" | ">" | ">="; readonly value: string | number }
    | { readonly field: Field; readonly op: "in"; readonly value: readonly (string | number | null)[] }
    | { readonly field: Field; readonly op: "null" | "not-null" };
}[keyof Row & string];
