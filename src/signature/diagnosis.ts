/** The known causes of a wrong signature, and the sentence for each: what is wrong and what to change. */

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

export const explanations: Readonly<Record<DiagnosisCause, string>> = {
  "secret-whitespace":
    "The configured signing secret has white space around it. Without the white space it fits: trim it where it is stored.",
  "secret-quoted":
    "The configured signing secret has quotes around it. Without the quotes it fits: remove them from the environment file.",
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
    "or environment?), and make sure that the raw bytes reach the check. If both are right, the sender is not the service.",
};

/** For headers that have the form of another scheme, whatever the body. */
export const formExplanations: Partial<Record<DiagnosisCause, string>> = {
  "signature-encoding":
    'The signature header is written in the other encoding: set the scheme\'s encoding to "base64" or "hex".',
  "signature-algorithm":
    "The signature header is as long as that of another hash: set the scheme's algorithm to the sender's.",
  "signed-content":
    "The request has a signature and lacks the id or the timestamp that the scheme signs: set the scheme's content.",
};

export const noForm =
  "The signature header has the form of no known scheme: check webhook.signature, and that no proxy changes the " +
  "header. If both are right, the sender is not the service.";
