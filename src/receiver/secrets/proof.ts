import { toIsoTime, type Clock } from "../../shared/clock.ts";
import { createRateLimit } from "../../shared/rate-limit.ts";
import type { PreparedSecret } from "../../signature/secret.ts";
import type { Store, StoreTransaction } from "../../store/store.ts";
import type { SecretRow } from "../../store/tables.ts";

/**
 * Which secrets have ever verified a delivery on this store. A wrong signature is answered 401, which the service never
 * retries (§6.5): as long as one of our secrets is unproven, or a rotation is open, the fault may be ours, and the answer
 * is 503 (semantics §3).
 */
export interface SecretProof {
  /** Why a mismatch may be our own fault, if it may. Asks the store, at most every `askEveryMs`. */
  doubt(secrets: readonly PreparedSecret[]): Promise<Doubt | undefined>;
  /** Those that have never verified a delivery. Asks the store as `doubt` does. */
  unproven(secrets: readonly PreparedSecret[]): Promise<PreparedSecret[]>;
  /** Writes down the secrets that verified the deliveries of a commit, each once. */
  record(tx: StoreTransaction, used: readonly UsedSecret[]): Promise<void>;
  /** Called once that commit is durable. */
  recorded(used: readonly UsedSecret[]): void;
}

export type Doubt = "rotation-open" | "secret-unproven" | "secrets-not-asked";

export interface UsedSecret {
  readonly fingerprint: string;
  readonly secretId: string;
}

const askEveryMs = 1000;

export function createSecretProof(store: Store, clock: Clock, rotating: boolean): SecretProof {
  const proven = new Set<string>();
  let rotationOpen = false;
  let asking: Promise<void> | undefined;
  const mayAsk = createRateLimit({ everyMs: askEveryMs });

  const readSecrets = async (): Promise<void> => {
    const rows = await store.read((reader) => reader.find("secrets"));
    rotationOpen = rows.some(({ state }) => state === "rotating");
    for (const { fingerprint, state } of rows) if (state === "verified") proven.add(fingerprint);
  };
  // Anyone can send a wrong signature: what the store said, a failure too, holds until it may be asked again.
  const ask = (): Promise<void> => {
    if (mayAsk(clock.now()) || asking === undefined) asking = readSecrets();
    return asking;
  };

  return {
    doubt: async (secrets) => {
      if (rotating) return "rotation-open";
      await ask();
      if (rotationOpen) return "rotation-open";
      return secrets.some(({ fingerprint }) => !proven.has(fingerprint)) ? "secret-unproven" : undefined;
    },
    unproven: async (secrets) => {
      await ask();
      return secrets.filter(({ fingerprint }) => !proven.has(fingerprint));
    },
    record: async (tx, used) => {
      const fresh = new Map(used.filter(({ fingerprint }) => !proven.has(fingerprint)).map(toRow));
      await tx.upsert("secrets", [...fresh.values()]);
    },
    recorded: (used) => {
      for (const { fingerprint } of used) proven.add(fingerprint);
    },
  };

  function toRow({ fingerprint, secretId }: UsedSecret): [string, SecretRow] {
    return [fingerprint, { fingerprint, secretId, state: "verified", changedAt: toIsoTime(clock.now()) }];
  }
}
