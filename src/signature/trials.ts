/** Each known mistake as a trial: the request, the secret and the scheme as they would be without it. */
import { jsonForms, newlineForms } from "./body-forms.ts";
import { explanations, type Diagnosis, type DiagnosisCause } from "./diagnosis.ts";
import {
  signaturePresets,
  type ResolvedScheme,
  type SecretEncoding,
  type SignatureOption,
} from "./scheme.ts";
import { prepareSecret, type PreparedSecret } from "./secret.ts";
import type { SignedRequest } from "./verify.ts";

export interface Trial extends Diagnosis {
  readonly request: SignedRequest;
  readonly secret: PreparedSecret;
  readonly scheme: SignatureOption;
}

export function trials(request: SignedRequest, secret: PreparedSecret, scheme: ResolvedScheme): Trial[] {
  const asReceived = { request, secret, scheme };
  return [
    ...secretTrials(secret).map((trial) => ({ ...asReceived, ...trial })),
    ...bodyTrials(request).map((trial) => ({ ...asReceived, ...trial })),
    ...schemeTrials(scheme).map((trial) => ({ ...asReceived, ...trial })),
    ...presetTrials(secret).map((trial) => ({ ...asReceived, ...trial })),
  ];
}

type SecretTrial = Diagnosis & Pick<Trial, "secret">;

function secretTrials(secret: PreparedSecret): SecretTrial[] {
  const texts = textsOf(secret);
  if (secret.encoding === "base64") return texts.flatMap((text) => prepared("secret-is-text", text, "utf8"));
  return texts.flatMap((text) => [
    ...prepared("secret-whitespace", text.trim(), "utf8"),
    ...prepared("secret-quoted", withoutQuotes(text.trim()), "utf8"),
    ...prepared("secret-is-base64", text, "base64"),
    ...prepared("secret-without-prefix", text.replace(/^whsec_/, ""), "utf8"),
    ...prepared("secret-needs-prefix", `whsec_${text}`, "utf8"),
  ]);
}

/** The texts that the secret may have been configured as: a base64 key does not tell whether `whsec_` led it. */
function textsOf({ key, encoding }: PreparedSecret): string[] {
  const bytes = key.export();
  if (encoding === "utf8") return [bytes.toString("utf8")];
  const text = bytes.toString("base64");
  return [`whsec_${text}`, text];
}

function withoutQuotes(text: string): string {
  return text.replace(/^(["'`])(.*)\1$/s, "$2");
}

/** None where the text is no secret in that encoding: a trial that can't be made is not made. */
function prepared(cause: DiagnosisCause, text: string, encoding: SecretEncoding): SecretTrial[] {
  if (text === "") return [];
  try {
    const secret = prepareSecret({ id: "trial", secret: text }, { secretEncoding: encoding });
    return [{ cause, explanation: explanations[cause], secret }];
  } catch {
    return [];
  }
}

type BodyTrial = Diagnosis & Pick<Trial, "request">;

function bodyTrials(request: SignedRequest): BodyTrial[] {
  const body = Buffer.from(request.body.buffer, request.body.byteOffset, request.body.byteLength);
  return [
    ...newlineForms(body).map((form) => withBody(request, "body-newline", form)),
    ...jsonForms(body).map((form) => withBody(request, "body-reserialised", Buffer.from(form, "utf8"))),
  ];
}

function withBody(request: SignedRequest, cause: DiagnosisCause, body: Uint8Array): BodyTrial {
  return {
    cause,
    explanation: explanations[cause],
    request: { headers: (name) => request.headers(name), body },
  };
}

export type SchemeTrial = Diagnosis & Pick<Trial, "scheme">;

export function schemeTrials(scheme: ResolvedScheme): SchemeTrial[] {
  const encoding = scheme.encoding === "hex" ? "base64" : "hex";
  const contents = ["body", "timestamp.body", "id.timestamp.body"] as const;
  return [
    under("signature-encoding", { ...scheme, encoding }),
    ...(["sha256", "sha1", "sha512"] as const).map((algorithm) =>
      under("signature-algorithm", { ...scheme, ...hash(scheme, algorithm) }),
    ),
    ...contents.map((content) => under("signed-content", { ...scheme, content })),
  ];
}

/** A prefix that names the hash changes with it. */
function hash(scheme: ResolvedScheme, algorithm: ResolvedScheme["algorithm"]) {
  return { algorithm, prefix: scheme.prefix.replace(scheme.algorithm, algorithm) };
}

function under(cause: DiagnosisCause, scheme: SignatureOption): SchemeTrial {
  return { cause, explanation: explanations[cause], scheme };
}

function presetTrials(secret: PreparedSecret): (SchemeTrial & SecretTrial)[] {
  return Object.entries(signaturePresets).flatMap(([name, scheme]) => {
    const encodings: SecretEncoding[] = ["utf8", "base64"];
    const secrets = textsOf(secret).flatMap((text) =>
      encodings.flatMap((encoding) => prepared("other-preset", text, encoding)),
    );
    const explanation = `The signature holds under the preset "${name}": set webhook.signature to it.`;
    return secrets.map((each) => ({ ...each, explanation, scheme }));
  });
}
