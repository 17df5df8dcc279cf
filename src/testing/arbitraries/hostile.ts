import * as fc from "fast-check";
import { signBody } from "../../signature/sign.ts";
import { history } from "./history.ts";
import { plainDressing } from "../story/dressing.ts";

/** Bytes that nobody meant as a webhook: noise, JSON of any shape, deep nesting, and real bodies with a change in them. */
export function hostileBody(): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.jsonValue().map((value) => encode(JSON.stringify(value))),
    payloadLike().map((value) => encode(JSON.stringify(value))),
    fc.tuple(genuineBody(), mutation()).map(([body, change]) => mutate(body, change)),
    fc.nat({ max: 5000 }).map((depth) => encode(`${"[".repeat(depth)}${"]".repeat(depth)}`)),
    fc.constantFrom("", "\uFEFF{}", '{"__proto__":{"event":"contract.created"}}', "1e999999").map(encode),
  );
}

/** Header values that no service sends: of other types of text, repeated, huge, with other encodings. */
export function hostileHeaders(): fc.Arbitrary<Record<string, string | string[]>> {
  const value = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.constantFrom("", " ", "sha256:", "a".repeat(5000), "\u0000", "__proto__"),
    fc.array(fc.string(), { maxLength: 3 }),
  );
  const names = fc.constantFrom(
    "x-service-webhook-id",
    "X-SERVICE-TIMESTAMP",
    "X-Service-Event",
    "content-type",
    "content-length",
    "constructor",
    "__proto__",
  );
  const encoding = fc.constantFrom({}, { "content-encoding": "gzip" }, { "Content-Encoding": "br, zstd" });
  return fc
    .tuple(fc.array(fc.tuple(names, value), { maxLength: 4 }), encoding)
    .map(([entries, coded]) => ({ ...Object.fromEntries(entries), ...coded }));
}

/** Signatures that are none: any text, near misses, several at once. */
export function hostileSignature(): fc.Arbitrary<string | string[]> {
  return fc.oneof(
    fc.string({ unit: "binary", maxLength: 100 }),
    fc.stringMatching(/^(sha256=)?[0-9a-fA-F]{62,66}$/),
    fc.array(fc.stringMatching(/^sha256=[0-9a-f]{64}$/), { maxLength: 3 }),
  );
}

/** The payload's own shape, anything for its values. */
function payloadLike(): fc.Arbitrary<unknown> {
  const any = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom(
      "contract.created",
      "webhook.test",
      "9".repeat(400),
      -0,
      1e300,
      "\uD800",
      "a".repeat(300),
    ),
  );
  const data = fc.dictionary(
    fc.constantFrom(
      "contractId",
      "status",
      "previousStatus",
      "amount",
      "timestamp",
      "milestoneId",
      "metadata",
      "Status",
    ),
    any,
    { maxKeys: 6 },
  );
  return fc.record({ id: any, event: any, createdAt: any, data: fc.oneof(data, any) }, { requiredKeys: [] });
}

interface Mutation {
  readonly at: number;
  readonly cut: number;
  readonly put: Uint8Array;
}

function mutation(): fc.Arbitrary<Mutation> {
  const put = fc.oneof(
    fc.uint8Array({ maxLength: 6 }),
    fc.constantFrom("{", '"', "\\u0000", "null", "9e9").map(encode),
  );
  return fc.record({ at: fc.nat({ max: 600 }), cut: fc.nat({ max: 8 }), put });
}

function genuineBody(): fc.Arbitrary<Uint8Array> {
  return history({ stepsMax: 3 }).map(({ sent }) => encode(sent[0]?.body ?? JSON.stringify(plainDressing)));
}

function mutate(body: Uint8Array, { at, cut, put }: Mutation): Uint8Array {
  const place = at % (body.length + 1);
  return Buffer.concat([body.subarray(0, place), put, body.subarray(place + cut)]);
}

function encode(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}

/** A malformed request. A receiver must not fail on it. */
export interface HostileRequest {
  /** Always `POST`. */
  readonly method: "POST";
  /** The headers. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** The bytes. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Whether the signature is valid. If it is, the answer must be 2xx. If not, it must be 4xx, and the request must have no effect. */
  readonly isAuthentic: boolean;
}

/** Hostile bodies, half of them signed, with hostile headers. */
export function hostile(secret: string): fc.Arbitrary<HostileRequest> {
  const signature = fc.option(hostileSignature(), { nil: undefined });
  return fc
    .record({ body: hostileBody(), headers: hostileHeaders(), signature, isAuthentic: fc.boolean() })
    .map(({ body, headers, signature: wrong, isAuthentic }) => {
      const signed = signBody({ secret, body, webhookId: "-", timestamp: 0 })["X-Service-Signature"];
      const value = isAuthentic ? signed : wrong;
      const named = value === undefined ? {} : { "X-Service-Signature": value };
      return { method: "POST", headers: { ...headers, ...named }, body: new Uint8Array(body), isAuthentic };
    });
}
