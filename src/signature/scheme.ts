import { describeSeen, invalidConfiguration } from "./configuration-error.ts";

/**
 * How a sender signs, as plain data. Each field that is left out has the default scheme's value: HMAC-SHA256 over the
 * raw bytes of the body, in hex, with or without `sha256=` in front, and the whole secret as UTF-8.
 *
 * ```ts
 * const scheme: SignatureScheme = { algorithm: "sha512", encoding: "base64", prefix: "", content: "timestamp.body" };
 * ```
 */
export interface SignatureScheme {
  /** The hash of the HMAC. Default `sha256`. */
  readonly algorithm?: "sha256" | "sha1" | "sha512";
  /** How the digest is written. `hex` may be in upper or lower case; `base64` is the padded standard alphabet. Default `hex`. */
  readonly encoding?: "hex" | "base64";
  /**
   * The text before the digest. In a list it marks the entries that hold a digest. Default: the algorithm and `=`.
   */
  readonly prefix?: string;
  /** Whether a signature without the prefix is malformed. Entries of a list always need it. Default `false`. */
  readonly prefixRequired?: boolean;
  /** Which bytes are signed. Default `body`. */
  readonly content?: SignedContent;
  /** How the secret's text becomes the key, unless the secret has its own `encoding`. Default `utf8`. */
  readonly secretEncoding?: SecretEncoding;
  /** Whether the one signature header is a list of entries, and what separates them. Default `none`. */
  readonly list?: "none" | "comma" | "space";
  /** Default the header prefix and `Signature`. */
  readonly signatureHeader?: string;
  /** Default the header prefix and `Timestamp`. */
  readonly timestampHeader?: string;
  /** Default the header prefix and `Webhook-Id`. */
  readonly idHeader?: string;
  /**
   * The text before the timestamp, if the timestamp is an entry of the signature header. Default `null`: it has a header of
   * its own.
   */
  readonly timestampEntry?: string | null;
  /**
   * The form of the timestamp: Unix seconds, Unix milliseconds, or ISO 8601 with a zone. It is never guessed from the
   * value. Default `iso`.
   */
  readonly timestampUnit?: TimestampUnit;
}

/** A scheme with every field filled in and every name checked. */
export type ResolvedScheme = Readonly<Required<SignatureScheme>>;

/**
 * The signed bytes: a named form, or a function of the parts. If the function reads the timestamp or the id, that
 * header is required and counts as signed, and the timestamp must be within the tolerance. Otherwise the header is
 * ignored.
 */
export type SignedContent =
  "body" | "timestamp.body" | "id.timestamp.body" | ((parts: SignedParts) => Uint8Array | string);

/** The input of a content function. Header values are exactly as received: not trimmed, not lower-cased. */
export interface SignedParts {
  /** The value of the id header. */
  readonly id: string;
  /** The value of the timestamp header. */
  readonly timestamp: string;
  /** The raw bytes. Join them as bytes (`Buffer.concat`): as text, bytes that are not UTF-8 are replaced. */
  readonly body: Uint8Array;
}

/** `utf8`: the whole text, with its `whsec_`. `base64`: the decoded bytes, without a leading `whsec_`. */
export type SecretEncoding = "utf8" | "base64";

/** The form of a signed timestamp. */
export type TimestampUnit = "s" | "ms" | "iso";

/** The schemes known by name. */
export type SignaturePreset = "default" | "github" | "stripe" | "shopify" | "standard-webhooks";

/** The option `webhook.signature`: a preset's name or a scheme. */
export type SignatureOption = SignaturePreset | SignatureScheme;

/** The schemes of this service and of well-known senders. */
export const signaturePresets: Readonly<Record<SignaturePreset, SignatureScheme>> = {
  default: {},
  github: { prefixRequired: true, signatureHeader: "X-Hub-Signature-256", idHeader: "X-GitHub-Delivery" },
  stripe: {
    prefix: "v1=",
    content: "timestamp.body",
    list: "comma",
    signatureHeader: "Stripe-Signature",
    timestampEntry: "t=",
    timestampUnit: "s",
  },
  shopify: {
    encoding: "base64",
    prefix: "",
    signatureHeader: "X-Shopify-Hmac-Sha256",
    timestampHeader: "X-Shopify-Triggered-At",
    idHeader: "X-Shopify-Webhook-Id",
  },
  "standard-webhooks": {
    encoding: "base64",
    prefix: "v1,",
    content: "id.timestamp.body",
    secretEncoding: "base64",
    list: "space",
    signatureHeader: "webhook-signature",
    timestampHeader: "webhook-timestamp",
    idHeader: "webhook-id",
    timestampUnit: "s",
  },
};

export const defaultHeaderPrefix = "X-Service-";

/**
 * Fills in a scheme, header names included, and checks it: once, at start-up. A resolved scheme stays as it is.
 *
 * @param option Preset name or scheme. Default `"default"`.
 * @param headerPrefix What the default header names begin with. Default `X-Service-`; case does not matter.
 * @throws `invalid-configuration` for an unknown preset, field or value, or a prefix that no header can begin with.
 */
export function resolveScheme(
  option: SignatureOption = "default",
  headerPrefix: string = defaultHeaderPrefix,
): ResolvedScheme {
  refuseBadHeaderPrefix(headerPrefix);
  const scheme = typeof option === "string" ? presetNamed(option) : option;
  refuseBadFields(scheme);
  const named = Object.fromEntries(Object.entries(scheme).filter(([, value]) => value !== undefined));
  const resolved: ResolvedScheme = { ...defaultsFor(scheme, headerPrefix), ...named };
  refuseLostTimestamp(resolved);
  return Object.freeze(resolved);
}

function presetNamed(name: string): SignatureScheme {
  const preset = Object.entries(signaturePresets).find(([known]) => known === name)?.[1];
  if (preset !== undefined) return preset;
  throw invalidConfiguration(
    `webhook.signature names no preset: ${describeSeen(name)}.`,
    "a misspelt name, or the secret given in the place of the scheme.",
    `one of ${Object.keys(signaturePresets).join(", ")}, or a SignatureScheme object.`,
  );
}

function defaultsFor(scheme: SignatureScheme, headerPrefix: string): ResolvedScheme {
  return {
    algorithm: "sha256",
    encoding: "hex",
    prefix: `${scheme.algorithm ?? "sha256"}=`,
    prefixRequired: false,
    content: "body",
    secretEncoding: "utf8",
    list: "none",
    signatureHeader: `${headerPrefix}Signature`,
    timestampHeader: `${headerPrefix}Timestamp`,
    idHeader: `${headerPrefix}Webhook-Id`,
    timestampEntry: null,
    timestampUnit: "iso",
  };
}

interface FieldRule {
  readonly expected: string;
  accepts(value: unknown): boolean;
}

const headerName: FieldRule = { expected: "a header name", accepts: isHeaderName };

const fieldRules: Readonly<Record<keyof SignatureScheme, FieldRule>> = {
  algorithm: oneOf("sha256", "sha1", "sha512"),
  encoding: oneOf("hex", "base64"),
  prefix: { expected: "a text, empty for none", accepts: (value) => typeof value === "string" },
  prefixRequired: { expected: "true or false", accepts: (value) => typeof value === "boolean" },
  content: {
    expected: '"body", "timestamp.body", "id.timestamp.body" or a function',
    accepts: (value) => typeof value === "function" || isNamedContent(value),
  },
  secretEncoding: oneOf("utf8", "base64"),
  list: oneOf("none", "comma", "space"),
  signatureHeader: headerName,
  timestampHeader: headerName,
  idHeader: headerName,
  timestampEntry: {
    expected: 'a text such as "t=", or null',
    accepts: (value) => value === null || (typeof value === "string" && value !== ""),
  },
  timestampUnit: oneOf("s", "ms", "iso"),
};

function oneOf(...values: readonly string[]): FieldRule {
  return {
    expected: values.map((value) => `"${value}"`).join(" or "),
    accepts: (value) => typeof value === "string" && values.includes(value),
  };
}

function isNamedContent(value: unknown): boolean {
  return value === "body" || value === "timestamp.body" || value === "id.timestamp.body";
}

function isHeaderName(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(value);
}

function refuseBadHeaderPrefix(headerPrefix: unknown): void {
  if (headerPrefix === "" || isHeaderName(headerPrefix)) return;
  throw invalidConfiguration(
    `webhook.headerPrefix can't begin a header name: ${describeSeen(headerPrefix)}.`,
    "a space, a colon or a letter outside ASCII in it.",
    `letters, digits and dashes only, as in "${defaultHeaderPrefix}".`,
  );
}

function refuseBadFields(scheme: unknown): void {
  if (typeof scheme !== "object" || scheme === null || Array.isArray(scheme)) throw notAScheme(scheme);
  for (const [name, value] of Object.entries(scheme)) {
    const rule = Object.entries(fieldRules).find(([known]) => known === name)?.[1];
    if (rule === undefined) throw unknownField(name);
    if (value !== undefined && !rule.accepts(value)) throw unknownValue(name, value, rule.expected);
  }
}

function notAScheme(seen: unknown): Error {
  return invalidConfiguration(
    `webhook.signature is ${describeSeen(seen)}.`,
    "an option given in the wrong place.",
    "the name of a preset, or a SignatureScheme object.",
  );
}

function unknownField(name: string): Error {
  return invalidConfiguration(
    `The signature scheme has an unknown field: ${describeSeen(name)}.`,
    "a misspelt name. If it were ignored, the check could be weaker than you want.",
    `only ${Object.keys(fieldRules).join(", ")}.`,
  );
}

function unknownValue(name: string, value: unknown, expected: string): Error {
  return invalidConfiguration(
    `The signature scheme's ${name} is ${describeSeen(value)}.`,
    "a misspelt or unsupported value.",
    `${expected}.`,
  );
}

function refuseLostTimestamp(scheme: ResolvedScheme): void {
  if (scheme.timestampEntry === null || scheme.list !== "none") return;
  throw invalidConfiguration(
    'The signature scheme has a timestampEntry, but its list is "none".',
    "the signature header is a list of entries, and the scheme does not say so.",
    'list: "comma" or "space", or no timestampEntry.',
  );
}
