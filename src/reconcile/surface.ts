/** The mirror's methods that call the service's API. */
import type { Inside } from "../handlers/inside.ts";
import { idOf } from "../queries/arguments.ts";
import { contractsOf } from "../queries/contracts.ts";
import type { MirroredContract } from "../queries/shapes.ts";
import type { SnapshotArrival } from "../receiver/arrival.ts";
import type { Verdict } from "../receiver/outcome.ts";
import type { Clock } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Store } from "../store/store.ts";
import { importContracts, type ContractIds, type Imported, type ImportOptions } from "./import-contracts.ts";
import type { MirrorClient } from "./mirror-client.ts";
import { createReadContract } from "./read-contract.ts";
import { parseReconcileOptions, type ReconcileOptions } from "./reconcile-options.ts";
import { reconcile, type Reconciled } from "./reconcile.ts";
import { createTakeSnapshot } from "./take-snapshot.ts";

/** Reads of contracts at the service. Each needs the option `client` of `createMirror`. */
export interface ContractReads {
  /**
   * Reads the contract from the API, folds the answer in and resolves with the contract. An event that is newer than the answer
   * wins.
   *
   * @throws EscrowApiError as `client.contracts.get`: status 404 where the service does not know the contract
   * @throws EscrowMirrorError `invalid-configuration` without a client; `invalid-response` where the answer is of another contract;
   *   `store-unavailable`; `inside-transaction`
   */
  refresh(
    contractId: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<MirroredContract>;
  /**
   * Reads contracts that existed before the mirror. One that fails keeps none of the others from being imported.
   *
   * @param ids an array, or an iterable, async too: the next id is taken when there is room for it
   * @throws EscrowMirrorError `invalid-configuration` without a client; `invalid-argument`; `inside-transaction`; what the 20th
   *   contract in a row failed with, where the service or the store is down
   */
  import(ids: ContractIds, options?: ImportOptions): Promise<Imported>;
}

export interface ServiceSurface {
  readonly contracts: ContractReads;
  reconcile(options?: ReconcileOptions): Promise<Reconciled>;
}

export interface SurfaceParts {
  readonly store: Store;
  readonly inside: Inside;
  readonly clock: Clock;
  readonly client: MirrorClient | undefined;
  /** The receiver's. */
  readonly takeSnapshot: (snapshot: SnapshotArrival) => Promise<Verdict>;
}

export function createServiceSurface({
  store,
  inside,
  clock,
  client,
  takeSnapshot: take,
}: SurfaceParts): ServiceSurface {
  /** The client for the calls. Each call passes its own name, for errors. */
  function open(caller: string) {
    inside.refuseInTransaction(caller);
    if (client === undefined) throw noClient(caller);
    const readContract = createReadContract(client, clock);
    return { store, clock, client, readContract, takeSnapshot: createTakeSnapshot(take) };
  }
  return {
    contracts: {
      refresh: async (contractId, { signal } = {}) => {
        const { readContract, takeSnapshot } = open("mirror.contracts.refresh()");
        const id = idOf(contractId);
        await takeSnapshot(await readContract(id, signal));
        const found = (await store.read((reader) => contractsOf(reader, [id]))).get(id);
        if (found !== undefined) return found;
        throw new EscrowMirrorError("not-found", `contract ${id} was read and is gone again`);
      },
      import: async (ids, options) => importContracts(open("mirror.contracts.import()"), ids, options),
    },
    reconcile: async (options = {}) => {
      const parts = open("mirror.reconcile()");
      return reconcile(parts, parseReconcileOptions(options));
    },
  };
}

function noClient(caller: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "invalid-configuration",
    `${caller} calls the service's API: pass createMirror the option client, such as createClient({ … }) of escrow-mirror/client`,
  );
}
