/** The signing secret as the service gives it, and whether it is newer than the one before the rotation. */
import type { LiveSecrets } from "../receiver/secrets/live-secrets.ts";
import type { SecretProof } from "../receiver/secrets/proof.ts";
import type { MirrorClient } from "../reconcile/mirror-client.ts";
import type { Clock } from "../shared/clock.ts";
import type { ResolvedScheme } from "../signature/scheme.ts";
import { parseSecret, prepareSecret, type PreparedSecret } from "../signature/secret.ts";
import type { Store } from "../store/store.ts";

export interface RotationParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly client: MirrorClient | undefined;
  readonly scheme: ResolvedScheme;
  /** `undefined` in a process that receives no deliveries. */
  readonly secrets: LiveSecrets | undefined;
  readonly proof: SecretProof;
  readonly leaseMs: number;
}

/** A secret as the service gave it. Its text goes to `save` and nowhere else. */
export interface NewSecret {
  readonly text: string;
  readonly prepared: PreparedSecret;
}

/** Whether it differs from the secret before the rotation. `false` if the service did not show that one. */
export function isNewer(secret: NewSecret | undefined, oldFingerprint: string | null): secret is NewSecret {
  return secret !== undefined && oldFingerprint !== null && secret.prepared.fingerprint !== oldFingerprint;
}

export function secretIn(parts: RotationParts, text: string | null | undefined): NewSecret | undefined {
  return text === null || text === undefined || text.trim() === "" ? undefined : toSecret(parts, text);
}

/** Prepared as the app's own secrets are: it gets the fingerprint that it will have in `webhook.secrets`. */
export function toSecret({ scheme, secrets }: RotationParts, text: string): NewSecret {
  const secretEncoding = secrets?.current()[0]?.encoding ?? scheme.secretEncoding;
  return { text, prepared: prepareSecret(parseSecret(text, "rotated"), { secretEncoding }) };
}
