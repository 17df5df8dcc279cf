/** The step *verify*: nothing is parsed or stored before the signature over the raw bytes holds (semantics §3). */
import type { Clock } from "../shared/clock.ts";
import { isEscrowMirrorError, nameOfError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { createRateLimit } from "../shared/rate-limit.ts";
import { diagnoseMismatch } from "../signature/diagnose.ts";
import type { SignedRequest, Verified, Verifier } from "../signature/verify.ts";
import type { Verdict } from "./outcome.ts";
import type { SecretProof } from "./proof.ts";
import type { LiveSecrets } from "./secrets.ts";

export interface VerifyParts {
  readonly verifier: Verifier;
  readonly secrets: LiveSecrets;
  readonly proof: SecretProof;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often a mismatch is explained in the log: an explanation costs more than a check. */
const diagnoseEveryMs = 10_000;

export type Verify = (request: SignedRequest) => Promise<Verified | Verdict>;

export function createVerify(parts: VerifyParts): Verify {
  const { verifier, secrets, proof, clock, logger } = parts;
  const mayDiagnose = createRateLimit({ everyMs: diagnoseEveryMs });
  const check = (request: SignedRequest) => verifier.verify(request, secrets.current(), clock.now());

  return async (request) => {
    let verification = check(request);
    // A secret that was changed at its source, as by a rotation elsewhere, is taken in before anyone is refused.
    if (!verification.ok && verification.reason === "signature-mismatch" && (await reload()))
      verification = check(request);
    if (verification.ok) return verification;
    const { reason } = verification;
    if (reason !== "signature-mismatch") return { outcome: "rejected", reason };
    const doubtful = await proof.isDoubtful(secrets.current());
    explain(request, doubtful);
    return doubtful
      ? { outcome: "failed", reason: "secret-unproven" }
      : { outcome: "rejected", reason: "signature-mismatch" };
  };

  async function reload(): Promise<boolean> {
    try {
      return await secrets.reload();
    } catch (error) {
      logger.error({ step: "verify", error: causeOf(error) }, "webhook.secrets() failed; the old ones stay");
      return false;
    }
  }

  function explain(request: SignedRequest, doubtful: boolean): void {
    if (!mayDiagnose(clock.now())) return;
    const { scheme } = verifier;
    const { cause, explanation } = diagnoseMismatch(request, secrets.current(), { scheme });
    const fields = { step: "verify", reason: "signature-mismatch", cause, answered: doubtful ? 503 : 401 };
    logger.warn(fields, doubtful ? `${explanation} ${whyDoubtful}` : explanation);
  }
}

const whyDoubtful =
  "Answered 503, so that a genuine delivery comes again: a configured secret has never verified one, or a rotation is open.";

/** What an integrator's function throws may quote what it read. */
function causeOf(error: unknown): string {
  return isEscrowMirrorError(error) ? error.message : nameOfError(error);
}
