/** The session of one transaction on Postgres: its statements in their order, and what the failure of one means for the whole. */
import { isEscrowMirrorError } from "../../shared/errors.ts";
import type { Countdown } from "../../shared/within.ts";
import type { SqlValue } from "../sql/codec.ts";
import type { ArraySession, Session } from "../sql/session.ts";
import { isGoingBack } from "../sql/transaction-words.ts";
import type { Connection } from "./connection.ts";
import { faultOf, lateAnswer, toFaultOf, toLentFault, toStoreFault } from "./faults.ts";

export type Kind = "write" | "read" | "look";

/** Where a transaction stands, for what its failure means. */
export interface TransactionProgress {
  /** Where the database is. */
  readonly store: string;
  /** A failure that was not undone: a commit would silently be a rollback. */
  failed: Error | undefined;
  /** The connection is of no more use. */
  lost: boolean;
  /** The commit was sent: whether it happened is not known when the connection breaks now. */
  committing: boolean;
  /** The same transaction may go through at once: another was in its way, or its connection broke before the commit. */
  again: boolean;
}

/**
 * Settings that end with the transaction, so that a pooler between us and the server may share the connection. What we read
 * is in the order of an index: by old statistics a sort of the whole table can look cheaper.
 */
function beginOf(kind: Kind, timeLeftMs: number): string[] {
  // A statement that hangs leaves time for the rollback and for naming the fault. 0 would mean no limit.
  const limitMs = Math.max(1, Math.ceil((timeLeftMs * 2) / 3));
  if (kind === "read")
    return [
      "begin isolation level repeatable read read only",
      `select
         set_config('statement_timeout', '${limitMs}', true),
         set_config('bytea_output', 'hex', true),
         set_config('enable_sort', 'off', true),
         set_config('enable_incremental_sort', 'off', true),
         set_config('jit', 'off', true)`,
    ];
  return [
    "begin isolation level read committed",
    `select
       current_setting('transaction_read_only'),
       set_config('synchronous_commit', 'on', true),
       set_config('statement_timeout', '${limitMs}', true),
       set_config('bytea_output', 'hex', true),
       set_config('idle_in_transaction_session_timeout', '${idleMs}', true)`,
  ];
}

/** A process that is stopped in the middle of a transaction holds its locks no longer than this. */
const idleMs = 30_000;

/** Runs a step on the connection; a fault of the store becomes `store-unavailable`. */
export async function guarded<T>(
  progress: TransactionProgress,
  step: () => Promise<T>,
  toFault = toStoreFault,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw translate(error, progress, toFault);
  }
}

/** The first failure says why: what comes after it in the same transaction fails because of it. */
function translate(error: unknown, progress: TransactionProgress, toFault: typeof toStoreFault): Error {
  if (isEscrowMirrorError(error)) return (progress.failed ??= error);
  const fault = faultOf(error);
  progress.lost ||= fault === "late" || fault === "lost";
  if (progress.failed !== undefined) return progress.failed;
  progress.again = fault === "undone" || fault === "raced" || (fault === "lost" && !progress.committing);
  progress.failed = toFault(progress.store, error) ?? (error as Error);
  return progress.failed;
}

/** A session whose writes are not waited for before the commit. */
export interface TransactionSession extends ArraySession {
  begin(kind: Kind, timeLeftMs: number): Promise<void>;
  commit(): Promise<void>;
  /** After all that was asked for: what came later would commit by itself. */
  rollback(): Promise<unknown>;
}

/**
 * Statements go out in the order of asking: at once where the driver may have several under way, else one after the
 * other.
 */
export function createSession(
  connection: Connection,
  { timeLeft, pause }: Countdown,
  progress: TransactionProgress,
): TransactionSession {
  let last: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(step: () => Promise<T>, toFault?: typeof toStoreFault): Promise<T> => {
    const guardedStep = (): Promise<T> => guarded(progress, step, toFault);
    const next = connection.pipelined ? guardedStep() : last.then(guardedStep);
    last = next.catch(() => undefined);
    return next;
  };

  /** Nothing begins when there is no time left: many short answers would take long. */
  const refuseLate = (): void => {
    if (timeLeft() === 0) throw lateAnswer("took too long: try again");
  };

  const refuseFailed = (): void => {
    if (progress.failed !== undefined) throw progress.failed;
  };

  /** A savepoint undoes failures after it, also one of a handler's own. */
  const forgive = (): void => void Object.assign(progress, { failed: undefined, again: false });

  const all: Session["all"] = async (sql, values) => {
    const undoes = isGoingBack(sql);
    const rows = await inTurn(async () => {
      if (progress.lost || !undoes) refuseFailed();
      refuseLate();
      return connection.query(sql, values);
    }, toFaultOf(sql));
    if (undoes) forgive();
    return rows;
  };

  const write = (sql: string, values: readonly SqlValue[], prove: (written: number) => void): Promise<void> =>
    inTurn(async () => {
      refuseFailed();
      refuseLate();
      prove(await connection.write(sql, values));
    }, toFaultOf(sql));

  return {
    all,
    run: async (sql, values) => {
      await all(sql, values);
    },
    send: (sql, values, prove = () => {}) => {
      write(sql, values, prove).catch(() => undefined);
    },
    execute: async (query) => {
      const result = await inTurn(() => connection.execute(query), toLentFault);
      if (isGoingBack(query.sql)) forgive();
      return result;
    },
    driver: connection.driver,
    pauseTime: pause,
    begin: (kind, timeLeftMs) =>
      inTurn(async () => {
        const [row] = await connection.script(beginOf(kind, timeLeftMs));
        if (row?.[0] === "on") throw Object.assign(new Error("the server is read-only"), { code: "25006" });
      }),
    commit: async () => {
      // A statement that nobody awaited may have failed, or have written fewer rows than it should.
      await last;
      refuseFailed();
      await inTurn(async () => {
        refuseLate();
        progress.committing = true;
        await connection.query("commit", []);
      });
    },
    rollback: () => inTurn(() => connection.query("rollback", [])),
  };
}
