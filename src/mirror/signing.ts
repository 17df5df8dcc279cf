/** The signing secret in this process: it verifies deliveries, is changed, and is read again after a change elsewhere. */
import { createCatchUp, type CatchUp } from "../healing/catch-up.ts";
import { createRotations, type Rotations } from "../healing/rotation.ts";
import type { ReceiverLog } from "../receiver/log.ts";
import { failed } from "../receiver/outcome.ts";
import { openSecrets, type LiveSecrets } from "../receiver/secrets/live-secrets.ts";
import { createSecretProof, type SecretProof } from "../receiver/secrets/proof.ts";
import { createVerify, type Verify } from "../receiver/verify.ts";
import { nameOfError } from "../shared/errors.ts";
import { createRateLimit } from "../shared/rate-limit.ts";
import type { ResolvedScheme } from "../signature/scheme.ts";
import { createVerifier } from "../signature/verify.ts";
import type { MirrorSettings } from "./options.ts";

export interface Signing {
  readonly scheme: ResolvedScheme;
  /** `undefined` in a mirror without `webhook`. */
  readonly secrets: LiveSecrets | undefined;
  readonly proof: SecretProof;
  readonly verify: Verify;
  readonly catchUp: CatchUp;
  readonly rotations: Rotations;
}

/** Asks the source of the secrets, and not yet the store. */
export async function openSigning(settings: MirrorSettings, log: ReceiverLog): Promise<Signing> {
  const { store, clock, logger, client, webhook } = settings;
  const verifier = createVerifier({ ...webhook, scheme: webhook?.signature });
  const { scheme } = verifier;
  const secrets =
    webhook && (await openSecrets(webhook.secrets, scheme, clock, (error) => log.secretsFault(error)));
  const proof = createSecretProof(store, clock, webhook?.rotating ?? false);
  const rotation = { store, clock, client, scheme, secrets, proof, leaseMs: settings.jobs.leaseMs };
  const catchUp = createCatchUp(rotation, createRateLimit({ everyMs: catchUpEveryMs }), (error) =>
    logger.warn({ step: "verify", error: nameOfError(error) }, "reading the newest signing secret failed"),
  );
  const verify =
    secrets && createVerify({ verifier, secrets, proof, clock, logger, catchUp: () => catchUp.ask() });
  return {
    scheme,
    secrets,
    proof,
    catchUp,
    verify: verify ?? refuseAll,
    rotations: createRotations(rotation),
  };
}

/** Anyone can send a wrong signature: each one would call the API. */
const catchUpEveryMs = 5000;

/** Without a secret nobody's signature can be told from a stranger's. */
const refuseAll: Verify = {
  checkHeaders: () => failed("no-secret"),
  checkSignature: async () => failed("no-secret"),
};
