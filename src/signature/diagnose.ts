/**
 * Why a signature did not hold, for the log. Each known mistake is one trial: the check is run again as if the
 * mistake had been made, and the first trial that holds names the cause. It only ever explains: the request
 * stays refused. Work is bounded, and what it returns holds no secret, signature, digest or payload.
 */
import {
  resolveScheme,
  signaturePresets,
  type ResolvedScheme,
  type SecretEncoding,
  type SignatureOption,
} from "./scheme.ts";
import { prepareSecret, type PreparedSecret } from "./secret.ts";
import { createVerifier, type SignedRequest } from "./verify.ts";

export type DiagnosisCause =
  | "secret-whitespace"
  | "secret-quoted"
  | "secret-is-base64"
  | "secret-is-text"
  | "secret-without-prefix"
  | "secret-needs-prefix"
  | "body-reserialised"
  | "body-newline"
  | "signature-encoding"
  | "signature-algorithm"
  | "signed-content"
  | "other-preset"
  | "unexplained";

export interface Diagnosis {
  readonly cause: DiagnosisCause;
  /** One English sentence: what is wrong and what to change. */
  readonly explanation: string;
}

export interface DiagnoseOptions {
  /** The verifier's scheme. Default `"default"`. */
  readonly scheme?: SignatureOption | undefined;
  /** Default `X-Service-`. */
  readonly headerPrefix?: string | undefined;
}

/** Secrets beyond this are not tried. */
export const diagnosedSecretsMax = 4;

/** A larger body is not parsed: nobody has vouched for it. */
export const diagnosedJsonBytesMax = 32 * 1024;

/** A value nested deeper is not printed: indented, it could grow to many times the body. The service nests three deep. */
const diagnosedDepthMax = 8;

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

function presetForms(): SchemeTrial[] {
  return Object.entries(signaturePresets).map(([name, scheme]) => ({
    cause: "other-preset",
    explanation: `The headers have the form of the preset "${name}": set webhook.signature to it.`,
    scheme,
  }));
}

const noForm =
  "The signature header has the form of no known scheme: check webhook.signature, that no proxy changes the header, " +
  "or the sender is not the service.";

const formExplanations: Partial<Record<DiagnosisCause, string>> = {
  "signature-encoding":
    'The signature header is written in the other encoding: set the scheme\'s encoding to "base64" or "hex".',
  "signature-algorithm":
    "The signature header is as long as that of another hash: set the scheme's algorithm to the sender's.",
  "signed-content":
    "The request has a signature and lacks the id or the timestamp that the scheme signs: set the scheme's content.",
};

interface Trial extends Diagnosis {
  readonly request: SignedRequest;
  readonly secret: PreparedSecret;
  readonly scheme: SignatureOption;
}

const explanations: Readonly<Record<DiagnosisCause, string>> = {
  "secret-whitespace":
    "The configured signing secret has white space around it and verifies without: trim it where it is stored.",
  "secret-quoted":
    "The configured signing secret has quotes around it and verifies without: remove them from the environment file.",
  "secret-is-base64":
    'The sender\'s key is the base64-decoded secret and yours is its text: set secretEncoding to "base64".',
  "secret-is-text":
    "The sender's key is the secret's text and yours is its base64-decoded bytes: set secretEncoding to \"utf8\".",
  "secret-without-prefix":
    "The sender's key is the secret without its whsec_ prefix: configure it without the prefix.",
  "secret-needs-prefix":
    "The sender's key is the whole secret with its whsec_ prefix: configure it with the prefix.",
  "body-reserialised":
    "The signature is over another serialisation of this JSON, so a JSON parser came between the wire and the " +
    "check: hand over the raw bytes, by mounting the webhook route before express.json() or its like.",
  "body-newline":
    "The signature is over the body with another trailing newline, so something on the way added or cut one: " +
    "hand over the raw bytes.",
  "signature-encoding":
    'The digest is right but written in the other encoding: set the scheme\'s encoding to "base64" or "hex".',
  "signature-algorithm":
    "The signature holds under another hash: set the scheme's algorithm to the sender's.",
  "signed-content":
    "The sender signs the body with or without the id and timestamp: set the scheme's content.",
  "other-preset": "The signature holds under another preset: set webhook.signature to it.",
  unexplained:
    "No known mistake explains it: compare the secret with the subscription's (regenerated, or of another account " +
    "or environment?), make sure that the raw bytes reach the check, or the sender is not the service.",
};

/** Whether the signature holds if the mistake is assumed; the timestamp does not matter. */
function holds({ request, secret, scheme }: Trial): boolean {
  const verification = createVerifier({ scheme }).verify(request, [secret], 0);
  return verification.ok || verification.reason === "timestamp-unparseable";
}

function trials(request: SignedRequest, secret: PreparedSecret, scheme: ResolvedScheme): Trial[] {
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

const newline = 0x0a;
const carriageReturn = 0x0d;

function newlineForms(body: Buffer): Buffer[] {
  if (body.at(-1) !== newline) return [Buffer.concat([body, Buffer.from("\n")])];
  const line = body.subarray(0, -1);
  return line.at(-1) === carriageReturn ? [line, line.subarray(0, -1)] : [line];
}

/** Bodies that the sender may have signed, if a parser changed the body on its way. */
function jsonForms(body: Buffer): string[] {
  if (body.length > diagnosedJsonBytesMax) return [];
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (isDeeper(value, diagnosedDepthMax)) return [];
    const compact = JSON.stringify(value);
    const pretty = JSON.stringify(value, null, 2);
    return [
      compact,
      pretty,
      withTwoDecimals(compact),
      asciiOnly(compact),
      withTwoDecimals(asciiOnly(compact)),
    ];
  } catch {
    return [];
  }
}

// Level by level, not recursively: nobody has vouched for the body.
function isDeeper(root: unknown, depthMax: number): boolean {
  let level = [root];
  for (let depth = 0; depth <= depthMax && level.length > 0; depth++)
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  return level.length > 0;
}

/** A parser turns the service's `600.00` into `600`, and an amount is what most bodies hold (supplement, Signature). */
function withTwoDecimals(json: string): string {
  const amount = /("(?:amount|Amount)":)(-?\d{1,15})(?:\.(\d))?(?=[,}])/g;
  return json.replace(amount, (_, name: string, whole: string, tenth = "0") => `${name}${whole}.${tenth}0`);
}

function asciiOnly(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

type SchemeTrial = Diagnosis & Pick<Trial, "scheme">;

function schemeTrials(scheme: ResolvedScheme): SchemeTrial[] {
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
