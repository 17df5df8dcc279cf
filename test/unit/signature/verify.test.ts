import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import type { SignatureOption } from "../../../src/signature/scheme.ts";
import { prepareSecrets, type SecretsOption } from "../../../src/signature/secret.ts";
import { signBody } from "../../../src/signature/sign.ts";
import { createVerifier, type Verification, type VerifierOptions } from "../../../src/signature/verify.ts";
import { base64Secret, noonMs, requestOf, textSecret, type HeaderFixture } from "./request.ts";

interface DeliveryFixture {
  readonly name: string;
  readonly bodyBase64: string;
  readonly headers: Record<string, string>;
}

const fixture: { secret: string; deliveries: DeliveryFixture[] } = JSON.parse(
  readFileSync(new URL("../../fixtures/deliveries.json", import.meta.url), "utf8"),
);

const deliveries = fixture.deliveries.map(
  ({ name, bodyBase64, headers }) => [name, headers, Buffer.from(bodyBase64, "base64")] as const,
);

const body = '{"id":"a","data":{"amount":600.00}}';
const digest = createHmac("sha256", textSecret).update(body).digest();
const hex = digest.toString("hex");

function verify(
  headers: HeaderFixture,
  bytes: Uint8Array | string,
  options: VerifierOptions & { secrets?: SecretsOption; nowMs?: number } = {},
): Verification {
  const verifier = createVerifier(options);
  const secrets = prepareSecrets(options.secrets ?? textSecret, verifier.scheme);
  return verifier.verify(requestOf(headers, bytes), secrets, options.nowMs ?? noonMs);
}

function verifySignature(signature: string | string[], options: VerifierOptions = {}): Verification {
  return verify({ "X-Service-Signature": signature }, body, options);
}

const missing = { ok: false, reason: "signature-missing" };
const malformed = { ok: false, reason: "signature-malformed" };
const mismatch = { ok: false, reason: "signature-mismatch" };

describe("the deliveries of the fixture", () => {
  it.each(deliveries)("%s verifies with its secret", (_, headers, bytes) => {
    expect(verify(headers, bytes, { secrets: fixture.secret })).toMatchObject({
      ok: true,
      secretId: "default",
      timestampMs: null,
      outsideTolerance: false,
    });
  });

  it.each(deliveries)(
    "%s fails with any one bit of the body flipped, or another secret",
    (_, headers, bytes) => {
      for (let at = 0; at < bytes.length; at += 1) {
        const flipped = Buffer.from(bytes);
        flipped[at] = bytes.readUInt8(at) ^ (1 << (at % 8));
        expect(verify(headers, flipped, { secrets: fixture.secret })).toEqual(mismatch);
      }
      expect(verify(headers, Buffer.concat([bytes, Buffer.of(0)]), { secrets: fixture.secret })).toEqual(
        mismatch,
      );
      expect(verify(headers, bytes, { secrets: "another" })).toEqual(mismatch);
    },
  );

  it("V5 fails with its 0xFF swapped for 0xFE: bytes are compared, not replacement characters", () => {
    const [, headers = {}, bytes = Buffer.alloc(0)] = deliveries.find(([name]) => name === "V5") ?? [];
    const swapped = Buffer.from(bytes);
    swapped[bytes.indexOf(0xff)] = 0xfe;
    expect(bytes.includes(0xff)).toBe(true);
    expect(verify(headers, swapped, { secrets: fixture.secret })).toEqual(mismatch);
  });
});

describe("a default signature", () => {
  it.each([hex, `sha256=${hex}`, hex.toUpperCase(), `sha256=${hex.toUpperCase()}`])(
    "passes with or without sha256=, in either case",
    (signature) => {
      expect(verifySignature(signature).ok).toBe(true);
    },
  );

  it("is looked up under the configured prefix", () => {
    expect(verify({ "x-acme-signature": hex }, body, { headerPrefix: "X-Acme-" }).ok).toBe(true);
    expect(verify({ "x-service-signature": hex }, body, { headerPrefix: "X-Acme-" })).toEqual(missing);
  });

  it.each([[[]], [""], ["  "], [["", " "]]])("is missing when absent, empty or blank: %j", (signature) => {
    expect(verifySignature(signature)).toEqual(missing);
  });

  const wrongShapes: [string, string | string[]][] = [
    ["sha256=abcd", "sha256=abcd"],
    ["the prefix alone", "sha256="],
    ["63 hex", hex.slice(1)],
    ["65 hex", `${hex}0`],
    ["64 hex and a space", `${hex} `],
    ["a space and 64 hex", ` ${hex}`],
    ["junk after a right digest", `sha256=${hex}junk`],
    ["10 kB of a", "a".repeat(10_240)],
    ["64 letters outside the alphabet", "g".repeat(64)],
    ["the prefix twice", `sha256=sha256=${hex}`],
    ["the prefix in capitals", `SHA256=${hex}`],
    ["another algorithm's prefix", `sha1=${hex}`],
    ["base64 of the right digest", digest.toString("base64")],
    ["two headers, both right", [hex, hex]],
    ["two headers, the first right", [hex, "0".repeat(64)]],
    ["two headers joined by the host", `${hex}, ${hex}`],
    ["a right header beside an empty one", [hex, ""]],
    ["a list of right digests", `sha256=${hex},sha256=${hex}`],
    ["non-ASCII text", "é".repeat(64)],
    ["a lone surrogate", "\ud800".repeat(64)],
    [
      "letters that truncate to the right digits",
      hex.replace(/./g, (c) => String.fromCharCode(c.charCodeAt(0) + 0x100)),
    ],
    ["NUL", `${hex.slice(1)}\0`],
  ];

  it.each(wrongShapes)("never passes and is malformed: %s", (_, signature) => {
    expect(verifySignature(signature)).toEqual(malformed);
  });

  it("that is well-formed but wrong is a mismatch, told apart from malformed", () => {
    expect(verifySignature("0".repeat(64))).toEqual(mismatch);
    expect(verifySignature(hex.replace(/.$/, (c) => (c === "0" ? "1" : "0")))).toEqual(mismatch);
  });

  it("does not cover the id, event and timestamp headers, so they may say anything", () => {
    const headers = {
      "x-service-signature": hex,
      "x-service-timestamp": "never",
      "x-service-webhook-id": ["a", "b"],
    };
    expect(verify(headers, body)).toMatchObject({ ok: true, timestampMs: null });
  });

  it("verifies an empty body", () => {
    expect(verify(signBody({ secret: textSecret, body: "", webhookId: "a", timestamp: noonMs }), "").ok).toBe(
      true,
    );
  });
});

describe("several live secrets", () => {
  const secrets = [
    { id: "new", secret: "new secret" },
    { id: "old", secret: textSecret },
  ];

  it("each verify, and the answer names the one that matched", () => {
    const [, old] = prepareSecrets(secrets, { secretEncoding: "utf8" });
    const byNew = signBody({ secret: "new secret", body, webhookId: "a", timestamp: noonMs });
    expect(verify(byNew, body, { secrets })).toMatchObject({ ok: true, secretId: "new" });
    expect(verify({ "x-service-signature": hex }, body, { secrets })).toMatchObject({
      ok: true,
      secretId: "old",
      fingerprint: old?.fingerprint,
    });
  });

  it("that are dropped no longer verify", () => {
    expect(verify({ "x-service-signature": hex }, body, { secrets: secrets.slice(0, 1) })).toEqual(mismatch);
  });

  it("that are none verify nothing", () => {
    const verifier = createVerifier();
    expect(verifier.verify(requestOf({ "x-service-signature": hex }, body), [], noonMs)).toEqual(mismatch);
  });
});

describe("a prefix that is required", () => {
  it("must be there", () => {
    expect(verify({ "x-hub-signature-256": `sha256=${hex}` }, body, { scheme: "github" }).ok).toBe(true);
    expect(verify({ "x-hub-signature-256": hex }, body, { scheme: "github" })).toEqual(malformed);
  });
});

describe("a base64 digest", () => {
  const scheme = "shopify";
  const right = digest.toString("base64");
  const header = "x-shopify-hmac-sha256";

  it("passes in its one canonical spelling only", () => {
    const loose = right.replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`);
    const urlSafe = right.replaceAll("+", "-").replaceAll("/", "_");
    expect(verify({ [header]: right }, body, { scheme }).ok).toBe(true);
    for (const text of [
      right.replace("=", ""),
      loose,
      `${right}=`,
      `${right.slice(0, -2)}é=`,
      `${right.slice(0, -1)}!`,
    ]) {
      expect(verify({ [header]: text }, body, { scheme })).toEqual(malformed);
    }
    expect(urlSafe === right || !verify({ [header]: urlSafe }, body, { scheme }).ok).toBe(true);
  });

  it.each([
    ["sha1", "hex"],
    ["sha1", "base64"],
    ["sha512", "hex"],
    ["sha512", "base64"],
  ] as const)("or another algorithm is a matter of the scheme: %s in %s", (algorithm, encoding) => {
    const own: SignatureOption = { algorithm, encoding };
    const headers = signBody({ scheme: own, secret: textSecret, body, webhookId: "a", timestamp: noonMs });
    expect(verify(headers, body, { scheme: own }).ok).toBe(true);
    expect(verify(headers, `${body} `, { scheme: own })).toEqual(mismatch);
    expect(verify(headers, body)).toEqual(malformed);
  });
});

describe("a signed timestamp", () => {
  const scheme: SignatureOption = { content: "timestamp.body" };
  const signed = (timestamp: number | string) =>
    signBody({ scheme, secret: textSecret, body, webhookId: "a", timestamp });

  const at = (timestamp: number) => verify(signed(timestamp), body, { scheme });

  it("is held to 24 h past and 5 min future, bounds inside, after the signature", () => {
    expect(at(noonMs - 4 * 3_600_000)).toMatchObject({ ok: true, outsideTolerance: false });
    expect(at(noonMs - 86_400_000)).toMatchObject({ ok: true, outsideTolerance: false });
    expect(at(noonMs - 86_400_001)).toMatchObject({ ok: true, outsideTolerance: true });
    expect(at(noonMs + 300_000)).toMatchObject({ ok: true, outsideTolerance: false });
    expect(at(noonMs + 300_001)).toMatchObject({
      ok: true,
      outsideTolerance: true,
      timestampMs: noonMs + 300_001,
    });
  });

  it("never passes less with a larger tolerance", () => {
    for (const toleranceMs of [300_000, 600_000, 86_400_000]) {
      const verification = verify(signed(noonMs - 300_000), body, { scheme, toleranceMs });
      expect(verification).toMatchObject({ ok: true, outsideTolerance: false });
    }
  });

  it("is a mismatch when stale and forged: the signature is checked first", () => {
    expect(verify(signed(0), `${body} `, { scheme })).toEqual(mismatch);
  });

  it.each([[[]], [""], ["  "]])("is missing when absent, empty or blank: %j", (timestamp) => {
    const headers = { ...signed(noonMs), "X-Service-Timestamp": timestamp };
    expect(verify(headers, body, { scheme })).toEqual({ ok: false, reason: "timestamp-missing" });
  });

  it.each(["1776177000", "yesterday", "2026-04-14T14:30:00"])(
    "is unparseable in another form: %j",
    (timestamp) => {
      expect(verify(signed(timestamp), body, { scheme })).toEqual({
        ok: false,
        reason: "timestamp-unparseable",
      });
    },
  );

  it("that stands twice never passes", () => {
    const headers = signed(noonMs);
    const twice = { ...headers, "X-Service-Timestamp": [headers["X-Service-Timestamp"] ?? "", "x"] };
    expect(verify(twice, body, { scheme })).toEqual(mismatch);
  });

  it("can't lend a part of itself to the body", () => {
    const headers = {
      ...signed(new Date(noonMs).toISOString()),
      "X-Service-Timestamp": "2026-04-14T14:30:00",
    };
    expect(verify(headers, `000Z.${body}`, { scheme })).toEqual({
      ok: false,
      reason: "timestamp-unparseable",
    });
  });
});

describe("a signed id", () => {
  const scheme: SignatureOption = { content: "id.timestamp.body" };
  const signed = (webhookId: string) =>
    signBody({ scheme, secret: textSecret, body, webhookId, timestamp: noonMs });

  it.each(["AbC-1", "  blanks around ", "é", "日本"])(
    "enters the signed text exactly as received: %j",
    (id) => {
      expect(verify(signed(id), body, { scheme }).ok).toBe(true);
      expect(
        verify({ ...signed(id), "X-Service-Webhook-Id": id.toLowerCase().trim() + "x" }, body, { scheme }),
      ).toEqual(mismatch);
    },
  );

  it("is hashed as the bytes that came by wire, which Node spells in Latin-1", () => {
    const wire = Buffer.from("é");
    const text = `${wire.toString("utf8")}.2026-04-14T14:30:00Z.${body}`;
    const headers = {
      "x-service-signature": createHmac("sha256", textSecret).update(text).digest("hex"),
      "x-service-timestamp": "2026-04-14T14:30:00Z",
      "x-service-webhook-id": wire.toString("latin1"),
    };
    expect(verify(headers, body, { scheme }).ok).toBe(true);
  });

  it("that is missing is malformed", () => {
    expect(verify({ ...signed("a"), "X-Service-Webhook-Id": [] }, body, { scheme })).toEqual(malformed);
  });

  it("with a dot is malformed, as a part of a signed body could pass for the timestamp", () => {
    const inner = `{"note":"x.2026-04-14T14:30:00Z.${body}`;
    const moved = {
      ...signed("a"),
      "X-Service-Webhook-Id": `a.${new Date(noonMs).toISOString()}.{"note":"x`,
    };
    expect(verify({ ...moved, "X-Service-Timestamp": "2026-04-14T14:30:00Z" }, inner, { scheme })).toEqual(
      malformed,
    );
  });
});

function sign(scheme: SignatureOption) {
  return signBody({ scheme, secret: textSecret, body, webhookId: "AbC-1", timestamp: noonMs });
}

describe("a content function", () => {
  it("decides the signed bytes", () => {
    const scheme: SignatureOption = { content: (parts) => Buffer.concat([Buffer.from("v0:"), parts.body]) };
    expect(verify(sign(scheme), body, { scheme })).toMatchObject({ ok: true, timestampMs: null });
    expect(verify(sign(scheme), `${body} `, { scheme })).toEqual(mismatch);
  });

  it("that reads the timestamp makes it required and held to the tolerance", () => {
    const scheme: SignatureOption = {
      content: ({ id, timestamp, body: bytes }) => `${id}:${timestamp}:${bytes.toString()}`,
    };
    const late = noonMs + 25 * 3_600_000;
    expect(verify(sign(scheme), body, { scheme })).toMatchObject({ ok: true, timestampMs: noonMs });
    expect(verify(sign(scheme), body, { scheme, nowMs: late })).toMatchObject({ outsideTolerance: true });
    expect(verify({ ...sign(scheme), "X-Service-Timestamp": [] }, body, { scheme })).toEqual({
      ok: false,
      reason: "timestamp-missing",
    });
    expect(verify({ ...sign(scheme), "X-Service-Webhook-Id": [] }, body, { scheme })).toEqual(malformed);
  });

  it("that throws, or returns no bytes, is a mismatch and no exception", () => {
    const throws: SignatureOption = {
      content: () => {
        throw new Error("no");
      },
    };
    const nothing: SignatureOption = { content: () => JSON.parse("5") };
    const headers = { "x-service-signature": hex };
    expect(verify(headers, body, { scheme: throws })).toEqual(mismatch);
    expect(verify(headers, body, { scheme: nothing })).toEqual(mismatch);
  });
});

describe("a header that is a list", () => {
  const scheme = "stripe";
  const time = String(noonMs / 1000);
  const v1 = createHmac("sha256", textSecret).update(`${time}.${body}`).digest("hex");
  const wrong = "0".repeat(64);
  const check = (value: string | string[]) => verify({ "stripe-signature": value }, body, { scheme });

  it("passes by any of its entries, others' versions and order aside", () => {
    for (const value of [
      `t=${time},v1=${v1}`,
      `t=${time},v1=${wrong},v1=${v1},v0=junk`,
      `v1=${v1},t=${time}`,
    ]) {
      expect(check(value)).toMatchObject({ ok: true, timestampMs: noonMs });
    }
  });

  it("is a mismatch when no entry matches", () => {
    expect(check(`t=${time},v1=${wrong},v1=${wrong}`)).toEqual(mismatch);
    expect(check(`t=1,v1=${v1}`)).toEqual(mismatch);
  });

  it.each([
    `t=${time}`,
    `t=${time},v0=${v1}`,
    `t=${time},v1=${v1},v1=junk`,
    `t=${time},t=${time},v1=${v1}`,
    `t=${time}, v1=${v1}`,
    `t=${time}${`,v1=${v1}`.repeat(16)}`,
    ",".repeat(10_000),
    v1,
  ])("is malformed without a digest, with junk under the prefix, two times or too many entries", (value) => {
    expect(check(value)).toEqual(malformed);
  });

  it("never passes as two headers", () => {
    expect(check([`t=${time},v1=${v1}`, `t=${time},v1=${v1}`])).toEqual(malformed);
  });

  it("without its timestamp entry lacks the timestamp", () => {
    expect(check(`v1=${v1}`)).toEqual({ ok: false, reason: "timestamp-missing" });
  });

  it("in milliseconds instead of seconds is unparseable", () => {
    const headers = signBody({ scheme, secret: textSecret, body, webhookId: "a", timestamp: String(noonMs) });
    expect(verify(headers, body, { scheme })).toEqual({ ok: false, reason: "timestamp-unparseable" });
  });
});

it("no answer shows a secret or the right digest", () => {
  const secrets: SecretsOption = [
    { id: "text", secret: textSecret },
    { id: "64", secret: base64Secret, encoding: "base64" },
  ];
  const answers = ["", "junk", hex.slice(1), "0".repeat(64), hex].map((signature) =>
    verify({ "x-service-signature": signature }, body, { secrets }),
  );
  const shown = inspect(answers, { depth: 9, showHidden: true }) + JSON.stringify(answers);
  for (const hidden of [textSecret, base64Secret, hex, digest.toString("base64"), body]) {
    expect(shown).not.toContain(hidden);
  }
});

it("the headers that a content function reads are not missed before there is a body", () => {
  const scheme: SignatureOption = { content: ({ id, body: bytes }) => `${id}:${bytes.toString()}` };
  const request = requestOf({ "X-Service-Signature": hex }, body);
  expect(createVerifier({ scheme }).checkHeaders((name) => request.headers(name))).toBeUndefined();
});
