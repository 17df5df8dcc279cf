/** A process that lacks the secret of a rotation reads it from the service, while a delivery waits. */
import { changeRotation, loadRotation } from "../receiver/secrets/rotation-row.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { settle } from "../shared/result.ts";
import { within } from "../shared/within.ts";
import type { PreparedSecret } from "../signature/secret.ts";
import { isNewer, secretIn, type RotationParts } from "./rotated-secret.ts";
import { readSubscription } from "./subscription.ts";

/** Reads the newest secret from the service, when a rotation has made one that this process lacks. */
export interface CatchUp {
  /** Resolves with whether a new secret came. Asks the service only as often as `mayAsk` allows. */
  ask(): Promise<boolean>;
  /** Resolves when no read is under way. */
  close(): Promise<void>;
}

/** How long a delivery waits for the secret. */
const catchUpMs = 3000;

export function createCatchUp(
  parts: RotationParts,
  mayAsk: (nowMs: number) => boolean,
  onFault: (error: unknown) => void,
): CatchUp {
  const { store, clock, client, secrets, proof } = parts;
  let running: Promise<boolean> | undefined;
  const ending = new AbortController();

  async function takeIn(): Promise<boolean> {
    const get = client?.webhooks.get;
    const rotation = await store.read(loadRotation);
    if (get === undefined || secrets === undefined || rotation === undefined) return false;
    if (rotation.closedAt !== null && secrets.current().some(hasFingerprint(rotation.fingerprint)))
      return false;
    const read = await readSubscription({ get }, ending.signal);
    if (read.kind === "failed") throw read.error;
    const secret = read.kind === "read" ? secretIn(parts, read.subscription.secretKey) : undefined;
    if (!isNewer(secret, rotation.oldFingerprint)) return false;
    const { fingerprint } = secret.prepared;
    const isHere = secrets.current().some(hasFingerprint(fingerprint));
    secrets.adopt(secret.prepared);
    await store.transaction((tx) =>
      changeRotation(tx, clock.now(), (row) =>
        row?.openedAt === rotation.openedAt && row.closedAt === null ? { ...row, fingerprint } : undefined,
      ),
    );
    proof.forget();
    return !isHere;
  }

  return {
    ask: async () => {
      if (running === undefined) {
        if (ending.signal.aborted || !mayAsk(clock.now())) return false;
        running = takeIn()
          .catch((error: unknown) => (onFault(error), false))
          .finally(() => (running = undefined));
      }
      const came = await settle(() => within(catchUpMs, running ?? Promise.resolve(false), tooLate));
      return came.ok && came.value;
    },
    close: async () => {
      ending.abort();
      await running;
    },
  };
}

function tooLate(): Error {
  return new EscrowMirrorError("timeout", "the subscription was not read in time");
}

function hasFingerprint(wanted: string | null) {
  return ({ fingerprint }: PreparedSecret): boolean => fingerprint === wanted;
}
