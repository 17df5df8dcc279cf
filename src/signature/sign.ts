/** The other side of verify.ts: the headers that a sender of the scheme would send, for tests and the testing kit. */
import { EscrowMirrorError } from "../shared/errors.ts";
import { digestOf, toContent } from "./content.ts";
import { defaultHeaderPrefix, resolveScheme, type ResolvedScheme, type SignatureOption } from "./scheme.ts";
import { parseSecret, prepareSecret, type SecretOption } from "./secret.ts";
import { formatTimestamp } from "./timestamp.ts";

export interface SignBodyOptions {
  /** Preset name or scheme. Default `"default"`. */
  readonly scheme?: SignatureOption | undefined;
  /** Default `X-Service-`. */
  readonly headerPrefix?: string | undefined;
  readonly secret: string | SecretOption;
  /** The bytes that are sent; a string is sent as UTF-8. */
  readonly body: Uint8Array | string;
  readonly webhookId: string;
  /** The event type, for the event header. Left out: no such header. */
  readonly event?: string | undefined;
  /** Milliseconds since 1970, written in the scheme's unit; or a text, sent and signed as it is. */
  readonly timestamp: number | string;
}

/**
 * Signs a body and returns the service's headers (§6.2) and those of the scheme, spelled as the sender spells them.
 *
 * @throws `invalid-configuration` for a wrong scheme or secret, `invalid-argument` for a content function that fails
 * or an id with a dot in it where `id.timestamp.body` is signed (no verifier here would take it).
 */
export function signBody(options: SignBodyOptions): Record<string, string> {
  const scheme = resolveScheme(options.scheme, options.headerPrefix);
  const timestamp = writtenTimestamp(options.timestamp, scheme);
  const digest = signedDigest(options, scheme, timestamp);
  const own = {
    [scheme.idHeader]: options.webhookId,
    ...(scheme.timestampEntry === null ? { [scheme.timestampHeader]: timestamp } : {}),
    [scheme.signatureHeader]: signatureValue(scheme, digest, timestamp),
  };
  return { ...serviceHeaders(options, timestamp, own), ...own };
}

function writtenTimestamp(timestamp: number | string, scheme: ResolvedScheme): string {
  return typeof timestamp === "string" ? timestamp : formatTimestamp(timestamp, scheme.timestampUnit);
}

function signedDigest(options: SignBodyOptions, scheme: ResolvedScheme, timestamp: string): string {
  const body = typeof options.body === "string" ? Buffer.from(options.body, "utf8") : options.body;
  const source = { body, id: () => options.webhookId, timestamp: () => timestamp };
  const content = toContent(scheme, source);
  if (content === undefined) throw unsignable("The scheme's content function throws, or returns no bytes.");
  if (scheme.content === "id.timestamp.body" && options.webhookId.includes(".")) {
    throw unsignable("The webhook id has a dot, which ends the id in the signed content. Use one without.");
  }
  const { key } = prepareSecret(parseSecret(options.secret, "default"), scheme);
  return digestOf(scheme, key, content);
}

/** A header that the scheme has too, in whatever case, is left to it: one name twice would be a repeated header. */
function serviceHeaders(options: SignBodyOptions, timestamp: string, own: Record<string, string>) {
  const { headerPrefix = defaultHeaderPrefix, webhookId, event } = options;
  const taken = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const all: [string, string | undefined][] = [
    [`${headerPrefix}Webhook-Id`, webhookId],
    [`${headerPrefix}Event`, event],
    [`${headerPrefix}Timestamp`, timestamp],
  ];
  return Object.fromEntries(all.filter(isSent).filter(([name]) => !taken.has(name.toLowerCase())));
}

function isSent(header: [string, string | undefined]): header is [string, string] {
  return header[1] !== undefined;
}

function signatureValue(scheme: ResolvedScheme, digest: string, timestamp: string): string {
  const separator = scheme.list === "comma" ? "," : " ";
  const entry = `${scheme.prefix}${digest}`;
  return scheme.timestampEntry === null ? entry : `${scheme.timestampEntry}${timestamp}${separator}${entry}`;
}

function unsignable(message: string): EscrowMirrorError {
  return new EscrowMirrorError("invalid-argument", message);
}
