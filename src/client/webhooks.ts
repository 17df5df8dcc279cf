import type { Api } from "./api.ts";
import { allLogs } from "./all-logs.ts";
import { deleted, logPage, queuedTest, regeneratedSecret, subscription } from "./answer/read.ts";
import type {
  QueuedTest,
  RegeneratedSecret,
  WebhookLogEntry,
  WebhookLogPage,
  WebhookSubscription,
} from "./answer/webhook.ts";
import type { CallOptions } from "./http/call.ts";
import { checkInput } from "./input/check.ts";
import { logsSchema, webhookSchema } from "./input/webhook-input.ts";
import type { AllLogsInput, LogsInput, WebhookInput } from "./input/webhook-input.ts";

/** Calls about your webhook subscription. Each rejects with an `EscrowApiError`. */
export interface WebhookCalls {
  /** Asks for a delivery of `webhook.test`. */
  test(options?: CallOptions): Promise<QueuedTest>;
  /** Reads one page of the delivery log. */
  logs(input?: LogsInput, options?: CallOptions): Promise<WebhookLogPage>;
  /**
   * All entries of the delivery log. It reads a page when you need it. If an entry moves to the next page meanwhile, you
   * get it only once.
   */
  allLogs(input?: AllLogsInput, options?: CallOptions): AsyncIterableIterator<WebhookLogEntry>;
  /** Reads the subscription. Rejects with `error-response` and status 404 if there is none. */
  get(options?: CallOptions): Promise<WebhookSubscription>;
  /** Subscribes, or changes the URL. It also makes a disabled subscription active again. */
  update(input: WebhookInput, options?: CallOptions): Promise<WebhookSubscription>;
  /** Makes a new signing secret. The old one stops at once. Deliveries on the way can have either signature. */
  regenerateSecret(options?: CallOptions): Promise<RegeneratedSecret>;
  /** Removes the subscription: no more webhooks. */
  delete(options?: CallOptions): Promise<true>;
}

const findOut = "Read the subscription with webhooks.get().";

export function webhookCalls(api: Api): WebhookCalls {
  const logs: WebhookCalls["logs"] = async (input = {}, options) => {
    const query = checkInput("webhooks.logs", logsSchema, input);
    return api.send(
      { name: "webhooks.logs", method: "GET", path: "/webhooks/logs", query, read: logPage },
      options,
    );
  };
  return {
    logs,
    allLogs: (input = {}, options) => allLogs(input, (page) => logs(page, options)),
    test: async (options) =>
      api.send(
        {
          name: "webhooks.test",
          method: "POST",
          path: "/webhooks/test",
          read: queuedTest,
          findOut: "Another test does no harm.",
        },
        options,
      ),
    get: async (options) =>
      api.send({ name: "webhooks.get", method: "GET", path: "/webhooks", read: subscription }, options),
    update: async (input, options) => {
      const body = checkInput("webhooks.update", webhookSchema, input);
      const name = "webhooks.update";
      return api.send(
        { name, method: "POST", path: "/webhooks", body, read: subscription, findOut },
        options,
      );
    },
    regenerateSecret: async (options) =>
      api.send(
        {
          name: "webhooks.regenerateSecret",
          method: "POST",
          path: "/webhooks/regenerate-secret",
          read: regeneratedSecret,
          findOut,
        },
        options,
      ),
    delete: async (options) =>
      api.send(
        { name: "webhooks.delete", method: "DELETE", path: "/webhooks", read: deleted, findOut },
        options,
      ),
  };
}
