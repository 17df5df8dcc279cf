/** The step *verify*: nothing is parsed or stored before the signature over the raw bytes holds (semantics §3). */
import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import { createRateLimit } from "../shared/rate-limit.ts";
import { diagnoseMismatch } from "../signature/diagnose.ts";
import type { SignedRequest, Verified, Verifier, VerifyFailure } from "../signature/verify.ts";
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
    const first = check(request);
    if (first.ok) return first;
    if (first.reason !== "signature-mismatch") {
      explain(request, first.reason, 401);
      return { outcome: "rejected", reason: first.reason };
    }
    // A secret that was changed at its source, as by a rotation elsewhere, is taken in before anyone is refused.
    const reloaded = await secrets.reload();
    const second = reloaded === "changed" ? check(request) : first;
    if (second.ok) return second;
    const doubtful = reloaded === "unknown" || (await proof.isDoubtful(secrets.current()));
    explain(request, "signature-mismatch", doubtful ? 503 : 401);
    return doubtful
      ? { outcome: "failed", reason: "secret-unproven" }
      : { outcome: "rejected", reason: "signature-mismatch" };
  };

  function explain(request: SignedRequest, reason: VerifyFailure, answered: 401 | 503): void {
    if (!mayDiagnose(clock.now())) return;
    const { scheme } = verifier;
    const { cause, explanation } = diagnoseMismatch(request, secrets.current(), { scheme });
    // A request without any signature is mostly a stranger's.
    if (reason === "signature-missing" && cause === "unexplained") return;
    const fields = { step: "verify", reason, cause, answered };
    logger.warn(fields, answered === 503 ? `${explanation} ${whyDoubtful}` : explanation);
  }
}

const whyDoubtful =
  "Answered 503, so that a genuine delivery comes again: a configured secret has never verified one, a rotation is open, or webhook.secrets() could not be asked.";
