import type { CallOptions } from "../client/http/call.ts";
import type { ContractCalls } from "../client/contracts.ts";
import type { WebhookLogEntry } from "../client/answer/webhook.ts";
import type { WebhookCalls } from "../client/webhooks.ts";

/** The calls that the mirror needs of a client. `createClient()` returns such a client. You can also write your own. */
export interface MirrorClient {
  /**
   * Calls about contracts. `get` and `create` must call `options.onAnswer` with the answer's `Date`. The mirror needs this
   * time to order the answer among the events. If a call that changes something fails, it must reject with
   * `outcome-unknown`, unless the service certainly did nothing.
   */
  readonly contracts: Pick<ContractCalls, "create" | "get" | "refund" | "renewCheckout">;
  /** Calls about the webhook subscription. `allLogs` is required. `rotateSecret` and `startWatchdog` need the others. */
  readonly webhooks: SubscriptionCalls & {
    /** Every entry of the delivery log, newest first. */
    allLogs(input?: object, options?: CallOptions): AsyncIterable<WebhookLogEntry>;
  };
}

/** Calls about the subscription itself. */
export type SubscriptionCalls = Partial<Pick<WebhookCalls, "get" | "update" | "regenerateSecret">>;
