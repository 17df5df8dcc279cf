import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createRateLimit } from "../../../src/shared/rate-limit.ts";
import { diagnosedJsonBytesMax } from "../../../src/signature/body-forms.ts";
import { diagnosedSecretsMax, diagnoseHeaders, diagnoseMismatch } from "../../../src/signature/diagnose.ts";
import type { Diagnosis, DiagnosisCause } from "../../../src/signature/diagnosis.ts";
import { resolveScheme, type SignatureOption } from "../../../src/signature/scheme.ts";
import { prepareSecrets, type SecretsOption } from "../../../src/signature/secret.ts";
import { signBody, type SignBodyOptions } from "../../../src/signature/sign.ts";
import { createVerifier } from "../../../src/signature/verify.ts";
import { base64Secret, noonMs, requestOf, textSecret } from "./request.ts";

const body = '{"id":"a","data":{"amount":600.00,"fee":{"amount":1.50},"title":"caf\\u00e9"}}';

interface Case {
  readonly signed?: Partial<SignBodyOptions>;
  readonly received?: Uint8Array | string;
  readonly scheme?: SignatureOption;
  readonly secrets?: SecretsOption;
}

function diagnose({
  signed = {},
  received = body,
  scheme = "default",
  secrets = textSecret,
}: Case): Diagnosis {
  const sent = { scheme, secret: textSecret, body, webhookId: "msg_1", timestamp: noonMs, ...signed };
  const request = requestOf(signBody(sent), received);
  const prepared = prepareSecrets(secrets, resolveScheme(scheme));
  expect(createVerifier({ scheme }).verify(request, prepared, noonMs).ok).toBe(false);
  return diagnoseMismatch(request, prepared, { scheme });
}

const reserialised = JSON.stringify(JSON.parse(body));

const cases: [string, DiagnosisCause, Case][] = [
  ["white space around the secret", "secret-whitespace", { secrets: ` ${textSecret}\t` }],
  ["quotes around the secret", "secret-quoted", { secrets: `"${textSecret}"` }],
  [
    "the sender decodes the secret",
    "secret-is-base64",
    { secrets: base64Secret, signed: { secret: { secret: base64Secret, encoding: "base64" } } },
  ],
  [
    "the sender takes the secret as text",
    "secret-is-text",
    { secrets: { secret: base64Secret, encoding: "base64" }, signed: { secret: base64Secret } },
  ],
  [
    "the sender leaves whsec_ out",
    "secret-without-prefix",
    { signed: { secret: textSecret.slice("whsec_".length) } },
  ],
  ["whsec_ cut off the secret", "secret-needs-prefix", { secrets: textSecret.slice("whsec_".length) }],
  [
    "a secret beside a right one is looked at too",
    "secret-quoted",
    { secrets: ["other", `'${textSecret}'`] },
  ],
  ["the sender signs compact JSON", "body-reserialised", { signed: { body: reserialised } }],
  [
    "the sender signs pretty JSON",
    "body-reserialised",
    { signed: { body: JSON.stringify(JSON.parse(body), null, 2) } },
  ],
  [
    "a parser came first and lost 600.00",
    "body-reserialised",
    {
      signed: { body: '{"amount":600.00,"x":{"amount":1.50}}' },
      received: '{"amount":600,"x":{"amount":1.5}}',
    },
  ],
  ["a parser came first and lost escapes", "body-reserialised", { received: reserialised }],
  ["a newline cut off", "body-newline", { signed: { body: `${body}\n` } }],
  ["a newline added", "body-newline", { received: `${body}\n` }],
  ["a DOS newline added", "body-newline", { received: `${body}\r\n` }],
  ["hex for base64", "signature-encoding", { signed: { scheme: { encoding: "base64" } } }],
  ["base64 for hex", "signature-encoding", { scheme: { encoding: "base64" }, signed: { scheme: "default" } }],
  ["another hash", "signature-algorithm", { signed: { scheme: { algorithm: "sha1" } } }],
  ["a signed timestamp", "signed-content", { signed: { scheme: { content: "timestamp.body" } } }],
  [
    "a signed timestamp in another unit",
    "signed-content",
    { signed: { scheme: { content: "timestamp.body", timestampUnit: "s" } } },
  ],
  ["a signed id", "signed-content", { signed: { scheme: { content: "id.timestamp.body" } } }],
  [
    "a timestamp that is not signed",
    "signed-content",
    { scheme: { content: "timestamp.body" }, signed: { scheme: "default" } },
  ],
  ["GitHub's signature", "other-preset", { signed: { scheme: "github" } }],
  ["Stripe's signature", "other-preset", { signed: { scheme: "stripe" } }],
  [
    "Standard Webhooks' signature",
    "other-preset",
    { secrets: base64Secret, signed: { scheme: "standard-webhooks", secret: base64Secret } },
  ],
  [
    "Shopify's signature",
    "other-preset",
    {
      scheme: "standard-webhooks",
      secrets: base64Secret,
      signed: { scheme: "shopify", secret: base64Secret },
    },
  ],
  ["a secret that is its prefix and no more", "unexplained", { secrets: "whsec_" }],
  ["another secret", "unexplained", { secrets: "other" }],
  ["a body that is not JSON", "unexplained", { received: "600.00 SAR" }],
  ["a body that is empty", "unexplained", { received: "" }],
  [
    "a body nested deeper than a stack",
    "unexplained",
    { received: "[".repeat(100_000) + "]".repeat(100_000) },
  ],
];

describe("a failed check is explained", () => {
  it.each(cases)("%s", (_, cause, given) => {
    const diagnosis = diagnose(given);
    expect(diagnosis.cause).toBe(cause);
    expect(diagnosis.explanation).toMatch(/^[A-Z].+[.]$/s);
  });

  it("with the name of the preset that holds", () => {
    expect(diagnose({ signed: { scheme: "github" } }).explanation).toContain('"github"');
  });

  it.each(cases)("without a secret, signature or payload: %s", (_, __, given) => {
    const diagnosis = diagnose(given);
    const shown = inspect(diagnosis) + JSON.stringify(diagnosis);
    expect(shown).not.toMatch(/0123456789abcdef|MDEyMzQ1|600|[0-9a-f]{20}|[A-Za-z0-9+/]{30}/);
    expect(Object.keys(diagnosis).sort()).toEqual(["cause", "explanation"]);
  });
});

function long(spaces: string): string {
  return `{${spaces}"a":"${"x".repeat(diagnosedJsonBytesMax)}"}`;
}

describe("the work is bounded", () => {
  it("a body over the limit is not parsed", () => {
    expect(diagnose({ signed: { body: long("") }, received: long(" ") }).cause).toBe("unexplained");
  });

  it("secrets over the limit are not tried", () => {
    const others = Array.from({ length: diagnosedSecretsMax }, (_, index) => `other ${index}`);
    expect(diagnose({ secrets: [...others, ` ${textSecret}`] }).cause).toBe("unexplained");
  });

  it("the defaults are the default scheme's", () => {
    expect(diagnoseMismatch(requestOf({}, ""), []).cause).toBe("unexplained");
  });
});

describe("a rate limit", () => {
  it("opens once in its time, and when the clock is set back", () => {
    const allow = createRateLimit({ everyMs: 1000 });
    expect([0, 1, 999, 1000, 1500, 200, 300].map(allow)).toEqual([
      true,
      false,
      false,
      true,
      false,
      true,
      false,
    ]);
  });
});

function causeOfHeaders(signed: Partial<SignBodyOptions>, scheme: SignatureOption): Diagnosis {
  const sent = { secret: base64Secret, body, webhookId: "msg_1", timestamp: noonMs, ...signed };
  const request = requestOf(signBody(sent), "");
  return diagnoseHeaders((name) => request.headers(name), { scheme });
}

describe("headers that don't hold, whatever the body", () => {
  it.each([
    ["another preset's", { scheme: "github" }, "default", "other-preset"],
    ["another preset's", { scheme: "stripe" }, "default", "other-preset"],
    ["another preset's", { scheme: "standard-webhooks" }, "default", "other-preset"],
    [
      "in the other encoding",
      { scheme: { encoding: "base64", prefix: "" } },
      "default",
      "signature-encoding",
    ],
    ["of another hash", { scheme: { algorithm: "sha512", prefix: "" } }, "default", "signature-algorithm"],
    [
      "without what is signed",
      {},
      { content: "id.timestamp.body", timestampHeader: "X-At" },
      "signed-content",
    ],
  ] as const)("are explained by the form that they have: %s", (_, signed, scheme, cause) => {
    const found = causeOfHeaders(signed, scheme);
    expect(found.cause).toBe(cause);
    expect(found.explanation).toMatch(/: set /);
  });

  it("are unexplained where they have none", () => {
    expect(diagnoseHeaders(() => []).cause).toBe("unexplained");
    expect(diagnoseHeaders(() => ["z"])).toEqual({
      cause: "unexplained",
      explanation: expect.stringMatching(/check webhook\.signature/) as unknown,
    });
  });
});

it("a body nested too deep to be written anew is not explained by its form", () => {
  const deep = `${"[".repeat(20)}600.00${"]".repeat(20)}`;
  const received = JSON.stringify(JSON.parse(deep));
  expect(diagnose({ signed: { body: `${deep} ` }, received }).cause).toBe("unexplained");
});
