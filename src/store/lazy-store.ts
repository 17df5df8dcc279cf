import { EscrowMirrorError, isEscrowMirrorError } from "../shared/errors.ts";
import type { Store } from "./store.ts";

export interface LazyStore<Built extends Store> {
  readonly store: Store;
  /** What was built; throws while it is not open. */
  readonly opened: () => Built;
}

/** A store whose driver is loaded and connected when it is opened, so that naming a store costs nothing. */
export function createLazyStore<Built extends Store>(
  description: string,
  build: () => Promise<Built>,
): LazyStore<Built> {
  let built: Built | undefined;
  let closed = false;
  const opened = (): Built => {
    if (built !== undefined) return built;
    if (closed) throw new EscrowMirrorError("closed", `${description} is closed, and the mirror with it`);
    throw new EscrowMirrorError("store-unavailable", `${description} is not open: createMirror opens it`);
  };
  const close = async (): Promise<void> => {
    const closing = built;
    built = undefined;
    closed = true;
    await closing?.close();
  };
  const named = (error: unknown): never => {
    if (!isEscrowMirrorError(error, "store-unavailable")) throw error as Error;
    throw new EscrowMirrorError("store-unavailable", `${description}: ${error.message}`, { cause: error });
  };
  const store: Store = {
    description,
    get db() {
      return opened().db;
    },
    open: async (options) => {
      const opening = (built ??= await build().catch(named));
      closed = false;
      // A start that is refused leaves no connection behind.
      await opening
        .open(options)
        .catch((error: unknown) => close().then(() => Promise.reject(error as Error)));
    },
    transaction: async (work) => opened().transaction(work),
    read: async (work) => opened().read(work),
    close,
  };
  return { store, opened };
}
