/** One look at the subscription. It warns of failures, enables a disabled subscription again, and reads what was missed. */
import type { WebhookSubscription } from "../client/answer/webhook.ts";
import type { SubscriptionCalls } from "../reconcile/mirror-client.ts";
import { toIsoTime } from "../shared/clock.ts";
import { nameOfError } from "../shared/errors.ts";
import { settle } from "../shared/result.ts";
import { createAlarm, lower, type Warn } from "./alarm.ts";
import type { Lease } from "./lease.ts";
import { loadSeen, noteSeen, type Seen } from "./seen.ts";
import { readSubscription } from "./subscription.ts";
import type { WatchdogParts } from "./watchdog.ts";

export interface RoundParts extends WatchdogParts {
  readonly calls: Required<Pick<SubscriptionCalls, "get" | "update">>;
  readonly lease: Lease;
  readonly warn: Warn;
  readonly signal: AbortSignal;
}

/** How long `health()` asks a person to import contracts. */
const importMs = 86_400_000;

/** @returns runs one round; it never rejects */
export function createRound(parts: RoundParts): () => Promise<void> {
  const { store, clock, calls, lease, signal, ownFailures, reconcile } = parts;
  const { raise, judgeFailures } = createAlarm(clock, parts.warn);

  async function round(): Promise<void> {
    const seen = await store.read(loadSeen);
    seen.seenAt = toIsoTime(clock.now());
    const read = await readSubscription(calls, signal);
    if (signal.aborted) return;
    switch (read.kind) {
      case "failed":
        raise(seen, "service-unreachable", unreachable("read", read.error));
        break;
      case "no-read":
        lower(seen, "service-unreachable");
        raise(seen, "no-subscription", noSubscription(read.status));
        judgeFailures(seen, ownFailures(), "the mirror's own count");
        break;
      case "read":
        lower(seen, "service-unreachable", "no-subscription");
        await judge(seen, read.subscription);
    }
    await noteSeen(store, lease, seen);
  }

  async function judge(seen: Seen, subscription: WebhookSubscription): Promise<void> {
    judgeFailures(seen, Number(subscription.consecutiveFailures ?? 0), "the service's count");
    if (subscription.isActive === false) {
      raise(seen, "disabled", disabled);
      // Before it is enabled: if this process is killed, the next one knows that contracts are to be read.
      Object.assign(seen, { isDisabled: true, isBehind: true });
      if (!(await noteSeen(store, lease, seen)) || !(await enable(seen, subscription))) return;
    }
    seen.isDisabled = false;
    lower(seen, "disabled");
    if (seen.isBehind) await readMissed(seen);
  }

  async function enable(seen: Seen, { webhookUrl }: WebhookSubscription): Promise<boolean> {
    if (typeof webhookUrl !== "string") {
      raise(seen, "service-unreachable", noUrl);
      return false;
    }
    const enabled = await settle(() => calls.update({ webhookUrl }, { signal }));
    if (!enabled.ok && !signal.aborted)
      raise(seen, "service-unreachable", unreachable("enabled", enabled.error));
    return enabled.ok;
  }

  async function readMissed(seen: Seen): Promise<void> {
    if (!(await noteSeen(store, lease, seen))) return;
    const done = await settle(() => reconcile(signal));
    if (signal.aborted) return;
    if (!done.ok) {
      raise(seen, "not-reconciled", notReconciled(nameOfError(done.error)));
      return;
    }
    const { checked, healed, failed } = done.value;
    seen.isBehind = false;
    seen.level = 0;
    lower(seen, "failing", "not-reconciled");
    if (failed > 0) raise(seen, "not-reconciled", someFailed(failed), importMs);
    raise(seen, "re-enabled", enabledAgain(toIsoTime(clock.now()), checked, healed), importMs);
  }

  return async () => {
    const done = await settle(round);
    if (!done.ok && !signal.aborted)
      parts.logger.warn(
        { step: "watchdog", error: nameOfError(done.error) },
        "a round of the watchdog failed",
      );
  };
}

const disabled =
  "The webhook subscription is disabled: the service sends nothing. The watchdog enables it again and reads what was missed. Fix the cause of the failed deliveries: the log and health().refused say why.";

const noUrl =
  "The webhook subscription is disabled, and the service does not show its URL: call client.webhooks.update({ webhookUrl }).";

function unreachable(what: string, error: unknown): string {
  return `The webhook subscription could not be ${what} (${nameOfError(error)}). The watchdog tries again.`;
}

function noSubscription(status: number | null): string {
  return `The service shows no webhook subscription (${status ?? "the client gave none"}): there is none, or it can't be read. If there should be one, call client.webhooks.update({ webhookUrl }). Until then the watchdog uses the mirror's own count of failures, and can't enable the subscription.`;
}

function notReconciled(name: string): string {
  return `The webhook subscription is enabled again, but reading what was missed failed (${name}). The watchdog tries again.`;
}

function someFailed(failed: number): string {
  return `${failed} contracts could not be read after the webhook subscription was disabled: call mirror.reconcile() or run escrow-mirror reconcile. Its failures say why.`;
}

function enabledAgain(at: string, checked: number, healed: number): string {
  return `The webhook subscription was disabled, and is enabled again. By ${at}, ${checked} contracts had been read, and ${healed} of them healed. The watchdog can't find contracts that others created meanwhile: if there may be some, import them with mirror.contracts.import(ids) or escrow-mirror contracts import.`;
}
