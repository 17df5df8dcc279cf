import { expect, describe, it } from "vitest";
import { createClient } from "../../src/client.ts";
import type { CredentialOptions } from "../../src/client.ts";
import { envelope, read, rejection, startScript } from "./support.ts";
import type { Heard, Reply, Script } from "./support.ts";

/** The token: asked for once, renewed before it expires and once after a 401. */

const credentials = { clientId: "client-1", clientSecret: "secret-SENTINEL-9f8e7d6c" };
const contractRead = envelope(read);
const refused: Reply = { status: 401, body: { data: null, message: "Unauthorized", status: 401 } };
const issued = (name: string, change: Record<string, unknown> = {}): Reply => ({
  body: { access_token: name, token_type: "Bearer", expires_in: 3600, ...change },
});
const byToken = ({ headers }: Heard): Reply =>
  headers.authorization === "Bearer one" ? refused : contractRead;
const bearers = (api: Script): (string | undefined)[] =>
  api.heard.map(({ headers }) => headers.authorization);

async function start(
  tokens: readonly Reply[],
  answers: readonly (Reply | ((heard: Heard) => Reply))[],
  options: Partial<CredentialOptions> = {},
) {
  const auth = await startScript(...tokens);
  const api = await startScript(...answers);
  const clock = { ms: Date.parse("2026-01-25T10:00:00Z"), now: () => clock.ms };
  const given = {
    ...credentials,
    baseUrl: `${api.url}/`,
    authUrl: auth.url,
    backoffMs: 1,
    clock,
    ...options,
  };
  return { auth, api, clock, client: createClient(given) };
}

it("the token request is form-encoded client credentials, and the token goes with each call", async () => {
  const { auth, api, client } = await start([issued("one")], [contractRead], { scope: "contracts refunds" });
  await client.contracts.get("CNT-1");
  const { method, path, headers, body } = auth.heard[0] ?? { body: "" };
  expect([method, path]).toEqual(["POST", "/connect/token"]);
  expect(headers?.["content-type"]).toBe("application/x-www-form-urlencoded");
  expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
    grant_type: "client_credentials",
    client_id: "client-1",
    client_secret: "secret-SENTINEL-9f8e7d6c",
    scope: "contracts refunds",
  });
  expect(bearers(api)).toEqual(["Bearer one"]);
});

it("a hundred calls at once ask for one token, before it expires and after", async () => {
  const { auth, api, clock, client } = await start([issued("one"), issued("two")], [contractRead]);
  const hundred = () => Promise.all(Array.from({ length: 100 }, () => client.contracts.get("CNT-1")));
  await hundred();
  expect(auth.heard).toHaveLength(1);
  clock.ms += 2 * 3_600_000;
  await hundred();
  expect(auth.heard).toHaveLength(2);
  expect(new Set(bearers(api))).toEqual(new Set(["Bearer one", "Bearer two"]));
});

it("a token is renewed before it expires, and nobody waits for that", async () => {
  const { auth, api, clock, client } = await start([issued("one"), issued("two")], [contractRead]);
  await client.contracts.get("CNT-1");
  clock.ms += 3_600_000 - 30_000;
  await client.contracts.get("CNT-1");
  await expect.poll(() => auth.heard.length).toBe(2);
  await expect
    .poll(async () => (await client.contracts.get("CNT-1"), bearers(api).at(-1)))
    .toBe("Bearer two");
  expect(bearers(api)[1]).toBe("Bearer one");
});

it("a token endpoint that is down does not stop calls while the last token holds", async () => {
  const { clock, client } = await start([issued("one"), { status: 503 }], [contractRead]);
  await client.contracts.get("CNT-1");
  clock.ms += 3_600_000 - 30_000;
  expect(await client.contracts.get("CNT-1")).toEqual(read);
});

describe("a 401", () => {
  it("is answered with one fresh token, also for a POST", async () => {
    const { auth, api, client } = await start(
      [issued("one"), issued("two")],
      [refused, envelope({ refundId: 77 })],
    );
    expect(await client.contracts.refund("CNT-1", { reason: "x" })).toEqual({ refundId: 77 });
    expect(bearers(api)).toEqual(["Bearer one", "Bearer two"]);
    expect(auth.heard).toHaveLength(2);
  });

  it("after that is final", async () => {
    const { auth, api, client } = await start([issued("one"), issued("two")], [refused]);
    const error = await rejection(client.contracts.refund("CNT-1", { reason: "x" }));
    expect(error).toMatchObject({
      code: "error-response",
      status: 401,
      messageKey: "Unauthorized",
      retryable: false,
    });
    expect([auth.heard.length, api.heard.length]).toEqual([2, 2]);
  });

  it("for many calls at once costs one token", async () => {
    const { auth, api, client } = await start([issued("one"), issued("two")], [byToken]);
    await Promise.all(Array.from({ length: 20 }, () => client.contracts.get("CNT-1")));
    expect([auth.heard.length, api.heard.length]).toEqual([2, 40]);
  });
});

describe("expires_in", () => {
  /** How many seconds later the first call is that asks for another token. */
  const lifetimes: readonly (readonly [string, unknown, number])[] = [
    ["missing", undefined, 300],
    ["null", null, 300],
    ["text", "soon", 300],
    ["an object", {}, 300],
    ["zero", 0, 300],
    ["negative", -1, 300],
    ["digits", "600", 600],
    ["a fraction", 600.5, 600.5],
    ["a day", 86_400, 86_400],
    ["huge", 1e300, 86_400],
    ["beyond numbers", "9".repeat(400), 86_400],
  ];

  it.each(lifetimes)("that is %s gives a bounded time", async (_, expires_in, seconds) => {
    const { auth, clock, client } = await start([issued("one", { expires_in })], [contractRead]);
    await client.contracts.get("CNT-1");
    clock.ms += (seconds - 61) * 1_000;
    await client.contracts.get("CNT-1");
    expect(auth.heard).toHaveLength(1);
    clock.ms += 61_000;
    await client.contracts.get("CNT-1");
    expect(auth.heard).toHaveLength(2);
  });

  it("in minutes is an option", async () => {
    const options = { expiresInUnit: "minutes" } as const;
    const { auth, clock, client } = await start([issued("one", { expires_in: 60 })], [contractRead], options);
    await client.contracts.get("CNT-1");
    clock.ms += 58 * 60_000;
    await client.contracts.get("CNT-1");
    expect(auth.heard).toHaveLength(1);
  });

  it.each([-86_400_000, 86_400_000])(
    "counts from the client's own clock, which jumps by %i ms",
    async (jump) => {
      const { auth, clock, client } = await start([issued("one")], [contractRead]);
      await client.contracts.get("CNT-1");
      clock.ms += jump;
      await client.contracts.get("CNT-1");
      await client.contracts.get("CNT-1");
      expect(auth.heard.length).toBeLessThanOrEqual(2);
    },
  );
});

describe("a token endpoint", () => {
  it("that refuses the credentials says so, without them", async () => {
    const answer = {
      data: null,
      message: "InvalidClient",
      errors: [`secret-SENTINEL-9f8e7d6c is wrong`],
      status: 401,
    };
    const { auth, api, client } = await start([{ status: 401, body: answer }], [contractRead]);
    const error = await rejection(client.contracts.get("CNT-1"));
    expect(error).toMatchObject({
      code: "error-response",
      status: 401,
      messageKey: "InvalidClient",
      retryable: false,
    });
    expect(error.message).toBe(
      "token: the service answered 401 InvalidClient: [hidden] is wrong. Check clientId and clientSecret.",
    );
    expect([auth.heard.length, api.heard.length]).toEqual([1, 0]);
  });

  it("that fails for a moment is asked again, and the create is sent once", async () => {
    const { api, client } = await start(
      [{ status: 503 }, { status: 429 }, issued("one")],
      [envelope({ refundId: 1 })],
    );
    await client.contracts.refund("CNT-1", { reason: "x" });
    expect(api.heard).toHaveLength(1);
  });

  it.each([
    ["HTML", "<html>"],
    ["no token", { token_type: "Bearer" }],
    ["a token with a line break", { access_token: "one\r\nX-Evil: 1" }],
    ["a token that is a number", { access_token: 5 }],
    ["a blank token", { access_token: "" }],
  ])("that answers with %s is an invalid response", async (_, body) => {
    const { api, client } = await start([{ body }], [contractRead]);
    expect(await rejection(client.contracts.get("CNT-1"))).toMatchObject({ code: "invalid-response" });
    expect(api.heard).toHaveLength(0);
  });

  it("that redirects is not followed: the secret goes nowhere else", async () => {
    const other = await startScript(issued("stolen"));
    const redirect = { status: 307, headers: { location: `${other.url}/connect/token` } };
    const { client } = await start([redirect], [contractRead]);
    expect(await rejection(client.contracts.get("CNT-1"))).toMatchObject({
      code: "invalid-response",
      status: 307,
    });
    expect(other.heard).toHaveLength(0);
  });

  it("that nobody waits for any more still serves the others", async () => {
    const { client } = await start([issued("one")], [contractRead]);
    const controller = new AbortController();
    const aborted = rejection(client.contracts.get("CNT-1", { signal: controller.signal }));
    const other = client.contracts.get("CNT-1");
    controller.abort();
    expect(await aborted).toMatchObject({ code: "aborted" });
    expect(await other).toEqual(read);
  });
});

async function own(
  getToken: () => Promise<never> | Promise<object>,
  answers: readonly Reply[] = [contractRead],
) {
  const api = await startScript(...answers);
  const clock = { ms: 1_800_000_000_000, now: () => clock.ms };
  const options = { baseUrl: api.url, getToken, backoffMs: 1, clock } as Parameters<typeof createClient>[0];
  return { api, clock, client: createClient(options) };
}

describe("getToken", () => {
  it("is asked once until a 401", async () => {
    let asked = 0;
    const { api, client } = await own(
      async () => ({ accessToken: `t${++asked}` }),
      [contractRead, refused, contractRead],
    );
    await client.contracts.get("CNT-1");
    await client.contracts.get("CNT-1");
    expect(bearers(api)).toEqual(["Bearer t1", "Bearer t1", "Bearer t2"]);
  });

  it.each([
    ["a Date", (ms: number) => new Date(ms)],
    ["milliseconds", (ms: number) => ms],
  ])("is asked again at expiresAt, %s", async (_, toTime) => {
    let asked = 0;
    const { clock, client } = await own(async () => {
      asked++;
      return { accessToken: "t", expiresAt: toTime(clock.ms + 600_000) };
    });
    await client.contracts.get("CNT-1");
    clock.ms += 600_000;
    await client.contracts.get("CNT-1");
    expect(asked).toBe(2);
  });

  it("whose tokens have expired already, by a clock a day off, is asked once a call", async () => {
    let asked = 0;
    const { client } = await own(async () => ({
      accessToken: `t${++asked}`,
      expiresAt: 1_800_000_000_000 - 86_400_000,
    }));
    await client.contracts.get("CNT-1");
    await client.contracts.get("CNT-1");
    expect(asked).toBe(2);
  });

  it.each([
    ["nothing", undefined],
    ["a text", "token"],
    ["no token", {}],
    ["a line break", { accessToken: "a\nb" }],
    ["an expiry that is none", { accessToken: "a", expiresAt: "soon" }],
  ])("that returns %s gives no-token, and nothing is sent", async (_, value) => {
    const { api, client } = await own(async () => value as object);
    expect(await rejection(client.contracts.get("CNT-1"))).toMatchObject({ code: "no-token", status: null });
    expect(api.heard).toHaveLength(0);
  });

  it("that never settles gives no-token", async () => {
    const api = await startScript(contractRead);
    const client = createClient({ baseUrl: api.url, timeoutMs: 20, getToken: () => new Promise(() => {}) });
    expect(await rejection(client.contracts.get("CNT-1"))).toMatchObject({ code: "no-token" });
  });

  it("that throws at once gives no-token, and its message is not repeated", async () => {
    const { client } = await own(() => {
      throw new TypeError("password hunter2");
    });
    const error = await rejection(client.contracts.get("CNT-1"));
    expect(error).toMatchObject({
      code: "no-token",
      message: "getToken rejected (TypeError). Nothing was sent.",
    });
    expect(error.cause).toBeUndefined();
  });
});
