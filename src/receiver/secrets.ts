import type { Clock } from "../shared/clock.ts";
import { createRateLimit } from "../shared/rate-limit.ts";
import { prepareSecrets, type PreparedSecret, type SecretsOption } from "../signature/secret.ts";
import type { ResolvedScheme } from "../signature/scheme.ts";

/** The signing secrets, or where to get them: a function is asked at start and again after a mismatch. */
export type SecretsSource = SecretsOption | (() => SecretsOption | Promise<SecretsOption>);

export interface LiveSecrets {
  /** Those in use now. */
  current(): readonly PreparedSecret[];
  /** Asks the source again, at most every `reloadEveryMs`; resolves with whether the secrets are others now. */
  reload(): Promise<boolean>;
}

const reloadEveryMs = 5000;

/** @throws EscrowMirrorError `invalid-configuration` for a secret that can't be one */
export async function openSecrets(
  source: SecretsSource,
  scheme: ResolvedScheme,
  clock: Clock,
): Promise<LiveSecrets> {
  const read = async (): Promise<PreparedSecret[]> => {
    const option = typeof source === "function" ? await source() : source;
    return prepareSecrets(option, scheme);
  };
  let secrets = await read();
  const mayReload = createRateLimit({ everyMs: reloadEveryMs });
  mayReload(clock.now());
  let reading: Promise<boolean> | undefined;

  const readAgain = async (): Promise<boolean> => {
    const before = fingerprints(secrets);
    secrets = await read();
    return fingerprints(secrets) !== before;
  };

  return {
    current: () => secrets,
    reload: async () => {
      if (typeof source !== "function") return false;
      if (reading !== undefined) return reading;
      if (!mayReload(clock.now())) return false;
      reading = readAgain().finally(() => (reading = undefined));
      return reading;
    },
  };
}

function fingerprints(secrets: readonly PreparedSecret[]): string {
  return secrets.map(({ fingerprint }) => fingerprint).join();
}
