import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { describeKind, describeSeen, invalidConfiguration } from "./configuration-error.ts";
import type { ResolvedScheme, SecretEncoding } from "./scheme.ts";

/** The option `webhook.secrets` without a function: one signing secret, or all that are valid at present. */
export type SecretsOption = string | SecretOption | readonly (string | SecretOption)[];

/** One signing secret. `encoding` overrides the scheme's `secretEncoding`. */
export interface SecretOption {
  /**
   * Recorded with each delivery that this secret verifies. Default: `default`. In an array: the secret's position, from `1` on.
   */
  readonly id?: string;
  /** The secret as the service shows it. */
  readonly secret: string;
  /** How the secret becomes bytes. Default: the scheme's `secretEncoding`. */
  readonly encoding?: SecretEncoding;
}

/** A signing secret with its id, still as text: hand it to `prepareSecret` and let it go. */
export interface SecretText {
  readonly id: string;
  readonly secret: string;
  readonly encoding?: SecretEncoding;
}

/** A signing secret ready for use. It shows nothing of the secret when it is inspected or written as JSON. */
export interface PreparedSecret {
  readonly id: string;
  readonly key: KeyObject;
  /** 16 hex digits that name the secret for good, whatever its id: safe to store, of no use to a forger. */
  readonly fingerprint: string;
  readonly encoding: SecretEncoding;
}

/** Under this the key of a base64 secret is one that a guess could find, so it is a mistake. */
const decodedBytesMin = 16;

/** Not JSON, so that no delivery's signature is ever its fingerprint. */
const fingerprintLabel = "escrow-mirror: fingerprint of a signing secret";

/**
 * Reads the option into a list. Ids that are not given: `default` for a secret that stands alone, its place from `1`
 * on in an array. One trailing run of line breaks is cut off, as a file or a shell leaves it; other white space is
 * kept (`diagnoseMismatch` names it).
 *
 * @throws `invalid-configuration` for no secret, an empty or blank one, an unknown field, or an id that stands twice.
 */
export function parseSecrets(option: SecretsOption): SecretText[] {
  const secrets = isList(option)
    ? option.map((entry, index) => parseSecret(entry, String(index + 1)))
    : [parseSecret(option, "default")];
  if (secrets.length === 0) throw noSecret("webhook.secrets is an empty array.");
  refuseSharedIds(secrets);
  return secrets;
}

/**
 * Makes the key and the fingerprint of one secret, once, at start-up.
 *
 * @throws `invalid-configuration` for a base64 secret that does not decode or has under 16 bytes.
 */
export function prepareSecret(
  secret: SecretText,
  scheme: Pick<ResolvedScheme, "secretEncoding">,
): PreparedSecret {
  const encoding = secret.encoding ?? scheme.secretEncoding;
  const bytes = encoding === "utf8" ? Buffer.from(secret.secret, "utf8") : decodeSecret(secret);
  const key = createSecretKey(bytes);
  const fingerprint = createHmac("sha256", key).update(fingerprintLabel).digest("hex").slice(0, 16);
  return Object.freeze({ id: secret.id, key, fingerprint, encoding });
}

/** `parseSecrets`, then `prepareSecret` for each: no text of a secret is left over. */
export function prepareSecrets(
  option: SecretsOption,
  scheme: Pick<ResolvedScheme, "secretEncoding">,
): PreparedSecret[] {
  return parseSecrets(option).map((secret) => prepareSecret(secret, scheme));
}

/** `Array.isArray` does not narrow a readonly array. */
function isList(option: SecretsOption): option is readonly (string | SecretOption)[] {
  return Array.isArray(option);
}

/** One entry of the option; `ownId` is its id where it gives none. Throws as `parseSecrets` does. */
export function parseSecret(entry: unknown, ownId: string): SecretText {
  if (typeof entry === "string") return { id: ownId, secret: parseText(entry, ownId) };
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
    throw noText(entry, ownId);
  }
  return parseSecretObject(new Map(Object.entries(entry)), ownId);
}

function parseSecretObject(fields: ReadonlyMap<string, unknown>, ownId: string): SecretText {
  refuseUnknownFields(fields, ownId);
  const id = parseId(fields.get("id"), ownId);
  const secret = parseText(fields.get("secret"), id);
  const encoding = parseEncoding(fields.get("encoding"), id);
  return encoding === undefined ? { id, secret } : { id, secret, encoding };
}

function parseText(text: unknown, id: string): string {
  if (typeof text !== "string") throw noText(text, id);
  if (text.trim() === "") throw noSecret(`Signing secret "${id}" is empty or blank.`);
  return text.replace(/[\r\n]+$/, "");
}

function parseId(id: unknown, ownId: string): string {
  if (id === undefined) return ownId;
  if (typeof id === "string" && id.trim() !== "") return id;
  throw invalidConfiguration(
    `The id of signing secret "${ownId}" is ${id === "" ? "empty" : describeSeen(id)}.`,
    "a key of your configuration that is not set.",
    "a short name such as a date, or no id at all.",
  );
}

function parseEncoding(encoding: unknown, id: string): SecretEncoding | undefined {
  if (encoding === undefined || encoding === "utf8" || encoding === "base64") return encoding;
  throw invalidConfiguration(
    `The encoding of signing secret "${id}" is ${describeSeen(encoding)}.`,
    "a misspelt name.",
    '"utf8" (the whole text is the key) or "base64" (the decoded bytes are), or none for the scheme\'s own.',
  );
}

function refuseUnknownFields(fields: ReadonlyMap<string, unknown>, ownId: string): void {
  const known = ["id", "secret", "encoding"];
  if ([...fields.keys()].every((name) => known.includes(name))) return;
  throw invalidConfiguration(
    `Signing secret "${ownId}" has a field that is not known.`,
    "a misspelt name, or a record of secrets given instead of an array.",
    `only ${known.join(", ")}.`,
  );
}

function refuseSharedIds(secrets: readonly SecretText[]): void {
  const ids = secrets.map((secret) => secret.id);
  const shared = ids.find((id, index) => ids.indexOf(id) !== index);
  if (shared === undefined) return;
  throw invalidConfiguration(
    `Two signing secrets have the id ${describeSeen(shared)}.`,
    "a copied entry, or a number as an id: an entry without an id has its position as the id.",
    "an id of its own for each secret.",
  );
}

function noText(value: unknown, id: string): Error {
  const seen = `Signing secret "${id}" is ${describeKind(value)}.`;
  if (typeof value !== "number") return noSecret(seen);
  return invalidConfiguration(
    seen,
    "a file that gives it without quotes, as YAML or JSON.",
    "quote it there.",
  );
}

function noSecret(seen: string): Error {
  return invalidConfiguration(
    seen,
    "an environment variable that is not set where the process runs.",
    "webhook.secrets: the secretKey of your subscription at the service, as a string.",
  );
}

function decodeSecret({ id, secret }: SecretText): Buffer {
  const text = secret.startsWith("whsec_") ? secret.slice("whsec_".length) : secret;
  const bytes = Buffer.from(text, "base64");
  // Node drops what is not base64: "whsec_xyz!" would shrink to a key of two bytes, and still "work".
  const faithful = bytes.toString("base64").replace(/=+$/, "") === text.replace(/={1,2}$/, "");
  if (faithful && bytes.length >= decodedBytesMin) return bytes;
  throw invalidConfiguration(
    `Signing secret "${id}" is ${faithful ? `${bytes.length} bytes after base64` : "not base64"}.`,
    "a secret that is meant as text, a part of it lost in copying, or white space or quotes around it.",
    `encoding: "utf8" where the whole text is the key; else the full secret, ${decodedBytesMin} bytes or more.`,
  );
}
