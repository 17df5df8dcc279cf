/** A store of which some calls fail, as a fault of the driver or a bug of ours would make them. */
import { EscrowMirrorError } from "../../src/shared/errors.ts";
import type { Store, StoreTransaction } from "../../src/store/store.ts";
import { withTransactions } from "./mirror.ts";

export interface Failing {
  readonly store: Store;
  /** What the failing calls throw; `undefined` for none. */
  fault: Error | undefined;
}

/** Of each transaction the calls fail that `isHit` picks, while there is a `fault`. */
export function failing(inner: Store, isHit: (call: keyof StoreTransaction, values: unknown[]) => boolean) {
  const state = { fault: undefined as Error | undefined };
  const watch = (tx: StoreTransaction): StoreTransaction =>
    new Proxy(tx, {
      get: (target, call: keyof StoreTransaction) => {
        const method = target[call] as unknown;
        if (typeof method !== "function") return method;
        return async (...values: unknown[]) => {
          if (state.fault !== undefined && isHit(call, values)) throw state.fault;
          return (method as (...given: unknown[]) => unknown).apply(target, values);
        };
      },
    });
  const store = withTransactions(inner, (work) => inner.transaction((tx) => work(watch(tx))));
  return Object.assign(state, { store });
}

export const down = new EscrowMirrorError("store-unavailable", "the server is read-only");

/** A store whose writes fail once `left` more of them are through. */
export function limited(inner: Store) {
  const state = { left: Number.POSITIVE_INFINITY };
  const store = withTransactions(inner, async (work) => {
    if (state.left-- <= 0) throw down;
    return inner.transaction(work);
  });
  return Object.assign(state, { store });
}
