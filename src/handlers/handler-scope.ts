/** Knows whether code runs inside a handler. Some calls would deadlock there: they wait for the handler that calls them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Store, StoreTransaction } from "../store/store.ts";

/** One run of a handler. */
interface Running {
  readonly mirror: object;
  /** The delivery's transaction; `undefined` inside a job. */
  readonly tx: StoreTransaction | undefined;
  isOver: boolean;
}

const runs = new AsyncLocalStorage<Running>();

export interface HandlerScope {
  /** Runs a handler with reads in its transaction. */
  transaction<T>(tx: StoreTransaction, work: () => Promise<T>): Promise<T>;
  job<T>(work: () => Promise<T>): Promise<T>;
  isInTransaction(): boolean;
  /** @throws EscrowMirrorError `inside-transaction` inside a handler's transaction. `what` names the call. */
  refuseInTransaction(what: string): void;
  /** The same, but inside any handler. */
  refuseInHandler(what: string): void;
  /** Wraps a store: inside a handler's transaction, reads go through that transaction, and writes are refused. */
  wrap(store: Store): Store;
}

export function createHandlerScope(): HandlerScope {
  const mirror = {};
  const current = (): Running | undefined => {
    const running = runs.getStore();
    return running?.mirror === mirror && !running.isOver ? running : undefined;
  };
  const run = async <T>(tx: StoreTransaction | undefined, work: () => Promise<T>): Promise<T> => {
    const running: Running = { mirror, tx, isOver: false };
    try {
      return await runs.run(running, work);
    } finally {
      running.isOver = true;
    }
  };
  return {
    transaction: (tx, work) => run(tx, work),
    job: (work) => run(undefined, work),
    isInTransaction: () => current()?.tx !== undefined,
    refuseInTransaction: (what) => {
      if (current()?.tx !== undefined) throw refusal(what);
    },
    refuseInHandler: (what) => {
      if (current() !== undefined) throw refusal(what);
    },
    wrap: (store) =>
      Object.create(store, {
        read: {
          value: <T>(work: Parameters<Store["read"]>[0]) => {
            const tx = current()?.tx;
            return (tx === undefined ? store.read(work) : work(tx)) as Promise<T>;
          },
        },
        transaction: {
          value: async <T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> => {
            if (current()?.tx !== undefined) throw refusal("a change of the mirror");
            return store.transaction(work);
          },
        },
      }) as Store,
  };
}

function refusal(what: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "inside-transaction",
    `${what} can't be called inside a handler: it would wait for that handler. Call it outside`,
  );
}
