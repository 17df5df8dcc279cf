/** Semantics §1.2–§1.3: nothing authentic is refused, nothing unauthentic is stored, and nothing throws. */
import * as fc from "fast-check";
import { beforeEach, describe, expect } from "vitest";
import type { HeaderBag, ReceiveRequest } from "../../src/receiver/request.ts";
import { signBody } from "../../src/signature/sign.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { hostileBody, hostileHeaders, hostileSignature } from "../../src/testing/arbitraries/hostile.ts";
import { law } from "./law.ts";
import { openReceiving, secret, type Receiving } from "./receiving.ts";
import { mirroredRows } from "./rows.ts";

const unsigned = fc.record({
  method: fc.constantFrom("POST", "post", "GET", "", "\u0000"),
  body: fc.option(fc.oneof(hostileBody(), fc.string({ unit: "binary" })), { nil: undefined }),
  headers: hostileHeaders(),
  signature: fc.option(hostileSignature(), { nil: undefined }),
  isBase64Encoded: fc.boolean(),
  form: fc.constantFrom<keyof typeof forms>("record", "pairs", "map"),
});

const forms = {
  record: (headers: Headers) => headers,
  pairs: (headers: Headers) => Object.entries(headers),
  map: (headers: Headers) => new Map(Object.entries(headers)),
} satisfies Record<string, (headers: Headers) => HeaderBag>;

type Headers = Record<string, string | string[]>;

describe("hostile requests", () => {
  let receiving: Receiving;
  beforeEach(async () => {
    receiving = await openReceiving(createMemoryStore());
    await receiving.receiver.receive(signed(Buffer.from("the first, which proves the secret"), {}));
  });

  law("signed bytes are answered 200 and stored, whatever they are", 0.06, signedCases(), async (cases) => {
    const { store, receiver } = await openReceiving(createMemoryStore());
    for (const { body, headers } of cases)
      expect((await receiver.receive(signed(body, headers))).status).toBe(200);
    const stored = await store.read((reader) => reader.find("deliveries"));
    expect(stored.length).toBe(new Set(cases.map(({ body }) => Buffer.from(body).toString("hex"))).size);
  });

  law(
    "an unsigned one is refused and stores nothing",
    0.04,
    unsigned,
    async ({ signature, form, ...request }) => {
      const before = await mirroredRows(receiving.store);
      const headers = {
        ...request.headers,
        ...(signature === undefined ? {} : { "x-service-signature": signature }),
      };
      const { status, outcome } = await receiving.receiver.receive({
        ...request,
        headers: forms[form](headers),
      });
      expect([401, 405, request.body === undefined ? 500 : 401]).toContain(status);
      expect(["rejected", "failed"]).toContain(outcome);
      expect(await mirroredRows(receiving.store)).toEqual(before);
    },
  );
});

function signedCases() {
  return fc.array(fc.record({ body: hostileBody(), headers: hostileHeaders() }), {
    minLength: 1,
    maxLength: 4,
  });
}

function signed(body: Uint8Array, extra: Headers): ReceiveRequest {
  const { "X-Service-Signature": signature = "" } = signBody({ secret, body, webhookId: "-", timestamp: 0 });
  return { method: "POST", headers: { ...extra, "X-Service-Signature": signature }, body };
}
