import type { ContractAction } from "./service/machine.ts";
import type { FaultCounts, FaultOptions } from "./world/faults.ts";
import type { SmsRecord, SubscriptionRecord, UserRecord } from "./world/records.ts";
import type { SandboxContract, SandboxDelivery, SandboxRefund } from "./control/truth.ts";

/** A running sandbox. What a call throws is a `SandboxError`; see its codes. */
export interface Sandbox extends AsyncDisposable {
  /** `http://127.0.0.1:4010`: the address that is really bound. */
  readonly baseUrl: string;
  /** What the server is bound to: `host` as an address, `port` as it really is. */
  readonly address: { host: string; port: number };
  /** Where `POST /connect/token` is: the same. */
  readonly authUrl: string;
  /** The page on which a person does all that code can do here. */
  readonly controlUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The signing secret at present: another one after `regenerate-secret`. */
  readonly webhookSecret: string;

  /**
   * Does what has no endpoint. With `milestoneId` to one milestone.
   * Throws `action-forbidden` when the status does not allow it, `not-found` for an unknown id.
   */
  act(
    contractId: string,
    action: ContractAction,
    on?: { milestoneId?: number | string },
  ): Promise<SandboxContract>;
  /** The bank has paid the buyer back. Throws `action-forbidden` when it had already. */
  settleRefund(refundId: number | string): Promise<SandboxRefund>;

  /** The sandbox's own truth, to compare a mirror with. */
  readonly contracts: {
    list(): Promise<SandboxContract[]>;
    get(contractId: string): Promise<SandboxContract | undefined>;
  };
  readonly refunds: { list(): Promise<SandboxRefund[]> };
  readonly users: {
    list(): Promise<UserRecord[]>;
    /** Changes what §4.4's checks see: `authorized`, `bankVerified`, `ibanResolves`, `known`. */
    set(platformRefId: string, change: UserChange): Promise<UserRecord>;
  };
  readonly subscription: {
    /** Undefined while nobody is subscribed. */
    get(): Promise<SubscriptionRecord | undefined>;
    /** Subscribes, moves or re-enables, as `POST /apps/api/webhooks` does. */
    set(webhookUrl: string): Promise<SubscriptionRecord>;
  };
  readonly deliveries: {
    /** Every webhook, oldest first, with all attempts. */
    list(filter?: {
      contractId?: string;
      event?: string;
      state?: SandboxDelivery["state"];
    }): Promise<SandboxDelivery[]>;
    /** Sends once more, now, with the same id and bytes: a new series of attempts. */
    resend(webhookId: string): Promise<void>;
    /**
     * Resolves when nothing is due or under way. On a real clock what a fault delays, copies or holds back counts
     * as due; retries never do.
     */
    idle(): Promise<void>;
    /** Resolves when no retry is pending either. On a manual clock somebody has to advance it meanwhile. */
    drained(): Promise<void>;
    /** How many attempts are scheduled. */
    pending(): number;
  };
  readonly faults: {
    /** Replaces the faults. One seed repeats them. Throws a RangeError on a wrong value. */
    set(faults: FaultOptions, options?: { seed?: number }): void;
    get(): FaultOptions & { seed: number };
    /** What they did since the start. */
    counts(): FaultCounts;
    /** No more faults; the counts stay. */
    clear(): void;
  };
  readonly clock: {
    /** Milliseconds since 1970. */
    now(): number;
    /** Moves time on and runs all that falls due, in order; see `manualClock`. */
    advance(ms: number): Promise<void>;
  };
  /** The text messages that the service would have sent. */
  readonly sms: { list(): Promise<SmsRecord[]> };
  readonly tokens: {
    /** Every access token issued so far is answered 401 from now on. */
    revoke(): void;
  };
  /** Stops listening, lets attempts under way end, and closes the files. */
  close(): Promise<void>;
}

export type UserChange = Partial<Pick<UserRecord, "authorized" | "bankVerified" | "ibanResolves" | "known">>;
