import { describe, expect, it } from "vitest";
import { resolveScheme, signaturePresets } from "../../../src/signature/scheme.ts";

/** Calls as untyped code would. */
function wrongly(...options: unknown[]): unknown {
  return Reflect.apply(resolveScheme, undefined, options);
}

describe("the default scheme", () => {
  it("is HMAC-SHA256 in hex over the body, the whole secret as UTF-8, headers under X-Service-", () => {
    expect(resolveScheme()).toEqual({
      algorithm: "sha256",
      encoding: "hex",
      prefix: "sha256=",
      prefixRequired: false,
      content: "body",
      secretEncoding: "utf8",
      list: "none",
      signatureHeader: "X-Service-Signature",
      timestampHeader: "X-Service-Timestamp",
      idHeader: "X-Service-Webhook-Id",
      timestampEntry: null,
      timestampUnit: "iso",
    });
  });

  it("takes its header names from the prefix, an empty one included", () => {
    expect(resolveScheme("default", "X-Acme-").signatureHeader).toBe("X-Acme-Signature");
    expect(resolveScheme("default", "").idHeader).toBe("Webhook-Id");
  });
});

describe("a scheme", () => {
  it("resolves once: a resolved scheme stays as it is, whatever the prefix", () => {
    const scheme = resolveScheme("stripe", "X-Acme-");
    expect(resolveScheme(scheme, "X-Other-")).toEqual(scheme);
  });

  it("has the algorithm as its prefix unless it names one", () => {
    expect(resolveScheme({ algorithm: "sha512" }).prefix).toBe("sha512=");
    expect(resolveScheme({ algorithm: "sha512", prefix: "" }).prefix).toBe("");
  });

  it("takes a field that is undefined as left out", () => {
    expect(wrongly({ algorithm: undefined, encoding: "base64" })).toMatchObject({
      algorithm: "sha256",
      encoding: "base64",
    });
  });

  it("can't be changed after it was checked", () => {
    expect(Object.isFrozen(resolveScheme())).toBe(true);
  });
});

describe("a set-up that can't be meant", () => {
  const wrong: [string, unknown][] = [
    ["an unknown preset", "githib"],
    ["a preset named like a property of every object", "constructor"],
    ["a null", null],
    ["an array", ["default"]],
    ["a number", 256],
    ["an unknown field", { algoritm: "sha256" }],
    ["an unknown algorithm", { algorithm: "md5" }],
    ["an unknown encoding", { encoding: "base64url" }],
    ["an unknown content", { content: "body.timestamp" }],
    ["an unknown secret encoding", { secretEncoding: "hex" }],
    ["a prefix that is no text", { prefix: null }],
    ["a prefixRequired that is no boolean", { prefixRequired: "yes" }],
    ["an unknown list", { list: "semicolon" }],
    ["a header name with a space", { signatureHeader: "X Signature" }],
    ["an empty header name", { timestampHeader: "" }],
    ["a header name that is no text", { idHeader: 5 }],
    ["an unknown unit", { timestampUnit: "us" }],
    ["an empty timestamp entry", { timestampEntry: "" }],
    ["a timestamp entry without a list", { timestampEntry: "t=" }],
  ];

  it.each(wrong)("is refused with cause and fix: %s", (_, option) => {
    expect(() => wrongly(option)).toThrow(
      expect.objectContaining({
        code: "invalid-configuration",
        message: expect.stringMatching(/Likely cause: .+ Fix: .+/),
      }),
    );
  });

  it.each([["X Service "], ["X-Sérvice-"], [5], [null]])("is refused: header prefix %j", (prefix) => {
    expect(() => wrongly("default", prefix)).toThrow(
      expect.objectContaining({ code: "invalid-configuration" }),
    );
  });

  it("does not show a secret that was given in the place of the scheme", () => {
    const secret = "whsec_test_0123456789abcdef0123456789abcdef";
    expect(() => wrongly(secret)).toThrow(/a text of 43 characters/);
    expect(() => wrongly({ algorithm: secret })).toThrow(/a text of 43 characters/);
    expect(() => wrongly({ [secret]: true })).toThrow(/unknown field: a text of 43 characters/);
  });
});

it("every preset resolves by its name", () => {
  for (const name of ["default", "github", "stripe", "shopify", "standard-webhooks"] as const) {
    expect(resolveScheme(name)).toMatchObject(signaturePresets[name]);
  }
});
