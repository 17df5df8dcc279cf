import type { Clock } from "../../shared/clock.ts";
import { EscrowMirrorError } from "../../shared/errors.ts";
import { createRateLimit } from "../../shared/rate-limit.ts";
import { settle } from "../../shared/result.ts";
import { within } from "../../shared/within.ts";
import { prepareSecrets, type PreparedSecret, type SecretsOption } from "../../signature/secret.ts";
import type { ResolvedScheme } from "../../signature/scheme.ts";

/** The signing secrets, or a function that returns them. It is called at the start, and again after a mismatch. */
export type SecretsSource = SecretsOption | (() => SecretsOption | Promise<SecretsOption>);

export interface LiveSecrets {
  /** The secrets in use now. */
  current(): readonly PreparedSecret[];
  /**
   * Asks the source again, at most every `reloadEveryMs`. `unknown`: it was asked just now, failed or did not answer. Then it
   * may have a secret that we lack.
   */
  reload(): Promise<"changed" | "unchanged" | "unknown">;
  /** Adds the newest secret, which the source may not give yet. In memory only. It replaces the one added before. */
  adopt(secret: PreparedSecret): void;
  /**
   * Whether this secret may be out of use by now. `true` for every secret but the adopted one, if the source did not give
   * the adopted one when it was last asked: then its answer is older than the change of the secret.
   */
  mayBeOver(fingerprint: string): boolean;
}

const reloadEveryMs = 5000;
const sourceTimeoutMs = 3000;

/** @throws EscrowMirrorError `invalid-configuration` for a secret that can't be one */
export async function openSecrets(
  source: SecretsSource,
  scheme: ResolvedScheme,
  clock: Clock,
  onFault: (error: unknown) => void,
): Promise<LiveSecrets> {
  const read = async (): Promise<PreparedSecret[]> =>
    prepareSecrets(typeof source === "function" ? await inTime(source()) : source, scheme);
  let secrets = await read();
  let adopted: PreparedSecret | undefined;
  let live: readonly PreparedSecret[] = secrets;
  const isAhead = (): boolean =>
    adopted !== undefined && !secrets.some(({ fingerprint }) => fingerprint === adopted?.fingerprint);
  const renew = (): void => {
    live = adopted !== undefined && isAhead() ? [...secrets, adopted] : secrets;
  };
  const mayReload = createRateLimit({ everyMs: reloadEveryMs });
  let reading: ReturnType<LiveSecrets["reload"]> | undefined;

  const readAgain = async (): ReturnType<LiveSecrets["reload"]> => {
    const before = fingerprints(secrets);
    const again = await settle(read);
    if (!again.ok) {
      onFault(again.error);
      return "unknown";
    }
    secrets = again.value;
    renew();
    return fingerprints(secrets) === before ? "unchanged" : "changed";
  };

  return {
    current: () => live,
    adopt: (secret) => {
      adopted = secret;
      renew();
    },
    mayBeOver: (fingerprint) => isAhead() && fingerprint !== adopted?.fingerprint,
    reload: async () => {
      if (typeof source !== "function") return "unchanged";
      if (reading !== undefined) return reading;
      if (!mayReload(clock.now())) return "unknown";
      reading = readAgain().finally(() => (reading = undefined));
      return reading;
    },
  };
}

/** A source that never answers must not hold every request that waits for it. */
function inTime(secrets: SecretsOption | Promise<SecretsOption>): Promise<SecretsOption> {
  const message = `webhook.secrets() did not resolve within ${sourceTimeoutMs} ms`;
  const tooLate = (): Error => new EscrowMirrorError("invalid-configuration", message);
  return within(sourceTimeoutMs, Promise.resolve(secrets), tooLate);
}

function fingerprints(secrets: readonly PreparedSecret[]): string {
  return secrets.map(({ fingerprint }) => fingerprint).join();
}
