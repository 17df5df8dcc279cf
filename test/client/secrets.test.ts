import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client.ts";
import type { Client, Fetch } from "../../src/client.ts";
import { contract, envelope, listen, rejection, startScript } from "./support.ts";
import type { Heard, Reply } from "./support.ts";
import { createServer } from "node:net";

/** Nothing that opens a door or names a person comes out of an error, however deep one looks. */

const sentinels = {
  token: "tok-SENTINEL-4f6c",
  clientSecret: "sec/SENTINEL+7d==",
  phone: "+966511223344",
  otherPhone: "966 55 998 8776",
  identity: "1099887766",
  iban: "SA4420000001234567891234",
  storedIban: "SA03 8000 0000 6080 1016 7519",
  signingSecret: "whsec_SENTINELabcdef",
  checkoutToken: "0c35a1a507536ddfa65b5a9903ec8a91",
};

/** The same secret, as it may be written by those who quote it. */
const forms = Object.values(sentinels).flatMap((value) => [
  value,
  encodeURIComponent(value),
  value.replaceAll(" ", ""),
  value.replace("+966", "966"),
]);

/** Every text in an error: its own, its causes', and what a logger would print. */
function textOf(error: Error): string {
  const parts: string[] = [];
  const walk = (value: unknown, depth: number): void => {
    if (depth > 12) return;
    if (typeof value === "string") parts.push(value);
    if (typeof value !== "object" || value === null) return;
    for (const key of Reflect.ownKeys(value)) {
      parts.push(String(key));
      walk(Reflect.get(value, key), depth + 1);
    }
  };
  walk(error, 0);
  const shown = inspect(error, { depth: 12, showHidden: true, getters: true });
  return [...parts, error.message, error.stack, String(error), JSON.stringify(error), shown].join("\n");
}

function leaksOf(error: Error): string[] {
  const text = textOf(error);
  return forms.filter((form) => text.includes(form));
}

const input = {
  ...contract,
  buyerParty: { phoneNumber: sentinels.phone, firstName: "Alia", lastName: "" },
  sellerParty: {
    ...contract.sellerParty,
    kyc: { identity: sentinels.identity, ibanNumber: sentinels.iban },
  },
};

/** A text that quotes all of them, and what came. */
const quoting = (heard?: Heard): string =>
  `${heard?.headers.authorization} ${heard?.body} ${heard?.path} ${forms.join(" | ")} /checkout?token=${sentinels.checkoutToken}`;

const calls: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
  ["contracts.create", (client) => client.contracts.create(input)],
  ["contracts.get", (client) => client.contracts.get("CNT-1")],
  ["contracts.refund", (client) => client.contracts.refund("CNT-1", { reason: "x" })],
  [
    "contracts.renewCheckout",
    (client) => client.contracts.renewCheckout("CNT-1", { buyerPhoneNumber: sentinels.phone }),
  ],
  ["users.onboarding", (client) => client.users.onboarding({ phoneNumber: sentinels.phone })],
  ["webhooks.regenerateSecret", (client) => client.webhooks.regenerateSecret()],
];

const issued: Reply = { body: { access_token: sentinels.token, expires_in: 3600 } };

async function open(reply: Reply | ((heard: Heard) => Reply), fetch?: Fetch): Promise<Client> {
  const auth = await startScript(issued);
  const api = await startScript(reply);
  const options = {
    clientId: "client-1",
    clientSecret: sentinels.clientSecret,
    retries: 0,
    timeoutMs: 2_000,
  };
  return createClient({
    baseUrl: api.url,
    authUrl: auth.url,
    ...options,
    ...(fetch === undefined ? {} : { fetch }),
  });
}

const echo =
  (status: number) =>
  (heard: Heard): Reply => ({
    status,
    headers: {
      "content-type": `text/html; x=${sentinels.token}`,
      location: `https://other.test/?t=${sentinels.token}`,
    },
    body: {
      data: { secret: quoting(heard) },
      message: quoting(heard),
      status,
      succeeded: false,
      validationErrors: [
        { field: quoting(heard), message: quoting(heard), extra: quoting(heard) },
        quoting(heard),
      ],
      errors: [quoting(heard)],
    },
  });

const leakingFetch: Fetch = async (url, init) => {
  if (url.endsWith("/connect/token")) return globalThis.fetch(url, init);
  const inner = Object.assign(new Error(`inner ${JSON.stringify(init)}`), {
    config: init,
    request: { init, url },
  });
  const outer = new AggregateError([inner], `sending ${init.body} with ${init.headers["authorization"]}`, {
    cause: inner,
  });
  throw Object.assign(outer, {
    headers: init.headers,
    code: sentinels.signingSecret,
    response: { config: init },
  });
};

const giveToken = async () => ({ accessToken: sentinels.token });

describe.each(calls)("an error of %s", (_, make) => {
  it.each([200, 302, 400, 401, 403, 409, 429, 500])(
    "that quotes what was sent, with status %i",
    async (status) => {
      expect(leaksOf(await rejection(make(await open(echo(status)))))).toEqual([]);
    },
  );

  it.each([
    ["HTML", (heard: Heard): Reply => ({ body: `<html>${quoting(heard)}</html>` })],
    ["half an object", (heard: Heard): Reply => ({ body: `{"data": ${JSON.stringify(quoting(heard))}` })],
    [
      "another shape",
      (heard: Heard): Reply => envelope({ [quoting(heard)]: quoting(heard), logs: quoting(heard) }),
    ],
    [
      "a key that stands twice",
      (heard: Heard): Reply => ({
        body: `{"data":{"contractId":"CNT-1",${[1, 2].map((n) => `${JSON.stringify(quoting(heard))}:${n}`).join()}}}`,
      }),
    ],
  ])("whose answer is %s that quotes what was sent", async (_kind, reply) => {
    // The operations that any object satisfies resolve.
    const settled = await make(await open(reply)).then(
      () => undefined,
      (error: Error) => error,
    );
    if (settled !== undefined) expect(leaksOf(settled)).toEqual([]);
  });

  it("whose fetch throws an error with the whole request in it", async () => {
    expect(leaksOf(await rejection(make(await open(envelope({}), leakingFetch))))).toEqual([]);
  });

  it("whose connection breaks", async () => {
    const url = await listen(createServer((socket) => socket.once("data", () => socket.destroy())));
    expect(
      leaksOf(await rejection(make(createClient({ baseUrl: url, getToken: giveToken, retries: 0 })))),
    ).toEqual([]);
  });
});

it("a token endpoint that quotes the secret does not bring it into an error", async () => {
  const auth = await startScript(({ body }) => ({
    status: 400,
    body: { message: body, errors: [sentinels.clientSecret] },
  }));
  const credentials = { authUrl: auth.url, clientId: "client-1", clientSecret: sentinels.clientSecret };
  const client = createClient({ baseUrl: auth.url, ...credentials });
  const error = await rejection(client.contracts.get("CNT-1"));
  expect(error.message).toContain("token: the service answered 400 grant_type=client_credentials");
  expect(leaksOf(error)).toEqual([]);
});

it("input that is refused is not quoted", async () => {
  const client = await open(envelope({}));
  const party = {
    phoneNumber: `x${sentinels.phone}`,
    firstName: "",
    lastName: "",
    [sentinels.identity]: sentinels.iban,
  };
  const wrong = {
    ...input,
    buyerParty: party,
    sellerParty: { kyc: { identity: `${sentinels.identity}0`, ibanNumber: `${sentinels.iban}!` } },
  };
  const error = await rejection(client.contracts.create(wrong));
  expect(error).toMatchObject({ code: "invalid-argument" });
  expect(leaksOf(error)).toEqual([]);
  expect(leaksOf(await rejection(client.contracts.get(sentinels.phone)))).toEqual([]);
});

it("a client shows no secret when it is logged", async () => {
  const client = await open(envelope({}));
  const shown = inspect(client, { depth: 12, showHidden: true }) + JSON.stringify(client);
  expect(forms.filter((form) => shown.includes(form))).toEqual([]);
});

it("options that are refused are not quoted", () => {
  const wrong = {
    baseUrl: `https://user:${sentinels.token}@x.test`,
    authUrl: sentinels.clientSecret,
    clientId: "c",
    clientSecret: 5,
  };
  let error = new Error("it did not throw");
  try {
    createClient(wrong as never);
  } catch (thrown) {
    error = thrown as Error;
  }
  expect(error).toMatchObject({ name: "EscrowMirrorError", code: "invalid-configuration" });
  expect(leaksOf(error)).toEqual([]);
});
