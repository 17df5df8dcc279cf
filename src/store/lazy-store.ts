import { EscrowMirrorError, isEscrowMirrorError } from "../shared/errors.ts";
import type { Store } from "./store.ts";

/** A store whose driver is loaded and connected when it is opened, so that naming a store costs nothing. */
export function createLazyStore(description: string, build: () => Promise<Store>): Store {
  let built: Store | undefined;
  let closed = false;
  const opened = (): Store => {
    if (built !== undefined) return built;
    if (closed) throw new EscrowMirrorError("closed", `${description} is closed, and the mirror with it`);
    throw new EscrowMirrorError("store-unavailable", `${description} is not open: createMirror opens it`);
  };
  const close = async (): Promise<void> => {
    const store = built;
    built = undefined;
    closed = true;
    await store?.close();
  };
  const named = (error: unknown): never => {
    if (!isEscrowMirrorError(error, "store-unavailable")) throw error as Error;
    throw new EscrowMirrorError("store-unavailable", `${description}: ${error.message}`, { cause: error });
  };
  return {
    description,
    get db() {
      return opened().db;
    },
    open: async (options) => {
      const store = (built ??= await build().catch(named));
      closed = false;
      // A start that is refused leaves no connection behind.
      await store.open(options).catch((error: unknown) => close().then(() => Promise.reject(error as Error)));
    },
    transaction: async (work) => opened().transaction(work),
    read: async (work) => opened().read(work),
    close,
  };
}
