/** The mirror's methods that call the service's API. */
import type { HandlerScope } from "../handlers/handler-scope.ts";
import { idOf } from "../queries/arguments.ts";
import { contractsOf } from "../queries/contracts.ts";
import type { MirroredContract, MirroredRefund } from "../queries/shapes.ts";
import type { SnapshotArrival } from "../receiver/arrival.ts";
import type { Verdict } from "../receiver/outcome.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { CallOptions } from "../client/http/call.ts";
import type { ContractInput } from "../client/input/contract-input.ts";
import type { RefundInput } from "../client/input/refund-input.ts";
import type { CommitParts } from "../receiver/commit.ts";
import { createCheckoutUrls, type CheckoutOptions } from "./checkout-urls.ts";
import { importContracts, type ContractIds, type Imported, type ImportOptions } from "./import-contracts.ts";
import type { MirrorClient } from "./mirror-client.ts";
import { tellOpenIntents } from "./open-intents.ts";
import { createContract, requestRefund } from "./own-calls.ts";
import { createReadContract } from "./read-contract.ts";
import { parseReconcileOptions, type ReconcileOptions } from "./reconcile-options.ts";
import { reconcile, type Reconciled } from "./reconcile.ts";
import { createTakeSnapshot } from "./take-snapshot.ts";

/** Reads of contracts at the service. Each needs the option `client` of `createMirror`. */
export interface ContractReads {
  /**
   * Reads the contract from the API, updates the mirror and resolves with the contract. If an event is newer than the
   * answer, the event wins.
   *
   * @throws EscrowApiError as `client.contracts.get`: status 404 if the service does not know the contract
   * @throws EscrowMirrorError `invalid-configuration` without a client; `invalid-response` if the answer is about another
   *   contract; `store-unavailable`; `inside-transaction`
   */
  refresh(
    contractId: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<MirroredContract>;
  /**
   * Imports contracts that existed before the mirror. If one fails, the others are still imported.
   *
   * @param ids an array, an iterable or an async iterable; it is read only as fast as contracts are imported
   * @throws EscrowMirrorError `invalid-configuration` without a client; `invalid-argument`; `inside-transaction`; the error
   *   of the 20th failed contract in a row, if the service or the store is down
   */
  import(ids: ContractIds, options?: ImportOptions): Promise<Imported>;
}

/** Contracts that are made through the mirror. Each call needs the option `client` of `createMirror`. */
export interface ContractActions {
  /**
   * Creates a contract, and resolves when the mirror has stored it. The mirror records the request before it sends it. So if
   * the answer is lost, the mirror still gets the contract from its webhook. The request is never sent twice.
   *
   * @param input as for `client.contracts.create`. Without a `reference` the mirror makes one
   * @throws EscrowApiError as `client.contracts.create`. After `outcome-unknown` wait for `contract.created`: it has the
   *   reference
   * @throws EscrowMirrorError `already-requested` while another contract with this reference is requested;
   *   `invalid-configuration` without a client; `store-unavailable`; `inside-transaction`
   */
  create(input: ContractInput, options?: CallOptions): Promise<CreatedInMirror>;
  /**
   * The page where the buyer pays. If this process got a page in the last nine minutes, it returns the same one. Otherwise
   * the service makes a new page, and the old one stops. Never store or log the URL.
   *
   * @throws EscrowApiError as `client.contracts.renewCheckout`
   * @throws EscrowMirrorError `invalid-argument` if the buyer's phone number is unknown; `invalid-configuration`
   *   without a client
   */
  checkoutUrl(contractId: string, options?: CheckoutOptions): Promise<string>;
}

/** A contract that was created through the mirror. */
export interface CreatedInMirror {
  /** The contract as it is in the mirror now. */
  readonly contract: MirroredContract;
  /** The payment page for the buyer. Its token is valid for ten minutes. Never store or log the URL. */
  readonly checkoutUrl: string;
}

/** Refunds that are requested through the mirror. They need the option `client` of `createMirror`. */
export interface RefundActions {
  /**
   * Requests a refund, and resolves when the mirror has its id. The mirror stores the refund as `requested` before it sends
   * the request. The request is never sent twice.
   *
   * @param input as for `client.contracts.refund`
   * @throws EscrowApiError as `client.contracts.refund`. After `outcome-unknown`, the refund's webhook or
   *   `contracts.refresh` shows the result
   * @throws EscrowMirrorError `already-requested` while another refund of the same contract or milestone is requested;
   *   `invalid-configuration` without a client; `store-unavailable`; `inside-transaction`
   */
  create(contractId: string, input: RefundInput, options?: CallOptions): Promise<MirroredRefund>;
}

export interface ServiceSurface {
  readonly contracts: ContractReads & ContractActions;
  readonly refunds: RefundActions;
  reconcile(options?: ReconcileOptions): Promise<Reconciled>;
}

export interface SurfaceParts {
  readonly commit: CommitParts;
  readonly scope: HandlerScope;
  readonly client: MirrorClient | undefined;
  readonly intentTimeoutMs: number;
  /** The receiver's. */
  readonly takeSnapshot: (snapshot: SnapshotArrival) => Promise<Verdict>;
}

export function createServiceSurface(parts: SurfaceParts): ServiceSurface {
  const { commit, scope, client, intentTimeoutMs } = parts;
  const { store, clock } = commit;
  const opened = client && openParts(parts, client);

  /** Each call names itself for the error. */
  function open(caller: string): Opened {
    scope.refuseInTransaction(caller);
    if (opened === undefined) throw noClient(caller);
    return opened;
  }

  return {
    contracts: {
      refresh: async (contractId, { signal } = {}) =>
        open("mirror.contracts.refresh()").refresh(idOf(contractId), signal),
      import: async (ids, options) => importContracts(open("mirror.contracts.import()"), ids, options),
      create: async (input, options = {}) => {
        const { urls, load } = open("mirror.contracts.create()");
        const created = await createContract(open("mirror.contracts.create()"), input, options);
        const contractId = idOf(created.contractId);
        urls.remember(contractId, created.checkoutUrl);
        const contract = found(await load(contractId), `contract ${contractId}`);
        return { contract, checkoutUrl: created.checkoutUrl };
      },
      checkoutUrl: async (contractId, options = {}) =>
        open("mirror.contracts.checkoutUrl()").urls.get(idOf(contractId), options),
    },
    refunds: {
      create: async (contractId, input, options = {}) => {
        const own = open("mirror.refunds.create()");
        const id = idOf(contractId);
        const refundId = await requestRefund(own, id, input, options);
        const contract = await own.load(id);
        const refund = contract?.refunds.find((each) => each.refundId === refundId);
        return found(refund, `refund ${refundId}`);
      },
    },
    reconcile: async (options = {}) => {
      const settings = parseReconcileOptions(options);
      const own = open("mirror.reconcile()");
      if (!settings.dryRun) await tellOpenIntents(commit, intentTimeoutMs);
      return reconcile({ ...own, store, clock }, settings);
    },
  };
}

type Opened = ReturnType<typeof openParts>;

/** The parts that the calls are made with. */
function openParts({ commit, takeSnapshot: take }: SurfaceParts, client: MirrorClient) {
  const { store, clock } = commit;
  const readContract = createReadContract(client, clock);
  const takeSnapshot = createTakeSnapshot(take);
  const load = async (contractId: string): Promise<MirroredContract | undefined> =>
    (await store.read((reader) => contractsOf(reader, [contractId]))).get(contractId);
  const refresh = async (contractId: string, signal: AbortSignal | undefined): Promise<MirroredContract> => {
    await takeSnapshot(await readContract(contractId, signal));
    return found(await load(contractId), `contract ${contractId}`);
  };
  const urls = createCheckoutUrls({ client, clock, load, refresh });
  return { commit, client, readContract, takeSnapshot, load, refresh, urls };
}

function found<Row>(row: Row | undefined, what: string): Row {
  if (row !== undefined) return row;
  throw new EscrowMirrorError("not-found", `${what} was stored and is not there any more`);
}

function noClient(caller: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "invalid-configuration",
    `${caller} calls the service's API: pass createMirror the option client, such as createClient({ … }) of escrow-mirror/client`,
  );
}
