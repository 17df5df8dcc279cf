import type { CallOptions } from "../client/http/call.ts";
import type { ContractCalls } from "../client/contracts.ts";
import type { WebhookLogEntry } from "../client/answer/webhook.ts";
import type { WebhookCalls } from "../client/webhooks.ts";

/** The calls of a client that the mirror makes. `createClient()` returns one. You can also write your own. */
export interface MirrorClient {
  /**
   * Calls about contracts. `get` and `create` must call `options.onAnswer` with the answer's `Date`. The mirror needs this
   * time to order the answer among the events. A call that changes something rejects with `outcome-unknown`, unless the
   * service certainly did nothing.
   */
  readonly contracts: Pick<ContractCalls, "create" | "get" | "refund" | "renewCheckout">;
  /** Calls about the webhook subscription. `rotateSecret` and `startWatchdog` need those that may be missing. */
  readonly webhooks: SubscriptionCalls & {
    /** Every entry of the delivery log, newest first. */
    allLogs(input?: object, options?: CallOptions): AsyncIterable<WebhookLogEntry>;
  };
}

/** Calls about the subscription itself. */
export type SubscriptionCalls = Partial<Pick<WebhookCalls, "get" | "update" | "regenerateSecret">>;
