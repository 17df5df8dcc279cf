/** Which headers are stored: those of a closed list, so that what somebody adds on the way is not. */
import { describe, expect, it } from "vitest";
import type { WebhookOptions } from "../../../../src/mirror/options.ts";
import { signaturePresets } from "../../../../src/signature/scheme.ts";
import { eventBody, secret, signed } from "../../../support/delivery.ts";
import { openMirror, storeKinds } from "../../../support/mirror.ts";

/** What proxies, gateways and identity layers add; what admits a person or names one; each scheme's signature. */
const identifying = {
  "x-amzn-oidc-data": "eyJhbGciOi.user.sig",
  "x-amzn-oidc-accesstoken": "token",
  "x-amzn-oidc-identity": "sara",
  "x-forwarded-access-token": "token",
  "x-forwarded-email": "sara@example.com",
  "x-forwarded-for": "203.0.113.9",
  "x-auth-request-user": "sara",
  "cf-access-jwt-assertion": "eyJhbGciOi.user.sig",
  "cf-connecting-ip": "203.0.113.9",
  "x-goog-iap-jwt-assertion": "eyJhbGciOi.user.sig",
  "x-ms-client-principal": "eyJ1c2VyIjoic2FyYSJ9",
  "x-ms-token-aad-access-token": "token",
  "x-api-key": "key",
  "x-functions-key": "key",
  apikey: "key",
  authorization: "Bearer token",
  "proxy-authorization": "Basic cGFzcw==",
  cookie: "session=1",
  "set-cookie": "session=1",
  "x-real-ip": "203.0.113.9",
  forwarded: "for=203.0.113.9",
  from: "sara@example.com",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  "x-service-signature-previous": "sha256=0",
  "x-service-token": "token",
  ...Object.fromEntries(
    Object.values(signaturePresets).map(({ signatureHeader = "x-service-signature" }) => [
      signatureHeader.toLowerCase(),
      "sha256=0",
    ]),
  ),
};

const kept = {
  "content-type": "application/json",
  "content-encoding": "identity",
  "content-length": "94",
  date: "Tue, 14 Apr 2026 14:30:00 GMT",
  "user-agent": "Escrow/1.0",
};

async function storedHeaders(webhook: Partial<WebhookOptions>, body: string, openStore = storeKinds[0]?.[1]) {
  const store = openStore?.();
  if (store === undefined) throw new Error("no store");
  const mirror = await openMirror({ store, webhook });
  const { signature: scheme, headerPrefix, secrets = secret } = webhook;
  const { headers, ...request } = signed(body, {
    scheme,
    headerPrefix,
    secret: secrets as string,
    event: "contract.created",
  });
  // The scheme's own come last, over what imitates them.
  const names = Object.entries({ ...identifying, ...kept }).map(([name, value]) => [
    name.toUpperCase(),
    value,
  ]);
  const own = new Set(Object.keys(headers as object).map((name) => name.toLowerCase()));
  const added = names.filter(([name = ""]) => !own.has(name.toLowerCase()));
  const answer = await mirror.receive({
    ...request,
    headers: { ...Object.fromEntries(added), ...(headers as Record<string, string>) },
  });
  expect(answer.status).toBe(200);
  const [row] = await store.read((reader) => reader.find("payloads"));
  return { ...row?.headers };
}

describe.each(storeKinds)("on %s", (_, openStore) => {
  it.each([
    ["applied", eventBody("contract.created", { seconds: 0 })],
    ["quarantined", "not json"],
  ])("of a delivery that is %s only the headers of the list are stored", async (__, body) => {
    expect(await storedHeaders({}, body, openStore)).toEqual({
      ...kept,
      "x-service-event": "contract.created",
      "x-service-timestamp": "2026-04-14T14:30:00.000Z",
      "x-service-webhook-id": expect.stringMatching(/^wh-/) as string,
    });
  });
});

const keys = { "standard-webhooks": `whsec_${Buffer.alloc(32, 7).toString("base64")}` };

it.each(Object.entries(signaturePresets))(
  "no signature is stored under the preset %s, and its id is",
  async (name, { idHeader = "x-service-webhook-id" }) => {
    const signature = name as keyof typeof signaturePresets;
    const secrets = (keys as Partial<Record<string, string>>)[name] ?? secret;
    const stored = await storedHeaders({ signature, secrets }, eventBody("contract.created", { seconds: 0 }));
    expect(Object.keys(stored)).toContain(idHeader.toLowerCase());
    expect(Object.keys(stored).filter((each) => /signature|hmac/.test(each))).toEqual([]);
  },
);

it.each(["", "X-", "x-escrow-", "X-Service-"])(
  "the prefix %j keeps three headers of that prefix, and no other",
  async (headerPrefix) => {
    const stored = await storedHeaders({ headerPrefix }, eventBody("contract.created", { seconds: 0 }));
    const own = Object.keys(stored).filter((name) => !(name in kept));
    const prefix = headerPrefix.toLowerCase();
    expect(own.sort()).toEqual([`${prefix}event`, `${prefix}timestamp`, `${prefix}webhook-id`]);
  },
);

it.each(["X-Hub-Signature-256", "Stripe-Signature", "X-Service-Signature"])(
  "a scheme that names the signature %s as its id does not make it one of those kept",
  async (idHeader) => {
    const signature = { signatureHeader: "X-Own-Signature", idHeader };
    const stored = await storedHeaders({ signature }, eventBody("contract.created", { seconds: 0 }));
    expect(Object.keys(stored)).not.toContain(idHeader.toLowerCase());
    expect(Object.keys(stored)).not.toContain("x-own-signature");
  },
);
