import { toIsoTime, type Clock } from "../../shared/clock.ts";
import { createRateLimit } from "../../shared/rate-limit.ts";
import type { PreparedSecret } from "../../signature/secret.ts";
import type { Store, StoreTransaction } from "../../store/store.ts";
import type { RotationRow } from "../../store/tables/operations.ts";
import type { SecretRow } from "../../store/tables/deliveries.ts";
import { changeRotation, isOpen, lacksNewest, loadRotation } from "./rotation-row.ts";

/**
 * Which secrets have ever verified a delivery on this store. A wrong signature is answered 401, which the service never
 * retries (§6.5): as long as one of our secrets is unproven, a rotation is open, or the newest secret is not here, the fault
 * may be ours, and the answer is 503 (semantics §3).
 */
export interface SecretProof {
  /** Why a mismatch may be our own fault, if it may. Asks the store, at most every `askEveryMs`. */
  doubt(secrets: readonly PreparedSecret[]): Promise<Doubt | undefined>;
  /** The secrets that have never verified a delivery. Asks the store as `doubt` does. */
  unproven(secrets: readonly PreparedSecret[]): Promise<PreparedSecret[]>;
  /** Writes down the secrets that verified the deliveries of a commit, each once, and closes their rotation. */
  record(tx: StoreTransaction, used: readonly UsedSecret[]): Promise<void>;
  /** Called once that commit is durable. */
  recorded(used: readonly UsedSecret[]): void;
  /** Lets the next call ask the store: this process has changed the rotation itself. */
  forget(): void;
}

export type Doubt = "rotation-open" | "secret-behind" | "secret-unproven" | "secrets-not-asked";

export interface UsedSecret {
  readonly fingerprint: string;
  readonly secretId: string;
}

/** Every process reads of a rotation within this time. So `rotateSecret` waits longer before it asks the service for a secret. */
export const askEveryMs = 1000;

export function createSecretProof(store: Store, clock: Clock, rotating: boolean): SecretProof {
  /** When each first verified a delivery. */
  const proven = new Map<string, string>();
  let rotation: RotationRow | undefined;
  let asking: Promise<void> | undefined;
  const mayAsk = createRateLimit({ everyMs: askEveryMs });

  const readSecrets = async (): Promise<void> => {
    const [rows, newest] = await store.read(async (reader) => [
      await reader.find("secrets"),
      await loadRotation(reader),
    ]);
    rotation = newest;
    for (const { fingerprint, verifiedAt } of rows) proven.set(fingerprint, verifiedAt);
  };
  // Anyone can send a wrong signature: the store's answer, or its failure, is reused until it may be asked again.
  const ask = (): Promise<void> => {
    if (mayAsk(clock.now()) || asking === undefined) asking = readSecrets();
    return asking;
  };

  return {
    doubt: async (secrets) => {
      if (rotating) return "rotation-open";
      await ask();
      if (isOpen(rotation, clock.now())) return "rotation-open";
      if (lacksNewest(rotation, secrets, proven)) return "secret-behind";
      return secrets.some(({ fingerprint }) => !proven.has(fingerprint)) ? "secret-unproven" : undefined;
    },
    unproven: async (secrets) => {
      await ask();
      return secrets.filter(({ fingerprint }) => !proven.has(fingerprint));
    },
    record: async (tx, used) => {
      const fresh = new Map(used.filter(({ fingerprint }) => !proven.has(fingerprint)).map(toRow));
      if (fresh.size === 0) return;
      // The first time stands: an old secret that verifies again after a restart is no newer than a rotation.
      await tx.insert("secrets", [...fresh.values()]);
      await changeRotation(tx, clock.now(), (row) => (row?.closedAt === null ? row : undefined));
    },
    recorded: (used) => {
      const fresh = used.filter(({ fingerprint }) => !proven.has(fingerprint));
      for (const { fingerprint } of fresh) proven.set(fingerprint, toIsoTime(clock.now()));
      if (fresh.length > 0) asking = undefined;
    },
    forget: () => (asking = undefined),
  };

  function toRow({ fingerprint, secretId }: UsedSecret): [string, SecretRow] {
    return [fingerprint, { fingerprint, secretId, verifiedAt: toIsoTime(clock.now()) }];
  }
}
