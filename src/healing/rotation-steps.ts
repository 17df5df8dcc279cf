/** The steps of a change of the secret, as its row tells them to every process. */
import { changeRotation, rotationName } from "../receiver/secrets/rotation-row.ts";
import { toIsoTime } from "../shared/clock.ts";
import type { RotationRow } from "../store/tables/operations.ts";
import type { NewSecret, RotationParts } from "./rotated-secret.ts";

export interface RotationSteps {
  /** Resolves with the rotation that was not finished, or with a new one. */
  open(current: NewSecret | undefined): Promise<RotationRow>;
  /** Nothing was changed at the service: its secret is still the newest. */
  cancel(oldFingerprint: string | null): Promise<void>;
  /** The service has a new secret. */
  made(fingerprint: string): Promise<void>;
  /** The new secret is where `webhook.secrets` comes from. */
  saved(fingerprint: string): Promise<void>;
}

export function createRotationSteps({
  store,
  clock,
  proof,
}: Pick<RotationParts, "store" | "clock" | "proof">): RotationSteps {
  async function change(
    to: (row: RotationRow | undefined) => RotationRow | undefined,
  ): Promise<RotationRow | undefined> {
    const row = await store.transaction((tx) => changeRotation(tx, clock.now(), to));
    proof.forget();
    return row;
  }

  return {
    open: async (current) => {
      const fresh: RotationRow = {
        name: rotationName,
        openedAt: toIsoTime(clock.now()),
        oldFingerprint: current?.prepared.fingerprint ?? null,
        fingerprint: null,
        savedAt: null,
        closedAt: null,
      };
      return (await change((row) => (row?.savedAt === null ? row : fresh))) ?? fresh;
    },

    cancel: async (oldFingerprint) => {
      const now = toIsoTime(clock.now());
      await change((row) => row && { ...row, fingerprint: oldFingerprint, savedAt: now, closedAt: now });
    },

    made: async (fingerprint) => {
      await change((row) => row && { ...row, fingerprint });
    },

    saved: async (fingerprint) => {
      await change((row) => row && { ...row, fingerprint, savedAt: toIsoTime(clock.now()) });
    },
  };
}
