import type { CallOptions } from "../client/http/call.ts";
import type { Contract } from "../client/answer/contract.ts";
import type { WebhookLogEntry } from "../client/answer/webhook.ts";

/** The calls of a client that the mirror makes. `createClient()` returns one; so may your own code. */
export interface MirrorClient {
  /** Calls about contracts. */
  readonly contracts: {
    /** Reads a contract. It calls `options.onAnswer` with the answer's `Date`: without that the mirror can't place the answer in time. */
    get(contractId: string, options?: CallOptions): Promise<Contract>;
  };
  /** Calls about the webhook subscription. */
  readonly webhooks: {
    /** Every entry of the delivery log, newest first. */
    allLogs(input?: object, options?: CallOptions): AsyncIterable<WebhookLogEntry>;
  };
}
