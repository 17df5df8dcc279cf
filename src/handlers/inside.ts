/** Knows whether code runs inside a handler. Some calls would deadlock there: they wait for the handler that calls them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Store, StoreTransaction } from "../store/store.ts";

interface Scope {
  readonly mirror: object;
  /** The delivery's transaction; `undefined` inside a job. */
  readonly tx: StoreTransaction | undefined;
  isOver: boolean;
}

const scopes = new AsyncLocalStorage<Scope>();

export interface Inside {
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

export function createInside(): Inside {
  const mirror = {};
  const current = (): Scope | undefined => {
    const scope = scopes.getStore();
    return scope?.mirror === mirror && !scope.isOver ? scope : undefined;
  };
  const run = async <T>(tx: StoreTransaction | undefined, work: () => Promise<T>): Promise<T> => {
    const scope: Scope = { mirror, tx, isOver: false };
    try {
      return await scopes.run(scope, work);
    } finally {
      scope.isOver = true;
    }
  };
  return {
    transaction: (tx, work) => run(tx, work),
    job: (work) => run(undefined, work),
    isInTransaction: () => current()?.tx !== undefined,
    refuseInTransaction: (what) => refuse(current()?.tx === undefined ? undefined : current(), what),
    refuseInHandler: (what) => refuse(current(), what),
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
            refuse(current()?.tx === undefined ? undefined : current(), "a change of the mirror");
            return store.transaction(work);
          },
        },
      }) as Store,
  };
}

function refuse(scope: Scope | undefined, what: string): void {
  if (scope === undefined) return;
  throw new EscrowMirrorError(
    "inside-transaction",
    `${what} can't be called inside a handler: it would wait for that handler. Call it outside`,
  );
}
