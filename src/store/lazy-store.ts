import { EscrowMirrorError, isEscrowMirrorError } from "../shared/errors.ts";
import type { Store } from "./store.ts";

export interface LazyStore<Built extends Store> {
  readonly store: Store;
  /** The built value. Throws while it is not open. */
  readonly opened: () => Built;
}

/** A value that is built once, however many open it at the same time. */
interface Building<Built> {
  readonly built: Promise<Built>;
  /** Once it is there. */
  store?: Built;
  /** How many opened it, or are about to. */
  openers: number;
}

/** A store whose driver is loaded and connected when it is opened, so that naming a store costs nothing. */
export function createLazyStore<Built extends Store>(
  description: string,
  build: () => Promise<Built>,
): LazyStore<Built> {
  let building: Building<Built> | undefined;
  let closed = false;

  const opened = (): Built => {
    if (building?.store !== undefined) return building.store;
    if (closed) throw new EscrowMirrorError("closed", `${description} is closed, and the mirror with it`);
    throw new EscrowMirrorError("store-unavailable", `${description} is not open: createMirror opens it`);
  };

  const close = async (): Promise<void> => {
    const closing = building;
    building = undefined;
    closed = true;
    // A value that is still being built is closed once it is there.
    const built = await closing?.built.catch(() => undefined);
    await built?.close();
  };

  const named = (error: unknown): never => {
    if (!isEscrowMirrorError(error, "store-unavailable")) throw error as Error;
    throw new EscrowMirrorError("store-unavailable", `${description}: ${error.message}`, { cause: error });
  };

  /** A start that is refused leaves no connection behind, unless another one goes on. */
  const giveUp = async (mine: Building<Built>): Promise<void> => {
    mine.openers--;
    if (mine.openers > 0 || building !== mine) return;
    if (mine.store === undefined) building = undefined;
    else await close();
  };

  const store: Store = {
    description,
    get db() {
      return opened().db;
    },
    open: async (options) => {
      const mine = (building ??= { built: build().catch(named), openers: 0 });
      mine.openers++;
      closed = false;
      try {
        mine.store = await mine.built;
        await mine.store.open(options);
      } catch (error) {
        await giveUp(mine);
        throw error;
      }
    },
    transaction: async (work) => opened().transaction(work),
    read: async (work) => opened().read(work),
    get lookEveryMs() {
      return opened().lookEveryMs;
    },
    nextJobAt: async (handlers) => opened().nextJobAt(handlers),
    get listen() {
      return opened().listen;
    },
    get upkeep() {
      return opened().upkeep;
    },
    close,
  };
  return { store, opened };
}
