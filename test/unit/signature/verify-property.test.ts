import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { SignaturePreset } from "../../../src/signature/scheme.ts";
import { prepareSecrets } from "../../../src/signature/secret.ts";
import { signBody } from "../../../src/signature/sign.ts";
import { createVerifier } from "../../../src/signature/verify.ts";
import { base64Secret, noonMs, requestOf } from "./request.ts";

const presets: SignaturePreset[] = ["default", "github", "stripe", "shopify", "standard-webhooks"];

/** One delivery, and one change to what its signature covers, or to the signature. */
const forgeries = fc.record({
  preset: fc.constantFrom(...presets),
  body: fc.uint8Array({ maxLength: 200 }),
  webhookId: fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/),
  mutate: fc.oneof(
    fc.record({ part: fc.constant("body" as const), at: fc.nat(), by: fc.integer({ min: 1, max: 255 }) }),
    fc.record({
      part: fc.constant("signature" as const),
      text: fc.string({ unit: "binary", maxLength: 120 }),
    }),
    fc.record({
      part: fc.constant("character" as const),
      at: fc.nat(),
      to: fc.string({ unit: "binary", maxLength: 2 }),
    }),
    fc.record({ part: fc.constant("repeat" as const), with: fc.string({ maxLength: 80 }) }),
    fc.record({
      part: fc.constant("secret" as const),
      bytes: fc.uint8Array({ minLength: 16, maxLength: 40 }),
    }),
  ),
});

it("no changed signature, body or secret verifies or throws", () => {
  fc.assert(
    fc.property(forgeries, ({ preset, body, webhookId, mutate }) => {
      const verifier = createVerifier({ scheme: preset });
      const secrets = prepareSecrets(base64Secret, verifier.scheme);
      const headers = signBody({ scheme: preset, secret: base64Secret, body, webhookId, timestamp: noonMs });
      expect(verifier.verify(requestOf(headers, body), secrets, noonMs).ok).toBe(true);

      const name = verifier.scheme.signatureHeader;
      const signature = headers[name] ?? "";
      const check = (value: string | string[], bytes: Uint8Array = body, keys = secrets) =>
        verifier.verify(requestOf({ ...headers, [name]: value }, bytes), keys, noonMs).ok;
      if (mutate.part === "signature") return !check(mutate.text);
      if (mutate.part === "repeat") return !check([signature, mutate.with]);
      if (mutate.part === "body") return !check(signature, withByte(body, mutate.at, mutate.by));
      if (mutate.part === "secret") {
        const other = Buffer.from(mutate.bytes).toString("base64");
        return !check(signature, body, prepareSecrets(other, verifier.scheme));
      }
      const at = mutate.at % signature.length;
      const changed = signature.slice(0, at) + mutate.to + signature.slice(at + 1);
      fc.pre(changed.toLowerCase() !== signature.toLowerCase() && !isSpelling(preset, changed, signature));
      return !check(changed);
    }),
    { numRuns: 2_000 },
  );
});

it("no header of the signed content changes without being noticed", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 40 }), fc.boolean(), (text, isId) => {
      const verifier = createVerifier({ scheme: "standard-webhooks" });
      const secrets = prepareSecrets(base64Secret, verifier.scheme);
      const body = '{"id":"a.b.c","at":"1776177000.x"}';
      const signed = { scheme: "standard-webhooks", secret: base64Secret, body, webhookId: "msg_1" } as const;
      const headers = {
        ...signBody({ ...signed, timestamp: noonMs }),
        [isId ? "webhook-id" : "webhook-timestamp"]: text,
      };
      fc.pre(text !== "msg_1" && text !== String(noonMs / 1000));
      return !verifier.verify(requestOf(headers, body), secrets, noonMs).ok;
    }),
    { numRuns: 1_000 },
  );
});

/** One byte changed, or one byte added at the end. */
function withByte(body: Uint8Array, place: number, by: number): Uint8Array {
  const at = place % (body.length + 1);
  return Uint8Array.from([...body.slice(0, at), (body[at] ?? 0) ^ by, ...body.slice(at + 1)]);
}

/** The same entry, spelled with an optional prefix left out or beside empty entries: no forgery. */
function isSpelling(preset: SignaturePreset, changed: string, signature: string): boolean {
  if (preset === "default") return changed === signature.slice("sha256=".length);
  if (preset === "standard-webhooks") return changed.split(" ").includes(signature);
  return preset === "stripe" && signature.split(",").every((entry) => changed.split(",").includes(entry));
}

it("headers that no body could make hold are refused before it, as the check of the whole would", () => {
  const values = fc.oneof(
    fc.constantFrom("", " ", "sha256=", "t=1,v1=", "v1,", "0".repeat(64), `v1,${"A".repeat(43)}=`),
    fc.string({ unit: "binary", maxLength: 90 }),
    fc.array(fc.stringMatching(/^(sha256=)?[0-9a-z]{64}$/), { maxLength: 2 }),
  );
  const broken = fc.record({
    preset: fc.constantFrom(...presets),
    part: fc.constantFrom("signatureHeader", "timestampHeader", "idHeader"),
    value: fc.option(values, { nil: undefined }),
  });
  fc.assert(
    fc.property(broken, ({ preset, part, value }) => {
      const verifier = createVerifier({ scheme: preset });
      const secrets = prepareSecrets(base64Secret, verifier.scheme);
      const body = "{}";
      const signed = signBody({
        scheme: preset,
        secret: base64Secret,
        body,
        webhookId: "a",
        timestamp: noonMs,
      });
      const { [verifier.scheme[part as "idHeader"]]: _, ...rest } = signed;
      const headers = value === undefined ? rest : { ...rest, [verifier.scheme[part as "idHeader"]]: value };
      const request = requestOf(headers, body);
      const whole = verifier.verify(request, secrets, noonMs);
      const early = verifier.checkHeaders((name) => request.headers(name));
      if (early !== undefined) expect(whole).toEqual({ ok: false, reason: early });
      else if (!whole.ok) expect(["signature-mismatch", "timestamp-unparseable"]).toContain(whole.reason);
    }),
    { numRuns: 2_000 },
  );
});
