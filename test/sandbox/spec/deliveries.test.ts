import { createHmac } from "node:crypto";
import { createServer } from "node:net";

import { describe, expect, it, onTestFinished } from "vitest";

import { manualClock } from "../../../src/sandbox.ts";
import type { Sandbox } from "../../../src/sandbox.ts";
import { at, connect, createContract, portOf, startReceiver, startSandbox } from "../support.ts";
import type { Receiver } from "../support.ts";

/** §6.5 and the supplement: delivery, retry, disabling. */
const startMs = Date.UTC(2026, 0, 25, 10);

async function sendTest(sandbox: Sandbox, times = 1): Promise<void> {
  const api = await connect(sandbox);
  for (let count = 0; count < times; count++) await api.post("/apps/api/webhooks/test");
  await sandbox.deliveries.idle();
}

describe("§6.5 retries", () => {
  it("come after 10 s, 30 s, 2 min, 10 min and 1 h with one id and the same bytes; then the delivery has failed", async () => {
    const clock = manualClock();
    const atMs: number[] = [];
    const receiver = await startReceiver((response) => {
      atMs.push(clock.now() - startMs);
      response.writeHead(503).end();
    });
    const sandbox = await startSandbox({ clock, webhookUrl: receiver.url });
    await sendTest(sandbox);
    await sandbox.clock.advance(9_999);
    expect(atMs).toEqual([0]);
    await sandbox.clock.advance(24 * 3_600_000);
    expect(atMs).toEqual([0, 10_000, 40_000, 160_000, 760_000, 4_360_000]);
    const ids = receiver.received.map(({ headers }) => headers["x-service-webhook-id"]);
    expect([new Set(ids).size, new Set(receiver.received.map(({ bytes }) => bytes.toString())).size]).toEqual(
      [1, 1],
    );
    const [delivery] = await sandbox.deliveries.list();
    expect([delivery?.state, delivery?.attempts.map(({ number }) => number)]).toEqual([
      "failed",
      [1, 2, 3, 4, 5, 6],
    ]);
    const logs = await (await connect(sandbox)).get("/apps/api/webhooks/logs");
    expect([at(logs.body, "data.totalCount"), at(logs.body, "data.logs.0.attemptNumber")]).toEqual([6, 6]);
  });

  it("carry the same headers, the time of creation included", async () => {
    const receiver = await startReceiver(503);
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    await sendTest(sandbox);
    await sandbox.clock.advance(4_400_000);
    const names = ["content-type", "signature", "event", "webhook-id", "timestamp"];
    const sent = receiver.received.map(({ headers }) =>
      names.map((name) => headers[name === "content-type" ? name : `x-service-${name}`]),
    );
    expect(sent.length).toBe(6);
    expect(new Set(sent.map((headers) => headers.join("\n"))).size).toBe(1);
    expect(sent[0]).not.toContain(undefined);
  });

  it.each([200, 201, 202, 204, 299])("are not made after a %i", async (status) => {
    const receiver = await startReceiver(status);
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    await sendTest(sandbox);
    await sandbox.clock.advance(4_400_000);
    expect([receiver.received.length, (await sandbox.deliveries.list())[0]?.state]).toEqual([1, "delivered"]);
  });

  it("stop at the first 2xx", async () => {
    const receiver = await startReceiver(
      (response, _one, count) => void response.writeHead(count < 3 ? 500 : 204).end(),
    );
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    await sendTest(sandbox);
    await sandbox.clock.advance(4_000_000);
    expect([receiver.received.length, (await sandbox.deliveries.list())[0]?.state]).toEqual([3, "delivered"]);
  });

  it.each([
    ...[408, 429, 500, 502, 503, 504].map((status) => [status, 2] as const),
    ...[400, 401, 403, 404].map((status) => [status, 1] as const),
    ...[301, 302, 307, 418, 422, 501].map((status) => [status, 2] as const),
  ])("status %i: %i attempts within ten seconds", async (status, attempts) => {
    const receiver = await startReceiver(
      (response) => void response.writeHead(status, { Location: "/elsewhere" }).end(),
    );
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    await sendTest(sandbox);
    await sandbox.clock.advance(10_000);
    expect(receiver.received.length).toBe(attempts);
    expect((await sandbox.deliveries.list())[0]?.state).toBe(attempts === 1 ? "failed" : "pending");
  });

  it("of a status in neither list are not made where otherStatuses says fail", async () => {
    const receiver = await startReceiver(418);
    const sandbox = await startSandbox({ webhookUrl: receiver.url, otherStatuses: "fail" });
    await sendTest(sandbox);
    expect((await sandbox.deliveries.list())[0]?.state).toBe("failed");
  });
});

describe("a receiver that misbehaves", () => {
  it("and never answers is cut off after 30 s; the next attempts follow", async () => {
    const receiver = await startReceiver(
      (response, _one, count) => void (count > 1 && response.writeHead(200).end()),
    );
    const sandbox = await startSandbox({ webhookUrl: receiver.url, patienceMs: 150 });
    await sendTest(sandbox);
    await sandbox.clock.advance(29_999);
    expect((await sandbox.deliveries.list())[0]?.attempts).toEqual([]);
    await sandbox.clock.advance(1);
    const [first] = (await sandbox.deliveries.list())[0]?.attempts ?? [];
    expect([first?.httpStatus, first?.error, first?.durationMs]).toEqual([
      null,
      "No answer within 30 s.",
      30_000,
    ]);
    await sandbox.clock.advance(10_000);
    await sandbox.deliveries.drained();
    expect((await sandbox.deliveries.list())[0]?.state).toBe("delivered");
  });

  it("on a real clock is cut off after timeoutMs", async () => {
    const receiver = await startReceiver(() => undefined);
    const sandbox = await startSandbox({ clock: "real", timeoutMs: 80, webhookUrl: receiver.url });
    await sendTest(sandbox);
    expect((await sandbox.deliveries.list())[0]?.attempts[0]?.error).toBe("No answer within 0.08 s.");
  });

  it("and answers with a redirect is not followed", async () => {
    const target = await startReceiver();
    const receiver = await startReceiver(
      (response) => void response.writeHead(302, { Location: target.url }).end(),
    );
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    await sendTest(sandbox);
    expect([receiver.received.length, target.received.length]).toEqual([1, 0]);
    expect((await sandbox.deliveries.list())[0]?.attempts[0]?.error).toContain("not followed");
  });

  it("and answers 10 MB, or never ends its answer, counts by its status", async () => {
    const megabyte = Buffer.alloc(1_048_576, "x");
    const receiver = await startReceiver((response, _one, count) => {
      response.writeHead(200);
      if (count === 1) for (let part = 0; part < 10; part++) response.write(megabyte);
      else response.write("never ended");
      if (count === 1) response.end();
    });
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    await sendTest(sandbox, 2);
    const deliveries = await sandbox.deliveries.list();
    expect(deliveries.map(({ state }) => state)).toEqual(["delivered", "delivered"]);
    expect(deliveries[0]?.attempts[0]?.responseBody.length).toBe(4_096);
    expect(deliveries[1]?.attempts[0]?.responseBody).toBe("never ended");
  });

  it.each([
    ["resets the connection", ""],
    ["speaks no HTTP", "SSH-2.0-OpenSSH\r\n\r\n"],
    ["breaks off in its head", "HTTP/1.1 200 OK\r\nContent-"],
  ])("and %s is a failed attempt, and the next is served", async (_what, bytes) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => (bytes === "" ? socket.resetAndDestroy() : socket.end(bytes)));
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const sandbox = await startSandbox({ webhookUrl: `http://127.0.0.1:${portOf(server)}/` });
    await sendTest(sandbox);
    const [delivery] = await sandbox.deliveries.list();
    expect([delivery?.state, delivery?.attempts[0]?.httpStatus, typeof delivery?.attempts[0]?.error]).toEqual(
      ["pending", null, "string"],
    );
    expect((await (await connect(sandbox)).get("/apps/api/webhooks")).status).toBe(200);
  });

  it.each(["127.0.0.1", "::1"])("localhost reaches a receiver on %s only", async (host) => {
    const receiver = await startReceiver(200, host);
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    await sendTest(sandbox);
    expect(receiver.events()).toEqual(["webhook.test"]);
  });

  it("and is not there: the log names the addresses tried", async () => {
    const sandbox = await startSandbox({ webhookUrl: "http://localhost:9/" });
    await sendTest(sandbox);
    const error = (await sandbox.deliveries.list())[0]?.attempts[0]?.error;
    expect(error).toMatch(/127\.0\.0\.1:9.*::1:9/);
  });
});

describe("§6.5 disabling", () => {
  it("comes after ten failed deliveries in a row, not attempts; POST re-enables", async () => {
    let status = 401;
    const receiver = await startReceiver((response) => void response.writeHead(status).end());
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    const api = await connect(sandbox);
    await sendTest(sandbox, 9);
    expect(await sandbox.subscription.get()).toMatchObject({ isActive: true, consecutiveFailures: 9 });
    status = 200;
    await sendTest(sandbox);
    expect(await sandbox.subscription.get()).toMatchObject({ isActive: true, consecutiveFailures: 0 });
    status = 403;
    await sendTest(sandbox, 10);
    expect(await sandbox.subscription.get()).toMatchObject({ isActive: false, consecutiveFailures: 10 });
    expect((await api.post("/apps/api/webhooks/test")).status).toBe(400);
    await createContract(api);
    expect((await sandbox.deliveries.list({ state: "skipped" })).map(({ event }) => event)).toEqual([
      "contract.created",
    ]);
    status = 200;
    const updated = await api.post("/apps/api/webhooks", { webhookUrl: receiver.url });
    expect(at(updated.body, "data")).toMatchObject({ isActive: true, consecutiveFailures: 0 });
    await sendTest(sandbox);
    expect(receiver.received.length).toBe(21);
  });

  it("ends what was still to be retried, unless retriesWhenDisabled says continue", async () => {
    for (const [retriesWhenDisabled, ends] of [
      ["stop", 1],
      ["continue", 2],
    ] as const) {
      const receiver = await startReceiver((response, one) => {
        const first = one.headers["x-service-event"] === "contract.created";
        response.writeHead(first ? 500 : 400).end();
      });
      const sandbox = await startSandbox({ webhookUrl: receiver.url, retriesWhenDisabled, disableAfter: 1 });
      await createContract(await connect(sandbox));
      await sandbox.deliveries.idle();
      await sendTest(sandbox);
      await sandbox.clock.advance(10_000);
      const created = receiver.events().filter((event) => event === "contract.created");
      expect(created.length).toBe(ends);
    }
  });
});

describe("the secret", () => {
  it("signs exactly the bytes that are sent, beyond ASCII too; a new one holds at once, for retries as well", async () => {
    const receiver = await startReceiver(
      (response, _one, count) => void response.writeHead(count === 1 ? 500 : 200).end(),
    );
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    const api = await connect(sandbox);
    const before = sandbox.webhookSecret;
    await createContract(api, { reference: "طلب ٧٧ 🏺 é \u2028 \ud800", amount: 100 });
    await sandbox.deliveries.idle();
    await api.post("/apps/api/webhooks/regenerate-secret");
    await sandbox.clock.advance(10_000);
    expect(signatures(receiver)).toEqual([
      sign(receiver, 0, before),
      sign(receiver, 1, sandbox.webhookSecret),
    ]);
    expect(receiver.received[0]?.bytes.includes('"amount":100.00,')).toBe(true);
    expect(before).not.toBe(sandbox.webhookSecret);
  });
});

function signatures(receiver: Receiver): unknown[] {
  return receiver.received.map(({ headers }) => headers["x-service-signature"]);
}

function sign(receiver: Receiver, index: number, secret: string): string {
  const bytes = receiver.received[index]?.bytes ?? Buffer.alloc(0);
  return `sha256=${createHmac("sha256", secret).update(bytes).digest("hex")}`;
}

describe("resend", () => {
  it("sends once more with the same id and bytes, and starts the retries anew", async () => {
    const receiver = await startReceiver(
      (response, _one, count) => void response.writeHead(count === 1 ? 404 : 200).end(),
    );
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    await sendTest(sandbox);
    const [delivery] = await sandbox.deliveries.list();
    await sandbox.deliveries.resend(delivery?.webhookId ?? "");
    await sandbox.deliveries.idle();
    expect((await sandbox.deliveries.list())[0]?.state).toBe("delivered");
    expect(receiver.received[1]?.bytes.equals(receiver.received[0]?.bytes ?? Buffer.alloc(0))).toBe(true);
    await expect(sandbox.deliveries.resend("nobody")).rejects.toMatchObject({ code: "not-found" });
  });

  it("of one that waits for a retry takes that retry's place", async () => {
    const receiver = await startReceiver(
      (response, _one, count) => void response.writeHead(count === 1 ? 500 : 200).end(),
    );
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    await sendTest(sandbox);
    const [delivery] = await sandbox.deliveries.list();
    await sandbox.deliveries.resend(delivery?.webhookId ?? "");
    await sandbox.clock.advance(10_000_000);
    expect(receiver.received.length).toBe(2);
  });
});

describe("clocks", () => {
  it("at speed 3600 make the 72 minutes of all retries shorter than a test may take", async () => {
    const receiver = await startReceiver(
      (response, _one, count) => void response.writeHead(count < 6 ? 500 : 200).end(),
    );
    const sandbox = await startSandbox({ clock: "real", speed: 3600, webhookUrl: receiver.url });
    await sendTest(sandbox);
    await sandbox.deliveries.drained();
    expect(receiver.received.length).toBe(6);
  });

  it("leap forward on a real clock, through each retry in its order", async () => {
    const receiver = await startReceiver(500);
    const sandbox = await startSandbox({ clock: "real", webhookUrl: receiver.url });
    await sendTest(sandbox);
    const before = sandbox.clock.now();
    await sandbox.clock.advance(4_400_000);
    expect(receiver.received.length).toBe(6);
    expect(sandbox.clock.now() - before).toBeGreaterThanOrEqual(4_400_000);
  });

  it("never print two times alike, and each later than the one before", async () => {
    const sandbox = await startSandbox({ webhookUrl: "http://127.0.0.1:9/" });
    const api = await connect(sandbox);
    for (let count = 0; count < 20; count++) await createContract(api);
    const times = (await sandbox.deliveries.list()).map(({ createdAt }) => createdAt);
    expect(times).toEqual([...new Set(times)].sort());
  });

  it.each([-1, Number.NaN, Infinity])("refuse to move by %s", async (ms) => {
    await expect(manualClock().advance(ms)).rejects.toThrow(RangeError);
    const sandbox = await startSandbox();
    await expect(sandbox.clock.advance(ms)).rejects.toMatchObject({ code: "invalid-argument" });
  });
});
