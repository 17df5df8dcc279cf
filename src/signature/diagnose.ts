/**
 * Why a signature did not hold, for the log. Each known mistake is one trial: the check is run again as if the
 * mistake had been made, and the first trial that holds names the cause. It only ever explains: the request
 * stays refused. Work is bounded, and what it returns holds no secret, signature, digest or payload.
 */
import { explanations, formExplanations, noForm, type Diagnosis } from "./diagnosis.ts";
import { resolveScheme, signaturePresets, type SignatureOption } from "./scheme.ts";
import type { PreparedSecret } from "./secret.ts";
import { schemeTrials, trials, type SchemeTrial, type Trial } from "./trials.ts";
import { createVerifier, type SignedRequest } from "./verify.ts";

export interface DiagnoseOptions {
  /** The verifier's scheme. Default `"default"`. */
  readonly scheme?: SignatureOption | undefined;
  /** Default `X-Service-`. */
  readonly headerPrefix?: string | undefined;
}

/** Secrets beyond this are not tried. */
export const diagnosedSecretsMax = 4;

/**
 * The probable cause of a failed check. Never throws, never accepts. It costs up to some forty HMACs and one
 * `JSON.parse` for each secret: call it under a rate limit (`createRateLimit`).
 */
export function diagnoseMismatch(
  request: SignedRequest,
  secrets: readonly PreparedSecret[],
  options: DiagnoseOptions = {},
): Diagnosis {
  const scheme = resolveScheme(options.scheme, options.headerPrefix);
  for (const secret of secrets.slice(0, diagnosedSecretsMax)) {
    const trial = trials(request, secret, scheme).find(holds);
    if (trial !== undefined) return { cause: trial.cause, explanation: trial.explanation };
  }
  return { cause: "unexplained", explanation: explanations.unexplained };
}

/**
 * The probable cause where the headers alone don't hold, whatever the body: the scheme whose form they have. It costs a look
 * at each known form.
 */
export function diagnoseHeaders(headers: SignedRequest["headers"], options: DiagnoseOptions = {}): Diagnosis {
  const scheme = resolveScheme(options.scheme, options.headerPrefix);
  const hasForm = (form: SchemeTrial): boolean =>
    createVerifier({ scheme: form.scheme }).checkHeaders(headers) === undefined;
  const form = [...schemeTrials(scheme), ...presetForms()].find(hasForm);
  if (form === undefined) return { cause: "unexplained", explanation: noForm };
  return { cause: form.cause, explanation: formExplanations[form.cause] ?? form.explanation };
}

/** Whether the signature holds if the mistake is assumed; the timestamp does not matter. */
function holds({ request, secret, scheme }: Trial): boolean {
  const verification = createVerifier({ scheme }).verify(request, [secret], 0);
  return verification.ok || verification.reason === "timestamp-unparseable";
}

function presetForms(): SchemeTrial[] {
  return Object.entries(signaturePresets).map(([name, scheme]) => ({
    cause: "other-preset",
    explanation: `The headers have the form of the preset "${name}": set webhook.signature to it.`,
    scheme,
  }));
}
