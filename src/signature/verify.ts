/**
 * Checks whether a request was signed with one of our secrets, for the receiver's step *verify*. It never throws, whatever
 * the headers are. It compares in constant time. It looks at the clock only after the signature matches, so it tells a
 * late but authentic delivery from a forged one (semantics §3).
 */
import { timingSafeEqual } from "node:crypto";
import { digestOf, toContent, type Content, type PartSource } from "./content.ts";
import { digestBytes } from "./hmac.ts";
import { resolveScheme, type ResolvedScheme, type SignatureOption } from "./scheme.ts";
import type { PreparedSecret } from "./secret.ts";
import {
  isWithin,
  parseTimestamp,
  resolveTolerance,
  type Tolerance,
  type ToleranceOption,
} from "./timestamp.ts";

export interface VerifierOptions {
  /** Preset name or scheme. Default `"default"`. */
  readonly scheme?: SignatureOption | undefined;
  /** Default `X-Service-`. */
  readonly headerPrefix?: string | undefined;
  /** Only of use where the scheme signs the timestamp. Default 24 h past, 5 min future; bounds are inside. */
  readonly toleranceMs?: ToleranceOption | undefined;
}

export interface Verifier {
  readonly scheme: ResolvedScheme;
  /**
   * Why no body at all could make the request hold, if so: what its headers lack. `verify` would say the same. Never throws.
   */
  checkHeaders(headers: SignedRequest["headers"]): VerifyFailure | undefined;
  /** Never throws. `secrets` are tried in their order. */
  verify(request: SignedRequest, secrets: readonly PreparedSecret[], nowMs: number): Verification;
}

export interface SignedRequest {
  /** All values of a header as received, `[]` when it is absent. It is asked with lower-case names. */
  headers(name: string): readonly string[];
  /** The raw bytes as received: never parsed, inflated or decoded. */
  readonly body: Uint8Array;
}

export type Verification = Verified | { readonly ok: false; readonly reason: VerifyFailure };

export interface Verified {
  readonly ok: true;
  readonly secretId: string;
  readonly fingerprint: string;
  /** The signed timestamp; `null` where the scheme signs none. */
  readonly timestampMs: number | null;
  /** Authentic, but its signed timestamp lies too far from now. Always `false` where the scheme signs none. */
  readonly outsideTolerance: boolean;
}

export type VerifyFailure =
  /** No signature header, or a blank one. */
  | "signature-missing"
  /** The header can't be a signature of this scheme, stands more than once, or a signed id is missing or has a dot. */
  | "signature-malformed"
  /** Well-formed, and made with none of the secrets: forged, or a secret that we don't have yet. */
  | "signature-mismatch"
  /** The scheme signs a timestamp and there is none. */
  | "timestamp-missing"
  /** The signature holds, but its timestamp is not in the scheme's unit. */
  | "timestamp-unparseable";

/**
 * Prepares the check of one scheme.
 *
 * Several signature *headers* never pass. One header with several *entries* does where the scheme is such a list
 * (Stripe, Standard Webhooks): any entry may match, but each that bears the scheme's prefix must be as long as a digest.
 *
 * @throws `invalid-configuration` for a scheme, prefix or tolerance that is wrong.
 */
export function createVerifier(options: VerifierOptions = {}): Verifier {
  const scheme = resolveScheme(options.scheme, options.headerPrefix);
  const tolerance = resolveTolerance(options.toleranceMs);
  const names = lowerCaseNames(scheme);
  const form = digestForm(scheme);
  const isAmong = createComparison(form.length);
  return {
    scheme,
    checkHeaders(headers) {
      const claim = readClaim(scheme, form, headers(names.signature));
      if (typeof claim === "string") return claim;
      const gap = missingHeader(scheme, partsOf({ headers, body: noBody }, names, claim));
      if (gap !== undefined) return gap;
      return claim.digests.some(form.isDigest) ? undefined : "signature-malformed";
    },
    verify(request, secrets, nowMs) {
      const claim = readClaim(scheme, form, request.headers(names.signature));
      if (typeof claim === "string") return failed(claim);
      const content = toContent(scheme, partsOf(request, names, claim));
      if (content === undefined) return failed("signature-mismatch");
      const gap = missingPart(scheme, content);
      if (gap !== undefined) return failed(gap);
      const secret = secrets.find(({ key }) => isAmong(claim.digests, digestOf(scheme, key, content)));
      if (secret === undefined)
        return failed(claim.digests.every(form.isDigest) ? "signature-mismatch" : "signature-malformed");
      return judgeTime(scheme, tolerance, content, secret, nowMs);
    },
  };
}

/** The parts of the signature header: its digests, and its timestamp if it has one. */
interface SignatureClaim {
  /** As the scheme writes them, hex in lower case. */
  readonly digests: readonly string[];
  /** `null` where the scheme has a header of its own for it. */
  readonly timestamp: string | null;
}

type ClaimFailure = "signature-missing" | "signature-malformed";

interface HeaderNames {
  readonly signature: string;
  readonly timestamp: string;
  readonly id: string;
}

/** More entries than any roll-over needs; each costs a comparison. */
const entriesMax = 16;

function lowerCaseNames(scheme: ResolvedScheme): HeaderNames {
  return {
    signature: scheme.signatureHeader.toLowerCase(),
    timestamp: scheme.timestampHeader.toLowerCase(),
    id: scheme.idHeader.toLowerCase(),
  };
}

function readClaim(
  scheme: ResolvedScheme,
  form: DigestForm,
  values: readonly string[],
): SignatureClaim | ClaimFailure {
  const [value, ...more] = values;
  if (value === undefined || values.every(isBlank)) return "signature-missing";
  if (more.length > 0) return "signature-malformed";
  if (scheme.list !== "none") return readList(scheme, form, value);
  const digest = readDigest(form, withoutPrefix(scheme, value));
  return digest === undefined ? "signature-malformed" : { digests: [digest], timestamp: null };
}

function readList(scheme: ResolvedScheme, form: DigestForm, value: string): SignatureClaim | ClaimFailure {
  const entries = value.split(scheme.list === "comma" ? "," : " ", entriesMax + 1);
  const digests = valuesUnder(entries, scheme.prefix).map((text) => readDigest(form, text));
  const timestamps = scheme.timestampEntry === null ? null : valuesUnder(entries, scheme.timestampEntry);
  if (entries.length > entriesMax || digests.length === 0) return "signature-malformed";
  if (!digests.every(isRead) || (timestamps?.length ?? 0) > 1) return "signature-malformed";
  return { digests, timestamp: timestamps === null ? null : (timestamps[0] ?? "") };
}

function valuesUnder(entries: readonly string[], prefix: string): string[] {
  return entries.filter((entry) => entry.startsWith(prefix)).map((entry) => entry.slice(prefix.length));
}

function withoutPrefix({ prefix, prefixRequired }: ResolvedScheme, value: string): string {
  if (value.startsWith(prefix)) return value.slice(prefix.length);
  return prefixRequired ? "" : value;
}

/** How the scheme writes a digest. */
interface DigestForm {
  readonly length: number;
  /** Hex may come in either case; base64 has one. */
  readonly encoding: ResolvedScheme["encoding"];
  /** Only one spelling of the bytes is one: no junk, no padding left out, no bits set that padding covers. */
  readonly isDigest: (text: string) => boolean;
}

function digestForm({ algorithm, encoding }: ResolvedScheme): DigestForm {
  const bytes = digestBytes[algorithm];
  const length = encoding === "hex" ? bytes * 2 : Math.ceil(bytes / 3) * 4;
  const end = bytes % 3 === 1 ? "[AQgw]==" : "[AEIMQUYcgkosw048]=";
  const pattern = encoding === "hex" ? /^[0-9a-f]+$/ : new RegExp(`^[A-Za-z0-9+/]+${end}$`);
  return { encoding, length, isDigest: (text) => pattern.test(text) };
}

/** A digest by its length. Its characters are looked at only where it matches none of ours: to say what is wrong. */
function readDigest({ encoding, length }: DigestForm, value: string): string | undefined {
  const text = encoding === "hex" ? value.toLowerCase() : value;
  return text.length === length ? text : undefined;
}

function isRead(digest: string | undefined): digest is string {
  return digest !== undefined;
}

/**
 * Compares texts of one length in constant time. What is written as Latin-1 may lose bits, so that a match is looked
 * at once more.
 */
function createComparison(length: number): (claimed: readonly string[], digest: string) => boolean {
  const one = Buffer.alloc(length);
  const other = Buffer.alloc(length);
  return (claimed, digest) => {
    one.write(digest, "latin1");
    return claimed.some((candidate) => {
      other.write(candidate, "latin1");
      return timingSafeEqual(one, other) && candidate === digest;
    });
  };
}

/** A repeated header reads as HTTP joins it (RFC 9110 §5.3), as hosts that join early hand it over. */
function partsOf(request: SignedRequest, names: HeaderNames, claim: SignatureClaim): PartSource {
  return {
    body: request.body,
    id: () => request.headers(names.id).join(", "),
    timestamp: () => claim.timestamp ?? request.headers(names.timestamp).join(", "),
  };
}

const noBody = new Uint8Array();

/** The headers that a content function reads are known once it has run with the body. */
function missingHeader(scheme: ResolvedScheme, parts: PartSource): VerifyFailure | undefined {
  const content = typeof scheme.content === "function" ? undefined : toContent(scheme, parts);
  return content === undefined ? undefined : missingPart(scheme, content);
}

function missingPart(scheme: ResolvedScheme, content: Content): VerifyFailure | undefined {
  if (content.timestamp !== null && isBlank(content.timestamp)) return "timestamp-missing";
  if (content.id !== null && isBlank(content.id)) return "signature-malformed";
  // An id with a dot could end in two places: a part of a signed body would pass as the timestamp and the body.
  if (scheme.content === "id.timestamp.body" && content.id?.includes(".")) return "signature-malformed";
  return undefined;
}

function judgeTime(
  scheme: ResolvedScheme,
  tolerance: Tolerance,
  content: Content,
  secret: PreparedSecret,
  nowMs: number,
): Verification {
  if (content.timestamp === null) return verified(secret, null, false);
  const timestampMs = parseTimestamp(content.timestamp, scheme.timestampUnit);
  if (timestampMs === undefined) return failed("timestamp-unparseable");
  return verified(secret, timestampMs, !isWithin(tolerance, timestampMs, nowMs));
}

function verified(secret: PreparedSecret, timestampMs: number | null, outsideTolerance: boolean): Verified {
  return { ok: true, secretId: secret.id, fingerprint: secret.fingerprint, timestampMs, outsideTolerance };
}

function failed(reason: VerifyFailure): Verification {
  return { ok: false, reason };
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
