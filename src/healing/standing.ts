/** The warnings of `health()` about the signing secret and the subscription. They come from rows: every process gives the same ones. */
import type { LiveSecrets } from "../receiver/secrets/live-secrets.ts";
import type { SecretProof } from "../receiver/secrets/proof.ts";
import { loadRotation } from "../receiver/secrets/rotation-row.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Store } from "../store/store.ts";
import type { LeaseRow, RotationRow } from "../store/tables/operations.ts";
import { rotationLease } from "./rotation.ts";
import { seenIn, warningsIn, watchdogLease } from "./seen.ts";
import { silentSince } from "./silence.ts";

export interface StandingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: LiveSecrets | undefined;
  readonly proof: SecretProof;
}

export interface HealingStanding {
  /** Whether the service was last seen to send no webhooks. */
  readonly isDisabled: boolean;
  readonly warnings: readonly string[];
}

export async function healingStandingOf(parts: StandingParts): Promise<HealingStanding> {
  const { store, clock, secrets, proof } = parts;
  const nowMs = clock.now();
  const [rotation, leases, since] = await store.read(async (reader) => [
    await loadRotation(reader),
    await reader.find("leases"),
    secrets && (await silentSince(reader, nowMs)),
  ]);
  const seen = seenIn(leases.find(({ name }) => name === watchdogLease));
  const oldest = toIsoTime(nowMs - staleMs);
  const lacksSecret = secrets !== undefined && (await proof.doubt(secrets.current())) === "secret-behind";
  return {
    isDisabled: seen.isDisabled && seen.seenAt >= oldest,
    warnings: [
      ...ofRotation(rotation, leases, nowMs),
      ...(lacksSecret ? [behind] : []),
      ...warningsIn(seen, toIsoTime(nowMs), oldest),
      ...(since === undefined ? [] : [silent(since)]),
    ],
  };
}

/** A watchdog that has not looked for this long has ended. */
const staleMs = 3_600_000;

/**
 * How long a new secret may verify nothing before a person is warned. The service sends a delivery that was refused again
 * within 13 minutes, and after that only once more, an hour later (§6.5).
 */
const unusedMs = 15 * 60_000;

function ofRotation(rotation: RotationRow | undefined, leases: readonly LeaseRow[], nowMs: number): string[] {
  if (rotation === undefined || rotation.closedAt !== null) return [];
  const { openedAt, savedAt } = rotation;
  if (savedAt !== null) return Date.parse(savedAt) < nowMs - unusedMs ? [unused(savedAt)] : [];
  const lease = leases.find(({ name }) => name === rotationLease);
  return lease !== undefined && lease.heldUntil >= toIsoTime(nowMs) ? [] : [unfinished(openedAt)];
}

function unfinished(openedAt: string): string {
  return `The change of the signing secret that began at ${openedAt} is not finished: the new secret is not saved. Call mirror.rotateSecret({ save }) again, or run escrow-mirror subscription rotate. Until then wrong signatures are answered 503.`;
}

function unused(savedAt: string): string {
  return `The signing secret that was saved at ${savedAt} has not verified any delivery: send a webhook.test (escrow-mirror subscription test). Until then wrong signatures are answered 503.`;
}

function silent(since: string): string {
  return `No delivery has arrived since ${since}, although contracts are in progress and deliveries came at these hours on each of the last seven days. Check that the subscription is active, and that the service can reach this mirror.`;
}

const behind =
  "This process does not have the newest signing secret: check that webhook.secrets gives it. If webhook.secrets is not a function, restart the process too. Until then wrong signatures are answered 503.";
