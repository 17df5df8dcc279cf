import { EscrowMirrorError } from "../shared/errors.ts";
import type { Store } from "./store.ts";

/** A store whose driver is loaded and connected when it is opened, so that naming a store costs nothing. */
export function createLazyStore(description: string, build: () => Promise<Store>): Store {
  let built: Store | undefined;
  const opened = (): Store => {
    if (built === undefined)
      throw new EscrowMirrorError("store-unavailable", `${description} is not open: createMirror opens it`);
    return built;
  };
  return {
    description,
    get db() {
      return opened().db;
    },
    open: async (options) => {
      built ??= await build();
      await built.open(options);
    },
    transaction: async (work) => opened().transaction(work),
    read: async (work) => opened().read(work),
    close: async () => {
      await built?.close();
      built = undefined;
    },
  };
}
