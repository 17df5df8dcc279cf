import { createHmac } from "node:crypto";
import { sign as octokitSign, verify as octokitVerify } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";
import type { SignatureOption } from "../../../src/signature/scheme.ts";
import { prepareSecrets } from "../../../src/signature/secret.ts";
import { signBody, type SignBodyOptions } from "../../../src/signature/sign.ts";
import { createVerifier } from "../../../src/signature/verify.ts";
import { base64Secret, noonMs, requestOf, textSecret, type HeaderFixture } from "./request.ts";

const body = '{"id":"evt_1","object":"event","note":"€ é 日本","amount":600.00}';
const now = new Date();
const nowSeconds = Math.floor(now.getTime() / 1000);

function verifies(scheme: SignatureOption, secret: string, headers: HeaderFixture, bytes = body): boolean {
  const verifier = createVerifier({ scheme });
  const secrets = prepareSecrets(secret, verifier.scheme);
  return verifier.verify(requestOf(headers, bytes), secrets, now.getTime()).ok;
}

function sign(scheme: SignatureOption, secret: string, more: Partial<SignBodyOptions> = {}) {
  return signBody({ scheme, secret, body, webhookId: "msg_1", timestamp: now.getTime(), ...more });
}

function throwing(): never {
  throw new Error("no");
}

describe("what their own libraries sign verifies here, and the reverse", () => {
  const stripe = new Stripe("sk_test_unused");

  it("stripe", () => {
    const header = stripe.webhooks.generateTestHeaderString({ payload: body, secret: textSecret });
    expect(verifies("stripe", textSecret, { "Stripe-Signature": header })).toBe(true);
    expect(verifies("stripe", textSecret, { "Stripe-Signature": header }, `${body} `)).toBe(false);
    const ours = sign("stripe", textSecret)["Stripe-Signature"] ?? "";
    expect(stripe.webhooks.constructEvent(body, ours, textSecret)).toMatchObject({ id: "evt_1" });
  });

  it("@octokit/webhooks-methods (GitHub)", async () => {
    const header = await octokitSign(textSecret, body);
    expect(verifies("github", textSecret, { "X-Hub-Signature-256": header })).toBe(true);
    expect(verifies("github", textSecret, { "X-Hub-Signature-256": header }, `${body} `)).toBe(false);
    const ours = sign("github", textSecret)["X-Hub-Signature-256"] ?? "";
    expect(await octokitVerify(textSecret, body, ours)).toBe(true);
  });

  it("standardwebhooks", () => {
    const theirs = new Webhook(base64Secret);
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(nowSeconds),
      "webhook-signature": `v1a,other v1,${"A".repeat(43)}= ${theirs.sign("msg_1", now, body)}`,
    };
    expect(verifies("standard-webhooks", base64Secret, headers)).toBe(true);
    expect(verifies("standard-webhooks", base64Secret, headers, `${body} `)).toBe(false);
    expect(theirs.verify(body, sign("standard-webhooks", base64Secret))).toMatchObject({ id: "evt_1" });
  });

  it("Shopify's documented form: base64 of the HMAC-SHA256 of the body", () => {
    const header = createHmac("sha256", textSecret).update(body, "utf8").digest("base64");
    expect(verifies("shopify", textSecret, { "X-Shopify-Hmac-Sha256": header })).toBe(true);
    expect(verifies("shopify", textSecret, { "X-Shopify-Hmac-Sha256": header }, `${body} `)).toBe(false);
    expect(sign("shopify", textSecret)["X-Shopify-Hmac-Sha256"]).toBe(header);
  });
});

describe("signed headers", () => {
  it("are the service's four under the default scheme (§6.2)", () => {
    const digest = createHmac("sha256", textSecret).update(body).digest("hex");
    const headers = sign("default", textSecret, { event: "contract.created", timestamp: noonMs });
    expect(headers).toEqual({
      "X-Service-Signature": `sha256=${digest}`,
      "X-Service-Event": "contract.created",
      "X-Service-Webhook-Id": "msg_1",
      "X-Service-Timestamp": "2026-04-14T14:30:00.000Z",
    });
  });

  it("follow the prefix, and leave the event header out where no event is given", () => {
    const headers = sign("default", textSecret, { headerPrefix: "X-Acme-" });
    expect(Object.keys(headers).sort()).toEqual([
      "X-Acme-Signature",
      "X-Acme-Timestamp",
      "X-Acme-Webhook-Id",
    ]);
  });

  it("name no header twice in two cases", () => {
    const scheme: SignatureOption = { content: "timestamp.body", timestampHeader: "x-service-timestamp" };
    const names = Object.keys(sign(scheme, textSecret)).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
    expect(verifies(scheme, textSecret, sign(scheme, textSecret))).toBe(true);
  });

  it("carry a timestamp that is text as it is", () => {
    expect(sign("default", textSecret, { timestamp: "soon" })["X-Service-Timestamp"]).toBe("soon");
  });

  it("verify in a space-separated list that holds its timestamp", () => {
    const scheme: SignatureOption = {
      list: "space",
      timestampEntry: "t=",
      content: "timestamp.body",
      timestampUnit: "ms",
    };
    expect(verifies(scheme, textSecret, sign(scheme, textSecret))).toBe(true);
  });

  it("are the same for bytes and their text, and for a secret with its encoding", () => {
    const bytes = sign("standard-webhooks", base64Secret, { body: Buffer.from(body) });
    const secret = { secret: base64Secret, encoding: "base64" } as const;
    expect(bytes).toEqual(sign("standard-webhooks", base64Secret));
    expect(bytes).toEqual(sign("standard-webhooks", "", { secret }));
  });

  it("are refused where no verifier could take them", () => {
    const refused = expect.objectContaining({ code: "invalid-argument" });
    expect(() => sign("standard-webhooks", base64Secret, { webhookId: "a.b" })).toThrow(refused);
    expect(() => sign({ content: throwing }, textSecret)).toThrow(refused);
    expect(() => sign("default", "")).toThrow(expect.objectContaining({ code: "invalid-configuration" }));
  });
});
