import type { Kysely } from "kysely";
import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { MirrorDatabase } from "./sql/database.ts";
import type { JobQueue } from "./queue.ts";
import type { TableName, Tables } from "./tables.ts";

/**
 * Where the mirror's rows live. A store knows tables, keys and transactions, and nothing of deliveries or contracts:
 * what happens to them is decided once, above it, so that stores can't differ in behaviour.
 *
 * Every method that can't be carried out now (locked, full, unreachable) rejects with `store-unavailable`; after `close` with `closed`.
 */
export interface Store {
  /** For logs and messages: the kind and the place, never a password. */
  readonly description: string;
  /** For reads and joins of the integrator's own. Throws `invalid-configuration` on a store without SQL. */
  readonly db: Kysely<MirrorDatabase>;
  /** Makes the tables ready: `auto` migrates, `check` refuses with `schema-version` when they are of another version. */
  open(options: OpenOptions): Promise<void>;
  /**
   * Runs `work` in one transaction; commits when it resolves, rolls back when it rejects. Where a database has several
   * writers `work` may run again after another was in its way, so it does nothing outside of the transaction.
   */
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>;
  /** Runs `work` on one consistent view of what is committed. */
  read<T>(work: (reader: StoreReader) => Promise<T>): Promise<T>;
  /** How often it is worth a look whether another process has added jobs. */
  readonly lookEveryMs: number;
  /**
   * When the next job of these handlers is due: ISO 8601, in the past where one is due now, `null` where none waits for its
   * time. A look, cheap enough for many a second.
   */
  nextJobAt(handlers: readonly string[]): Promise<string | null>;
  /** Waits for what is running, then lets go of the database. */
  close(): Promise<void>;
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

/** Reads; inside a transaction, of its own writes too. */
export interface StoreReader {
  /** The rows that fit the query. */
  find<Name extends TableName>(table: Name, query?: Query<Tables[Name]>): Promise<Tables[Name][]>;
  /** The rows of a stretch of an index, in its order. `where` picks among them, `limit` counts what was picked. */
  walk<Name extends TableName>(
    table: Name,
    stretch: Stretch<Tables[Name]>,
    picking?: Picking<Tables[Name]>,
  ): Promise<Tables[Name][]>;
  /** How many rows the stretch has. */
  count<Name extends TableName>(table: Name, stretch: Stretch<Tables[Name]>): Promise<number>;
  /** How many rows there are for each value of `field`. */
  countBy<Name extends TableName>(
    table: Name,
    field: FieldOf<Name>,
    where?: readonly Condition<Tables[Name]>[],
  ): Promise<Map<string | null, number>>;
  /** The rows whose `field` is one of `values`, in no order; of each value at most `limitEach`, whichever. */
  lookup<Name extends TableName>(
    table: Name,
    field: FieldOf<Name>,
    values: readonly string[],
    without?: readonly FieldOf<Name>[],
    limitEach?: number,
  ): Promise<Tables[Name][]>;
  /** The rows that have the keys of these, whatever else they say; in no order. A key with a null in it is no row's. */
  lookupKeys<Name extends TableName>(
    table: Name,
    rows: readonly Partial<Tables[Name]>[],
    without?: readonly FieldOf<Name>[],
  ): Promise<Tables[Name][]>;
}

/** Reads and writes inside one transaction. */
export interface StoreTransaction extends StoreReader {
  /**
   * Keeps every other writer off these contracts until the end, those that have no row yet too, and gives the rows that
   * there are. Locks are taken in one order, so that two commits never wait for each other.
   */
  lockContracts(contractIds: readonly string[]): Promise<Tables["contracts"][]>;
  /** As `lookup`, and keeps every other writer off these rows until the end; locks are taken in the order of the values. */
  lock<Name extends TableName>(
    table: Name,
    field: FieldOf<Name>,
    values: readonly string[],
    without?: readonly FieldOf<Name>[],
  ): Promise<Tables[Name][]>;
  /** Inserts what meets no taken key or unique field, and says of each row whether it went in. */
  insert<Name extends TableName>(table: Name, rows: readonly NewRow<Name>[]): Promise<boolean[]>;
  /** Inserts each row, or replaces the one of its key. */
  upsert<Name extends TableName>(table: Name, rows: readonly NewRow<Name>[]): Promise<void>;
  /** Sets fields of the rows that these name by `field`: each holds its `field` and what is set, the same fields in all. */
  updateEach<Name extends TableName>(
    table: Name,
    field: FieldOf<Name>,
    rows: readonly Partial<Tables[Name]>[],
  ): Promise<void>;
  /** Deletes the rows that fit all conditions. */
  remove<Name extends TableName>(table: Name, where: readonly Condition<Tables[Name]>[]): Promise<void>;
  /** The jobs that handlers are owed. */
  readonly jobs: JobQueue;
  /** The transaction in the database's own terms, for statements of the integrator's. */
  lend(): Lent;
  /** Runs `work`; when it rejects, what it wrote is undone and the transaction goes on. */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
}

/** A transaction that is lent out, until it is taken back. */
export interface Lent {
  /** Kysely on the transaction: the mirror's tables by their plain names. */
  readonly trx: Kysely<MirrorDatabase>;
  /** The driver's own connection; `undefined` where a host's Kysely hides it. */
  readonly connection: unknown;
  /** The store's own fault, where that is why a statement of the borrower's failed: it may go through another time. */
  faultOf(error: unknown): Error | undefined;
  /** From now on both refuse. */
  takeBack(): void;
}

/** The name of a field of a table. */
export type FieldOf<Name extends TableName> = keyof Tables[Name] & string;

/** A row before the database has given it its number. */
export type NewRow<Name extends TableName> = Omit<Tables[Name], "seq">;

/** Picks, orders and limits rows. */
export interface Query<Row> {
  /** Conditions that all must hold. */
  readonly where?: readonly Condition<Row>[];
  /** By these fields, text bytewise; ascending unless `descending`. */
  readonly orderBy?: readonly (keyof Row & string)[];
  /** Reverses the order. Default `false`. */
  readonly descending?: boolean;
  /** How many rows at most. */
  readonly limit?: number;
  /** Fields that are not read and come as `null`: large ones that the caller does not need. */
  readonly without?: readonly (keyof Row & string)[];
}

/** The part of a query that a stretch takes: its order is its own. */
export type Picking<Row> = Pick<Query<Row>, "where" | "limit" | "without">;

/**
 * Rows that lie side by side in an index. The stores ask for them so that a database can go by that index alone, and never
 * sorts, whatever its statistics say: what a page costs does not hang on how many rows there are.
 */
export interface Stretch<Row> {
  /** The first field of the index, where the stretch has the rows of one value of it. */
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
  /** Values of `by`, or of its first fields: the stretch begins behind all rows that have them. */
  readonly after?: readonly (string | number)[] | undefined;
  /** The least value of the first field of `by`. */
  readonly from?: string | number | undefined;
  /** Above each value of the first field of `by`. */
  readonly until?: string | number | undefined;
  /** Fields that are `null` in no row of the stretch, where the index holds only rows of which that is so. */
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
