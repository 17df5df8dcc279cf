/** The step *verify*: nothing is parsed or stored before the signature over the raw bytes holds (semantics §3). */
import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import { createRateLimits } from "../shared/rate-limit.ts";
import { diagnoseHeaders, diagnoseMismatch } from "../signature/diagnose.ts";
import type { Diagnosis } from "../signature/diagnosis.ts";
import type { SignedRequest, Verified, Verifier, VerifyFailure } from "../signature/verify.ts";
import type { Verdict } from "./outcome.ts";
import type { Doubt, SecretProof } from "./secrets/proof.ts";
import type { LiveSecrets } from "./secrets/live-secrets.ts";

export interface VerifyParts {
  readonly verifier: Verifier;
  readonly secrets: LiveSecrets;
  readonly proof: SecretProof;
  /** Reads the newest secret, if a rotation made one that this process does not have. Resolves with whether it got one. */
  readonly catchUp?: (() => Promise<boolean>) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often the log explains one reason with one status: an explanation costs more than a check. */
const diagnoseEveryMs = 60_000;

export interface Verify {
  /** The verdict if the headers alone are reason to refuse the request. */
  checkHeaders(headers: SignedRequest["headers"]): Verdict | undefined;
  checkSignature(request: SignedRequest): Promise<Verified | Verdict>;
}

export function createVerify(parts: VerifyParts): Verify {
  const { verifier, secrets, proof, clock, logger, catchUp } = parts;
  const mayDiagnose = createRateLimits({ everyMs: diagnoseEveryMs });
  const check = (request: SignedRequest) => verifier.verify(request, secrets.current(), clock.now());

  function checkHeaders(headers: SignedRequest["headers"]): Verdict | undefined {
    const reason = verifier.checkHeaders(headers);
    if (reason === undefined) return undefined;
    explain(reason, () => diagnoseHeaders(headers, { scheme: verifier.scheme }));
    return { outcome: "rejected", reason };
  }

  async function checkSignature(request: SignedRequest): Promise<Verified | Verdict> {
    const diagnose = () => diagnoseMismatch(request, secrets.current(), { scheme: verifier.scheme });
    const first = check(request);
    // A secret is often changed because somebody else knows the old one. So its source decides whether it is still valid.
    if (first.ok && !secrets.mayBeOver(first.fingerprint)) return first;
    if (!first.ok && first.reason !== "signature-mismatch") {
      explain(first.reason, diagnose);
      return { outcome: "rejected", reason: first.reason };
    }
    // The secret may have changed at its source, for example by another process. So it is read again before a refusal.
    const reloaded = await secrets.reload();
    const second = reloaded === "changed" ? check(request) : first;
    if (second.ok) return second;
    const ofStore = await proof.doubt(secrets.current());
    const ofRotation = ofStore === "rotation-open" || ofStore === "secret-behind";
    const third = ofRotation && (await catchUp?.()) === true ? check(request) : second;
    if (third.ok) return third;
    const doubt = ofStore ?? (reloaded === "unknown" ? "secrets-not-asked" : undefined);
    explain("signature-mismatch", diagnose, doubt);
    return doubt === undefined
      ? { outcome: "rejected", reason: "signature-mismatch" }
      : { outcome: "failed", reason: "secret-unproven" };
  }

  function explain(reason: VerifyFailure, diagnose: () => Diagnosis, doubt?: Doubt): void {
    const answered = doubt === undefined ? 401 : 503;
    // Each answer has its own limit: a 401 loses the delivery, and an earlier 503 must not hide it.
    if (!mayDiagnose(`${reason} ${answered}`, clock.now())) return;
    const { cause, explanation } = diagnose();
    // A request without any signature is mostly a stranger's.
    if (reason === "signature-missing" && cause === "unexplained") return;
    const fields = { step: "verify", reason, cause, answered };
    logger.error(fields, doubt === undefined ? explanation : `${explanation} ${doubts[doubt]}`);
  }

  return { checkHeaders, checkSignature };
}

const sentAgain = "so the answer is 503, and the service retries.";
const doubts: Readonly<Record<Doubt, string>> = {
  "secret-unproven": `A configured secret has never verified a delivery here, ${sentAgain}`,
  "rotation-open": `A rotation of the secret is open, ${sentAgain}`,
  "secret-behind": `The newest secret is not here, ${sentAgain}`,
  "secrets-not-asked": `webhook.secrets() can't be called again yet, ${sentAgain}`,
};
