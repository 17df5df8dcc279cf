/** The calls about the subscription, and what their answers mean. */
import type { WebhookSubscription } from "../client/answer/webhook.ts";
import type { MirrorClient, SubscriptionCalls } from "../reconcile/mirror-client.ts";
import { EscrowMirrorError, isEscrowMirrorError } from "../shared/errors.ts";
import { settle } from "../shared/result.ts";

type SubscriptionCall = keyof SubscriptionCalls;

/**
 * The calls that a feature needs.
 *
 * @throws EscrowMirrorError `invalid-configuration` that names what the client lacks
 */
export function callsFor<Needed extends SubscriptionCall>(
  caller: string,
  client: MirrorClient | undefined,
  needed: readonly Needed[],
): Required<Pick<SubscriptionCalls, Needed>> {
  if (client === undefined)
    throw new EscrowMirrorError(
      "invalid-configuration",
      `${caller} calls the service's API: pass createMirror the option client, such as createClient({ … }) of escrow-mirror/client`,
    );
  const calls: SubscriptionCalls = client.webhooks;
  const missing = needed.filter((name) => typeof calls[name] !== "function");
  if (missing.length > 0)
    throw new EscrowMirrorError(
      "invalid-configuration",
      `${caller} needs calls that your client does not have: ${missing.map((name) => `webhooks.${name}`).join(", ")}. createClient() of escrow-mirror/client has them`,
    );
  return calls as Required<Pick<SubscriptionCalls, Needed>>;
}

/** `no-read`: the service has no subscription, or no way to read it. Its status is `null` if a client of the app's own gave nothing. */
export type SubscriptionRead =
  | { readonly kind: "read"; readonly subscription: WebhookSubscription }
  | { readonly kind: "no-read"; readonly status: number | null }
  | { readonly kind: "failed"; readonly error: unknown };

export async function readSubscription(
  { get }: Required<Pick<SubscriptionCalls, "get">>,
  signal?: AbortSignal,
): Promise<SubscriptionRead> {
  const read = await settle(() => get({ signal }));
  if (read.ok && isObject(read.value)) return { kind: "read", subscription: read.value };
  if (read.ok) return { kind: "no-read", status: null };
  const { status } = (read.error ?? {}) as { readonly status?: unknown };
  if (status === 404 || status === 405 || status === 501) return { kind: "no-read", status };
  return { kind: "failed", error: read.error };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Whether the service certainly did nothing. An app's own client may throw anything: then it is not certain. */
export function certainlyUndone(error: unknown): boolean {
  return isEscrowMirrorError(
    error,
    "error-response",
    "unreachable",
    "aborted",
    "no-token",
    "invalid-argument",
  );
}
