/** The table of cases: what is sent to a mirror that has verified a delivery before, and the one answer of every host. */
import { gzipSync } from "node:zlib";
import type { Outcome, Reason } from "../../src/index.ts";
import { signBody } from "../../src/signature/sign.ts";
import { eventBody, fixtureDelivery, noonMs, otherSecret, secret, sha256 } from "../support/delivery.ts";
import type { HeaderPairs, Sent } from "./client.ts";

export interface HostCase {
  readonly title: string;
  readonly send: Omit<Sent, "path"> & { readonly pathSuffix?: string };
  readonly status: number;
  readonly outcome: Outcome;
  readonly webhookId?: string;
  readonly reason?: Reason;
  /** The id that it is stored under, if that is not the webhook id. */
  readonly storedAs?: string;
  /** The answer ends the connection. */
  readonly closes?: boolean;
}

export const maxBodyBytes = 1_048_576;

const json = ["Content-Type", "application/json"] as const;

/** The headers of a delivery as the service sends it, under the id `wh-<name>`. */
function signedAs(name: string, body: Uint8Array | string, key = secret): [string, string][] {
  return Object.entries(signBody({ secret: key, body, webhookId: `wh-${name}`, timestamp: noonMs }));
}

function bodyOf(name: string, event = "contract.created", more: Record<string, unknown> = {}): Buffer {
  return Buffer.from(eventBody(event, { id: `payload-${name}`, contractId: `CNT-${name}`, ...more }));
}

/** A delivery of its own for each case, so that none is another's duplicate. */
function fresh(
  name: string,
  more: Partial<HostCase["send"]> = {},
  extra: HeaderPairs = [json],
): HostCase["send"] {
  const body = more.body instanceof Uint8Array ? more.body : bodyOf(name);
  return { ...more, body, headers: [...extra, ...signedAs(name, body)] };
}

function applied(title: string, name: string, send = fresh(name)): HostCase {
  return { title, send, status: 200, outcome: "applied", webhookId: `wh-${name}` };
}

function quarantined(title: string, name: string, reason: Reason, send = fresh(name)): HostCase {
  return { title, send, status: 200, outcome: "quarantined", webhookId: `wh-${name}`, reason };
}

/** Signed under the id of one delivery, with the payload id of another; what it claims is theirs. */
function conflicting(title: string, name: string, payload: string, reason: Reason): HostCase {
  const body = bodyOf(payload, "contract.approved");
  const send = { body, headers: [json, ...signedAs(name, body)] };
  return { ...quarantined(title, name, reason, send), storedAs: `sha256:${sha256(body)}` };
}

function rejected(title: string, send: HostCase["send"], status = 401): HostCase {
  return { title, send, status, outcome: "rejected" };
}

function fixture(name: string, more: Partial<HostCase["send"]> = {}): HostCase["send"] {
  const { body, headers } = fixtureDelivery(name);
  return { ...more, body, headers: Object.entries(headers) };
}

/** Not all of the body is read. */
function cutOff(each: HostCase): HostCase {
  return { ...each, closes: true };
}

/** What looks like a signature, so that the body is read. */
const wellFormed = ["X-Service-Signature", "0".repeat(64)] as const;

/** A delivery of about so many bytes. */
function sized(name: string, bytes: number): HostCase["send"] {
  return fresh(name, { body: bodyOf(name, "contract.created", { description: "x".repeat(bytes - 400) }) });
}

const unsigned = (name: string, headers: HeaderPairs = []): HostCase["send"] => ({
  body: bodyOf(name),
  headers: [json, ...headers],
});
const withSignature = (value: string) =>
  unsigned("unsigned", [
    ["X-Service-Webhook-Id", "wh-unsigned"],
    ["X-Service-Signature", value],
  ]);

const responseTable: readonly HostCase[] = [
  applied("a new delivery", "new"),
  { ...applied("the same again", "new"), outcome: "duplicate" },
  conflicting("its webhook id with another event", "new", "renewed", "webhook-id-conflict"),
  conflicting("its payload id with another event", "newer", "new", "payload-id-conflict"),
  applied(
    "an event type that nobody knows",
    "teleported",
    fresh("teleported", { body: bodyOf("teleported", "contract.teleported") }),
  ),
  applied(
    "a status that nobody knows",
    "review",
    fresh("review", {
      body: bodyOf("review", "contract.updated", { status: "under_review", extra: { deep: [1] } }),
    }),
  ),
  quarantined(
    "a signed body that is not JSON",
    "text",
    "not-json",
    fresh("text", { body: Buffer.from("hello") }),
  ),
  quarantined(
    "a signed body of another shape",
    "shape",
    "invalid-payload",
    fresh("shape", { body: Buffer.from("[1]") }),
  ),
  quarantined(
    "a signed event without a contract",
    "nobody",
    "no-contract-id",
    fresh("nobody", { body: Buffer.from(eventBody("contract.created", { contractId: null })) }),
  ),
  rejected("a GET", { method: "GET" }, 405),
  rejected("a HEAD", { method: "HEAD" }, 405),
  rejected("a PUT, though signed", fresh("put", { method: "PUT" }), 405),
  rejected("a DELETE", { method: "DELETE" }, 405),
];

const signatures: readonly HostCase[] = [
  rejected("no signature", unsigned("unsigned")),
  rejected("an empty signature", withSignature("")),
  rejected("a blank signature", withSignature("  ")),
  rejected("a signature that is none", withSignature("sha256=zzzz")),
  rejected("a signature of another secret", {
    body: bodyOf("forged"),
    headers: [json, ...signedAs("forged", bodyOf("forged"), otherSecret)],
  }),
  rejected("a body that was changed under its signature", {
    ...fixture("V5"),
    body: Buffer.from(fixtureDelivery("V5").body.map((byte) => (byte === 0xff ? 0xfe : byte))),
  }),
  rejected("a good and a bad signature header", {
    ...fresh("two-signatures"),
    headers: [
      ...(fresh("two-signatures").headers ?? []),
      ["X-Service-Signature", `sha256=${"0".repeat(64)}`],
    ],
  }),
  rejected("an empty body, unsigned", { headers: [json], body: new Uint8Array() }),
  // Node's client sends an empty one in chunks.
  cutOff(rejected("no body at all, unsigned", { headers: [] })),
  quarantined("an empty body, signed", "V11", "not-json", fixture("V11")),
];

const headers: readonly HostCase[] = [
  {
    ...applied("two webhook-id headers: neither is believed", "twice", {
      ...fresh("twice"),
      headers: [["X-Service-Webhook-Id", "wh-other"], ...(fresh("twice").headers ?? [])],
    }),
    webhookId: "payload-twice",
  },
  applied("header names in capitals", "capitals", {
    ...fresh("capitals"),
    headers: (fresh("capitals").headers ?? []).map(([name, value]) => [name.toUpperCase(), value]),
  }),
  ...[
    "text/plain",
    "application/json; charset=utf-16",
    "multipart/form-data",
    "application/x-www-form-urlencoded",
    "garbage",
    ";;=",
    "application/json, application/json",
  ].map((type, index) =>
    applied(`Content-Type ${type}`, `type-${index}`, fresh(`type-${index}`, {}, [["Content-Type", type]])),
  ),
  applied("no Content-Type", "no-type", fresh("no-type", {}, [])),
];

const rawBytes: readonly HostCase[] = [
  ...["V1", "V2", "V3", "V4"].map((name) => applied(`${name} byte for byte`, name, fixture(name))),
  quarantined("V5: a byte that is not UTF-8", "V5", "not-utf8", fixture("V5")),
  quarantined("V7: a key that stands twice", "V7", "ambiguous-field", fixture("V7")),
  applied("chunked", "chunked", fresh("chunked", { framing: "chunked" })),
  applied("chunked byte by byte", "bytewise", fresh("bytewise", { framing: "bytewise" })),
];

const gzipped = gzipSync(bodyOf("gzip"));
const bomb = gzipSync(Buffer.alloc(64 * maxBodyBytes));
const gzip = ["Content-Encoding", "gzip"] as const;

const encodings: readonly HostCase[] = [
  applied("gzip, signed as sent", "gzip", fresh("gzip", { body: gzipped }, [json, gzip])),
  rejected("gzip, signed before it was compressed", {
    body: gzipped,
    headers: [json, gzip, ...signedAs("gzip", bodyOf("gzip"))],
  }),
  quarantined("a gzip bomb", "bomb", "inflated-too-large", fresh("bomb", { body: bomb }, [json, gzip])),
  quarantined("gzip that is none", "broken", "corrupt-encoding", fresh("broken", {}, [json, gzip])),
  quarantined(
    "an encoding that nobody knows",
    "zstd",
    "unknown-encoding",
    fresh("zstd", {}, [json, ["Content-Encoding", "zstd"]]),
  ),
];

const sizes: readonly HostCase[] = [
  applied("99 kB", "99k", sized("99k", 99_000)),
  applied("101 kB", "101k", sized("101k", 101_000)),
  applied("900 kB", "900k", sized("900k", 900_000)),
  applied("900 kB in chunks", "900k-chunked", { ...sized("900k-chunked", 900_000), framing: "chunked" }),
  cutOff(rejected("1.1 MB", sized("1.1M", 1_100_000), 413)),
  cutOff(rejected("1.1 MB in chunks", { ...sized("1.1M", 1_100_000), framing: "chunked" }, 413)),
  cutOff(rejected("30 MB", { body: 30_000_000, headers: [json, wellFormed] }, 413)),
  cutOff(
    rejected("30 MB in chunks", { body: 30_000_000, framing: "chunked", headers: [json, wellFormed] }, 413),
  ),
  cutOff(rejected("30 MB, unsigned", { body: 30_000_000, headers: [json] })),
  cutOff(rejected("30 MB in chunks, unsigned", { body: 30_000_000, framing: "chunked", headers: [json] })),
  rejected("900 kB, unsigned", { body: 900_000, headers: [json] }),
  cutOff(rejected("30 MB in chunks, by PUT", { method: "PUT", body: 30_000_000, framing: "chunked" }, 405)),
];

export const cases: readonly HostCase[] = [
  ...responseTable,
  applied("a query string", "query", fresh("query", { pathSuffix: "?source=escrow&x=1" })),
  ...signatures,
  ...headers,
  ...rawBytes,
  ...encodings,
  ...sizes,
];
