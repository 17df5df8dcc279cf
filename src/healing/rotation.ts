/** Changes the signing secret without losing a delivery. A row is written before each step: after a crash the next call continues there. */
import { toSafeCause } from "../client/causes.ts";
import { askEveryMs } from "../receiver/secrets/proof.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { settle } from "../shared/result.ts";
import { clearInterval, setInterval, sleep } from "../shared/timers.ts";
import { noLongerThan, within } from "../shared/within.ts";
import { createLease, type Lease } from "./lease.ts";
import { isNewer, secretIn, toSecret, type NewSecret, type RotationParts } from "./rotated-secret.ts";
import { createRotationSteps } from "./rotation-steps.ts";
import { callsFor, certainlyUndone, readSubscription } from "./subscription.ts";

/** Options of `mirror.rotateSecret()`. */
export interface RotateSecretOptions {
  /**
   * Stores the new secret where your `webhook.secrets` comes from. If it fails, it is called again, up to four times in all.
   * Each call has 30 seconds.
   */
  readonly save: (secret: string) => Promise<void> | void;
}

/** The name of the lease of a running call. */
export const rotationLease = "rotation";

/** By then every process has read the row: it answers a delivery with the new signature 503, not 401. */
const openedMs = askEveryMs + 200;
const saveTimeoutMs = 30_000;
/** Waits before `save` is called again, and before the subscription is read again. Milliseconds. */
const saveBackoffMs = [250, 1000, 4000];
const readBackoffMs = [250, 1000];

export interface Rotations {
  rotate(options: RotateSecretOptions): Promise<void>;
  /** Stops a rotation that has asked the service for nothing yet. Waits for one that has: its secret must be saved. */
  close(deadlineMs: number): Promise<void>;
}

export function createRotations(parts: RotationParts): Rotations {
  const { store, client, secrets } = parts;
  const steps = createRotationSteps(parts);
  const running = new Set<Promise<void>>();
  let isClosing = false;

  async function rotate({ save }: RotateSecretOptions): Promise<void> {
    const calls = callsFor("mirror.rotateSecret()", client, ["get", "regenerateSecret"]);
    if (typeof save !== "function") throw noSave();
    await underLease(createLease(store, rotationLease, parts.leaseMs), async (isHeld) => {
      const secret = await newestSecret(calls, isHeld);
      // Before anything else: from now on this process accepts the new signature.
      secrets?.adopt(secret.prepared);
      const { fingerprint } = secret.prepared;
      // It may fail: the last step writes it too. To save the secret matters more.
      await settle(() => steps.made(fingerprint));
      await saveWithRetries(secret.text, save);
      await steps.saved(fingerprint);
    });
  }

  async function newestSecret(
    calls: ReturnType<typeof callsFor<"get" | "regenerateSecret">>,
    isHeld: () => boolean,
  ): Promise<NewSecret> {
    const current = await presentSecret(calls);
    const { oldFingerprint } = await steps.open(current);
    // An earlier call made it, and did not end.
    if (isNewer(current, oldFingerprint)) return current;
    await sleep(openedMs);
    if (!isHeld()) throw alreadyRotating();
    if (isClosing) {
      await steps.cancel(oldFingerprint);
      throw closing();
    }
    const made = await settle(async () => toSecret(parts, (await calls.regenerateSecret()).secretKey));
    if (made.ok) return made.value;
    if (certainlyUndone(made.error)) {
      await steps.cancel(oldFingerprint);
      throw made.error;
    }
    // The answer is lost, or has no secret: the subscription shows whether there is a new one.
    for (const waitMs of [0, ...readBackoffMs]) {
      await sleep(waitMs);
      const read = await settle(() => presentSecret(calls));
      if (read.ok && isNewer(read.value, oldFingerprint)) return read.value;
    }
    throw made.error;
  }

  async function presentSecret(
    calls: Parameters<typeof readSubscription>[0],
  ): Promise<NewSecret | undefined> {
    const read = await readSubscription(calls);
    if (read.kind === "failed") throw read.error;
    return read.kind === "read" ? secretIn(parts, read.subscription.secretKey) : undefined;
  }

  return {
    rotate: async (options) => {
      const one = rotate(options);
      running.add(one);
      await one.finally(() => running.delete(one));
    },
    close: async (deadlineMs) => {
      isClosing = true;
      await noLongerThan(deadlineMs, Promise.allSettled(running));
    },
  };
}

/** Holds the lease while the work runs. */
async function underLease(lease: Lease, work: (isHeld: () => boolean) => Promise<void>): Promise<void> {
  if (!(await lease.ask())) throw alreadyRotating();
  let held = true;
  const timer = setInterval(() => {
    lease.ask().then(
      (stillHeld) => (held = stillHeld),
      () => (held = false),
    );
  }, lease.askEveryMs);
  timer.unref();
  try {
    await work(() => held);
  } finally {
    clearInterval(timer);
    await settle(() => lease.release());
  }
}

async function saveWithRetries(secret: string, save: RotateSecretOptions["save"]): Promise<void> {
  for (const waitMs of [...saveBackoffMs, undefined]) {
    const saved = await settle(() =>
      within(
        saveTimeoutMs,
        Promise.resolve().then(() => save(secret)),
        tooSlow,
      ),
    );
    if (saved.ok) return;
    if (waitMs === undefined) throw notSaved(toSafeCause(saved.error, [secret]));
    await sleep(waitMs);
  }
}

function tooSlow(): Error {
  return new Error(`save did not resolve within ${saveTimeoutMs} ms`);
}

function noSave(): EscrowMirrorError {
  return new EscrowMirrorError(
    "invalid-argument",
    "mirror.rotateSecret: save is missing: pass a function that stores the new secret where webhook.secrets comes from",
  );
}

function alreadyRotating(): EscrowMirrorError {
  return new EscrowMirrorError(
    "already-rotating",
    "mirror.rotateSecret: another call is changing the signing secret now. Nothing was sent. If that process has just ended, call again in half a minute",
  );
}

function closing(): EscrowMirrorError {
  return new EscrowMirrorError(
    "closed",
    "mirror.rotateSecret: the mirror is closing. The signing secret was not changed: call again after the restart",
  );
}

function notSaved(cause: unknown): EscrowMirrorError {
  return new EscrowMirrorError(
    "secret-not-saved",
    "mirror.rotateSecret: the service has a new signing secret, and save failed each time. No delivery is lost: this process knows the secret, and others answer 503. Fix save, then call rotateSecret again within an hour: it saves the same secret",
    { cause },
  );
}
