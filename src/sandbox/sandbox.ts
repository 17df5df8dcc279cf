import type { ContractInput, RefundInput } from "./control/input.ts";
import type { SandboxContract, SandboxRefund } from "./control/truth.ts";
import type { UserChange } from "./control/user-changes.ts";
import type { ContractAction } from "./service/machine.ts";
import type { FaultOptions } from "./world/fault-options.ts";
import type { FaultCounts } from "./world/faults.ts";
import type { SmsRecord, SubscriptionRecord, UserRecord } from "./world/records.ts";
import type { SandboxDelivery } from "./world/shown-delivery.ts";

/** A running sandbox. Its calls throw a `SandboxError` or reject with one. */
export interface Sandbox extends AsyncDisposable {
  /** The address of the API, such as `http://127.0.0.1:4010`. */
  readonly baseUrl: string;
  /** Where the server listens. */
  readonly address: {
    /** An IP address. */
    host: string;
    /** Never 0. */
    port: number;
  };
  /** The address of the token endpoint, without `/connect/token`. The same as `baseUrl`. */
  readonly authUrl: string;
  /** The address of the control page. */
  readonly controlUrl: string;
  /** For the token request. */
  readonly clientId: string;
  /** For the token request. */
  readonly clientSecret: string;
  /** Signs the webhooks now. `regenerate-secret` changes it. */
  readonly webhookSecret: string;

  /**
   * Creates a contract, as `POST /apps/api/contracts` would. Without `input` it is an example with two milestones.
   * Rejects with `invalid-argument`, naming each wrong field.
   * @example
   * const { contractId, checkoutUrl } = await sandbox.createContract();
   */
  createContract(input?: ContractInput): Promise<SandboxContract>;
  /**
   * Runs an action that the API does not have: approve, reject, cancel, pay, release, dispute, complete. With `milestoneId`
   * it acts on this milestone. Rejects with `action-forbidden` when the status does not allow it, with `not-found` for an
   * unknown id.
   * @example
   * await sandbox.act(contractId, "pay");
   */
  act(
    contractId: string,
    action: ContractAction,
    on?: { milestoneId?: number | string },
  ): Promise<SandboxContract>;
  /**
   * Requests a refund, as `POST /apps/api/contracts/{id}/refund` would, for the contract's client. Rejects with
   * `action-forbidden` when the contract or the buyer does not allow it (`messageKey` says why), with `invalid-argument`
   * for a wrong field, with `not-found` for an unknown id.
   */
  requestRefund(contractId: string, input: RefundInput): Promise<SandboxRefund>;
  /**
   * Lets the bank pay the buyer back. Rejects with `action-forbidden` if the bank has already paid, with `not-found` for an
   * unknown id.
   */
  settleRefund(refundId: number | string): Promise<SandboxRefund>;

  /** The contracts of all clients, to compare a mirror with. */
  readonly contracts: {
    /** In the order of their creation. */
    list(): Promise<SandboxContract[]>;
    /** Resolves with `undefined` for an unknown id. */
    get(contractId: string): Promise<SandboxContract | undefined>;
  };
  /** The refunds of all contracts. */
  readonly refunds: {
    /** Oldest first. */
    list(): Promise<SandboxRefund[]>;
  };
  /** Buyers and sellers. */
  readonly users: {
    /** In the order in which they became known. */
    list(): Promise<UserRecord[]>;
    /**
     * Changes the user's rights, which are checked before a refund. Rejects with `not-found` for an unknown id.
     * @example
     * await sandbox.users.set(buyer, { bankVerified: false });
     */
    set(platformRefId: string, change: UserChange): Promise<UserRecord>;
  };
  /** The webhook subscription of the first client. */
  readonly subscription: {
    /** Resolves with `undefined` while there is none. */
    get(): Promise<SubscriptionRecord | undefined>;
    /**
     * Creates, changes or re-enables it, as `POST /apps/api/webhooks` would. Rejects with `invalid-argument` unless the
     * URL is http or https.
     */
    set(webhookUrl: string): Promise<SubscriptionRecord>;
  };
  /** The webhooks, to all clients. */
  readonly deliveries: {
    /** Oldest first, with all attempts. */
    list(filter?: {
      contractId?: string;
      event?: string;
      state?: SandboxDelivery["state"];
    }): Promise<SandboxDelivery[]>;
    /** Sends it again now, with the same id and bytes, and with new retries. Rejects with `not-found` for an unknown id. */
    resend(webhookId: string): Promise<void>;
    /**
     * Resolves when no delivery is due and no attempt is running. On a real clock it also waits for deliveries that a
     * fault delays. It never waits for retries.
     */
    idle(): Promise<void>;
    /** Like `idle`, but waits for retries too. On a manual clock, call `advance` meanwhile. */
    drained(): Promise<void>;
    /** How many attempts are scheduled. */
    pending(): number;
  };
  /** Things that go wrong on purpose. */
  readonly faults: {
    /**
     * Replaces the faults. The same `seed` repeats them; default 1. Throws `invalid-argument` for a wrong value.
     * @example
     * sandbox.faults.set({ duplicate: 0.2, drop: 0.05 }, { seed: 7 });
     */
    set(faults: FaultOptions, options?: { seed?: number }): void;
    /** The faults now, with their seed. */
    get(): FaultOptions & {
      /** The seed of the random choices. */
      seed: number;
    };
    /** How often each fault happened since the start. */
    counts(): FaultCounts;
    /** Ends all faults; the counts stay. */
    clear(): void;
  };
  /** The sandbox's time. */
  readonly clock: {
    /** Milliseconds since 1970-01-01T00:00:00Z. */
    now(): number;
    /**
     * Moves the time on by `ms`, and runs everything that becomes due meanwhile, in order. Resolves when this has ended. Rejects
     * with `invalid-argument` for a negative time.
     */
    advance(ms: number): Promise<void>;
  };
  /** Text messages that the service would have sent. */
  readonly sms: {
    /** Oldest first. */
    list(): Promise<SmsRecord[]>;
  };
  /** The access tokens. */
  readonly tokens: {
    /** Makes every token issued so far invalid: requests with one get 401. */
    revoke(): void;
  };
  /** Stops the server. Running attempts get one second to end. You can call it again. */
  close(): Promise<void>;
}
