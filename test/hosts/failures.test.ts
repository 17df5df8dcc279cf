import { EventEmitter, once } from "node:events";
import Database from "better-sqlite3";
import { afterEach, describe, expect, it, vi } from "vitest";
import { expressWebhook } from "../../adapters/express.ts";
import { fastifyWebhook } from "../../adapters/fastify.ts";
import { fetchWebhook } from "../../adapters/fetch.ts";
import { honoWebhook } from "../../adapters/hono.ts";
import { nodeWebhook } from "../../adapters/node.ts";
import type { MirrorSource, WebhookReceiver } from "../../adapters/lib/protocol.ts";
import { createMirror, type ReceiveRequest } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { delivery, fixtureDelivery, otherSecret, secret } from "../support/delivery.ts";
import { openMirror, temporaryFile, withTransactions } from "../support/mirror.ts";
import { createClient, type Answered, type Client } from "./client.ts";
import { hosts, type RunningHost } from "./hosts.ts";

const base64Secret = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;
const order = delivery("contract.created", { id: "p-1" }, { webhookId: "wh-1" });
const running: RunningHost[] = [];
const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await Promise.all(running.splice(0).map((host) => host.close()));
});

/** Another connection to the host that was started last. */
function connect(): Client {
  const client = createClient((running.at(-1) as RunningHost).port);
  clients.push(client);
  return client;
}

describe.each(hosts)("$name", (host) => {
  async function start(mirror: MirrorSource): Promise<(request: ReceiveRequest) => Promise<Answered>> {
    running.push(await host.start(mirror));
    return sendOver(connect());
  }

  function sendOver(client: Client): (request: ReceiveRequest) => Promise<Answered> {
    return ({ headers, body }) =>
      client.send({
        path: host.path,
        headers: Object.entries(headers as Record<string, string>),
        body: body as Uint8Array,
      });
  }

  it("answers 503 until the promise of a mirror is kept, and 200 from then on", async () => {
    const events = new EventEmitter();
    const send = await start(once(events, "ready").then(([mirror]) => mirror as WebhookReceiver));
    expectRetry(await send(order));
    expectRetry(await send(order));
    events.emit("ready", await openMirror());
    expectOutcome(await send(order), 200, "applied");
  });

  it("answers 503 when the mirror did not start, and warns of it once", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const wrong = createMirror({ store: sqlite(":memory:"), webhook: { secrets: "" } });
    const send = await start(wrong);
    expectRetry(await send(order));
    expectRetry(await send(order));
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      expect.stringContaining("gets 503: Signing secret"),
    ]);
    warn.mockRestore();
  });

  it.each([
    [new Error(`no database at postgres://app:${secret}@db`), "Error"],
    [Object.assign(new RangeError(secret), { code: "ENOENT" }), "RangeError ENOENT"],
    [secret, "a string was thrown"],
  ])("warns of another's error by its kind alone: its message may hold a secret", async (error, kind) => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    expectRetry(await (await start(rejected(error)))(order));
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      `The mirror did not start, so every webhook gets 503: ${kind}`,
    ]);
    warn.mockRestore();
  });

  it("answers 503 when the promise is kept with something else", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const send = await start(Promise.resolve({} as WebhookReceiver));
    expectRetry(await send(order));
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it("answers 503 when receive throws or rejects, which no mirror does, and warns of it", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const rejecting = await start(broken(() => Promise.reject(new Error("boom"))));
    expectRetry(await rejecting(order));
    const throwing = await start(
      broken(() => {
        throw new Error("boom");
      }),
    );
    expectRetry(await throwing(order));
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      "A webhook got 503, because receive() failed: Error",
      "A webhook got 503, because receive() failed: Error",
    ]);
    warn.mockRestore();
  });

  it("answers 503 when the mirror is closed", async () => {
    const mirror = await openMirror();
    const send = await start(mirror);
    await mirror.close();
    expectRetry(await send(order));
  });

  it("answers a wrong signature 503 until the secret has verified a delivery, and 401 from then on", async () => {
    const send = await start(await openMirror());
    const forged = delivery("contract.created", { id: "p-2" }, { secret: otherSecret });
    expectRetry(await send(forged));
    expectOutcome(await send(order), 200, "applied");
    expectOutcome(await send(forged), 401, "rejected");
  });

  it("answers 503 while another process holds the store, and applies the delivery once when it comes again", async () => {
    const path = temporaryFile();
    const mirror = await openMirror({ store: sqlite({ path, busyTimeoutMs: 20 }) });
    const send = await start(mirror);
    const other = new Database(path);
    other.exec("begin exclusive");
    expectRetry(await send(order));
    other.exec("rollback");
    other.close();
    expectOutcome(await send(order), 200, "applied");
    expect(await mirror.contracts.count()).toMatchObject({ total: 1 });
  });

  it("answers 503 what the intake has no place for, and applies it when it comes again", async () => {
    const commits = new EventEmitter();
    const inner = createMemoryStore();
    const store = withTransactions(inner, async (work) => {
      if (commits.emit("begun")) await once(commits, "end");
      return inner.transaction(work);
    });
    const mirror = await openMirror({ store, intake: { itemsMax: 1 } });
    const send = await start(mirror);
    const begun = once(commits, "begun");
    const committing = send(order);
    await begun;
    // One has a place to wait in, whichever of them comes first.
    const late = ["p-2", "p-3"].map((id) => delivery("contract.created", { id }));
    const waiting = late.map((each) => sendOver(connect())(each));
    expectRetry(await Promise.race(waiting));
    commits.emit("end");
    expectOutcome(await committing, 200, "applied");
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    for (const [index, each] of late.entries())
      expectOutcome(await send(each), 200, statuses[index] === 200 ? "duplicate" : "applied");
  });

  it("quarantines what was signed too long ago where the scheme signs the time, and refuses it without one", async () => {
    const sign = { scheme: "standard-webhooks", secret: base64Secret } as const;
    const webhook = { secrets: base64Secret, signature: sign.scheme };
    const send = await start(await openMirror({ webhook }));
    const late = delivery("contract.created", { id: "p-3" }, { ...sign, timestamp: 1_700_000_000_000 });
    expectOutcome(await send(late), 200, "quarantined");
    const headers = Object.entries(late.headers as Record<string, string>);
    const untimed = Object.fromEntries(headers.filter(([name]) => name !== "webhook-timestamp"));
    expectOutcome(await send({ ...late, headers: untimed }), 401, "rejected");
  });

  it("answers what is over the limit and never ends", async () => {
    const mirror = await openMirror({ webhook: { secrets: secret, maxBodyBytes: 100_000 } });
    const send = await start(mirror);
    const headers = [["X-Service-Signature", "0".repeat(64)]] as const;
    expectOutcome(await connect().drip({ path: host.path, headers, body: 200_000 }), 413, "rejected");
    expectOutcome(await send(order), 200, "applied");
  });

  it("hands the mirror the very bytes of a sample", async () => {
    const mirror = await openMirror();
    const send = await start(mirror);
    const { body, headers } = fixtureDelivery("V2");
    expectOutcome(await send({ method: "POST", headers, body }), 200, "applied");
    const stored = await mirror.deliveries.get("wh-V2");
    expect(Buffer.from((await stored?.body()) ?? []).equals(body)).toBe(true);
  });
});

async function rejected(error: unknown): Promise<never> {
  throw error as Error;
}

const endless = (bytes: number) => {
  const state = { isRead: true };
  const headers = { "X-Service-Signature": "0".repeat(64) };
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (state.isRead) controller.enqueue(new Uint8Array(bytes));
      else controller.close();
    },
  });
  const request = new Request("http://localhost/", { method: "POST", headers, body, duplex: "half" });
  return { state, request };
};

describe("a stream in memory that has no end", () => {
  it("is thrown away for a bounded time, while timers run", async () => {
    const handler = fetchWebhook(await openMirror({ webhook: { secrets: secret, maxBodyBytes: 100_000 } }));
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 100);
    const answered = await handler(endless(1000).request);
    expectOutcome({ ...noAnswer, status: answered.status, text: await answered.text() }, 413, "rejected");
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(0);
  });

  it("keeps no timer from running where its pieces are empty", async () => {
    const { state, request } = endless(0);
    setTimeout(() => (state.isRead = false), 50);
    expect((await fetchWebhook(await openMirror())(request)).status).toBe(503);
  });
});

const noAnswer = { headers: {}, reused: false };

function broken(receive: () => Promise<never>): WebhookReceiver {
  return { receive };
}

describe("what is neither a mirror nor the promise of one", () => {
  const nothing = undefined as unknown as MirrorSource;
  const object = { receive: "no" } as unknown as MirrorSource;

  it.each([expressWebhook, nodeWebhook, fetchWebhook, honoWebhook])(
    "is refused at start by %o",
    (webhook) => {
      expect(() => webhook(nothing)).toThrow(/expected a mirror/);
      expect(() => webhook(object)).toThrow(/expected a mirror/);
    },
  );

  it("is refused at start by fastifyWebhook", async () => {
    const app = { all: () => {}, initialConfig: {} };
    await expect(fastifyWebhook(app, { mirror: nothing, path: "/a" })).rejects.toThrow(/expected a mirror/);
    await expect(fastifyWebhook(app, { mirror: object, path: "a" })).rejects.toThrow(/slash at its start/);
  });
});

function expectOutcome({ status, text }: Answered, expected: number, outcome: string): void {
  expect(status).toBe(expected);
  expect(JSON.parse(text)).toMatchObject({ outcome });
}

function expectRetry(answered: Answered): void {
  expectOutcome(answered, 503, "failed");
  expect(answered.headers["retry-after"]).toBe("5");
}
