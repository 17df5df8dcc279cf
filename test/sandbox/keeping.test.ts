import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { createSandbox, manualClock, replayRecording } from "../../src/sandbox.ts";
import { DueHeap } from "../../src/sandbox/webhooks/due-heap.ts";
import { connect, createContract, milestones, refund, startReceiver, startSandbox } from "./support.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "sandbox-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

describe("data: a file", () => {
  it("survives a restart: contracts, users, secrets, tokens, log, and the queue of retries", async () => {
    const data = join(folder(), "sandbox.db");
    let status = 500;
    const receiver = await startReceiver((response) => void response.writeHead(status).end());
    const first = await startSandbox({ data, webhookUrl: receiver.url, seed: 5 });
    const api = await connect(first);
    const id = await createContract(api, { Milestones: milestones });
    await first.act(id, "pay");
    await refund(api, id, { milestoneId: 1 });
    await first.deliveries.idle();
    const before = await first.contracts.list();
    const { webhookSecret, clientSecret } = first;
    await first.close();

    status = 200;
    const clock = manualClock(Date.UTC(2026, 0, 25, 10, 0, 9));
    const second = await startSandbox({ data, clock, seed: 6 });
    expect(await second.contracts.list()).toEqual(before);
    expect([second.webhookSecret, second.clientSecret, second.deliveries.pending()]).toEqual([
      webhookSecret,
      clientSecret,
      6,
    ]);
    expect(receiver.received.length).toBe(6);
    await second.clock.advance(1_000);
    expect([receiver.received.length, second.deliveries.pending()]).toEqual([12, 0]);
    const headers = { Authorization: `Bearer ${api.token}` };
    expect((await fetch(`${second.baseUrl}/apps/api/webhooks/logs`, { headers })).status).toBe(200);
    const settled = await second.settleRefund((await second.refunds.list())[0]?.refundId ?? "");
    expect(settled.state).toBe("succeeded");
    expect((await createContract(await connect(second))) > id).toBe(true);
  });

  it("refuses a file that is no sandbox's, and a folder that is not there", async () => {
    const path = folder();
    writeFileSync(
      join(path, "text.db"),
      "This is not a database, but a text that is long enough to be looked at.",
    );
    for (const data of [join(path, "text.db"), join(path, "no", "where.db")]) {
      await expect(createSandbox({ data })).rejects.toMatchObject({ code: "invalid-configuration" });
    }
  });
});

describe("record and replay", () => {
  it("writes what was sent, byte for byte, and sends it again", async () => {
    const record = join(folder(), "webhooks.jsonl");
    const receiver = await startReceiver(
      (response, _one, count) => void response.writeHead(count === 1 ? 500 : 200).end(),
    );
    const sandbox = await startSandbox({ record, webhookUrl: receiver.url });
    await sandbox.act(await createContract(await connect(sandbox), { reference: "طلب" }), "pay");
    await sandbox.clock.advance(10_000);
    await sandbox.close();
    const lines = readFileSync(record, "utf8").trim().split("\n");
    expect(lines.length).toBe(4);
    expect(readFileSync(record, "utf8")).not.toContain(sandbox.webhookSecret);

    const again = await startReceiver();
    const replayed = await replayRecording(record, { url: again.url });
    expect(replayed.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(again.received.map(({ bytes }) => bytes)).toEqual(receiver.received.map(({ bytes }) => bytes));
    const names = ["x-service-signature", "x-service-webhook-id", "x-service-timestamp", "x-service-event"];
    for (const name of names) {
      expect(again.received.map(({ headers }) => headers[name])).toEqual(
        receiver.received.map(({ headers }) => headers[name]),
      );
    }
    await replayRecording(record, { url: again.url, secret: "another" });
    expect(again.received[4]?.headers["x-service-signature"]).not.toBe(
      again.received[0]?.headers["x-service-signature"],
    );
  });

  it("says which line is no recording, and that a file is missing", async () => {
    const path = join(folder(), "other.jsonl");
    writeFileSync(path, '{"a":1}\n');
    await expect(replayRecording(path, { url: "http://127.0.0.1:9/" })).rejects.toThrow("line 1");
    await expect(replayRecording(`${path}x`, { url: "http://127.0.0.1:9/" })).rejects.toMatchObject({
      code: "not-found",
    });
  });
});

describe("the schedule", () => {
  it("gives 20,000 items out by time, and those of one time in their order", () => {
    const schedule = new DueHeap<[number, number]>();
    let seed = 1;
    for (let order = 0; order < 20_000; order++) {
      seed = (seed * 48_271) % 2_147_483_647;
      schedule.add(seed % 500, [seed % 500, order]);
    }
    const out: [number, number][] = [];
    for (let item = schedule.takeDue(499); item !== undefined; item = schedule.takeDue(499)) out.push(item);
    expect(out).toEqual([...out].sort((a, b) => a[0] - b[0] || a[1] - b[1]));
    expect([out.length, schedule.size]).toEqual([20_000, 0]);
  });

  it("keeps back what is not due", () => {
    const schedule = new DueHeap<string>();
    schedule.add(10, "later");
    expect([schedule.takeDue(9), schedule.first()?.dueMs, schedule.takeDue(10)]).toEqual([
      undefined,
      10,
      "later",
    ]);
  });
});

describe("createSandbox", () => {
  it.each([
    [{ port: -1 }, "port"],
    [{ speed: 0 }, "speed"],
    [{ speed: 2, clock: manualClock() }, "speed"],
    [{ edition: "newest" }, "edition"],
    [{ retryDelaysMs: [1, -1] }, "retryDelaysMs"],
    [{ webhookSecret: " " }, "webhookSecret"],
    [{ clock: "manual" }, "clock"],
    [{ retryDelay: [] }, "retryDelay"],
    [{ webhookUrl: "nowhere" }, "webhookUrl"],
  ])("refuses %j and names the option", async (options, name) => {
    const wrong: object = options;
    await expect(createSandbox(wrong)).rejects.toThrow(name);
  });

  it("says that a port is taken, and what to do", async () => {
    const sandbox = await startSandbox();
    const second = createSandbox({ port: sandbox.address.port });
    await expect(second).rejects.toMatchObject({ code: "address-in-use" });
    await expect(second).rejects.toThrow(/in use.*0 takes any free one/);
  });

  it("listens on the loopback address only, and says where", async () => {
    const sandbox = await startSandbox();
    expect(sandbox.address.host).toBe("127.0.0.1");
    expect(sandbox.baseUrl).toBe(`http://127.0.0.1:${sandbox.address.port}`);
  });

  it("closes with `await using`, twice, and with a receiver that hangs", async () => {
    const receiver = await startReceiver(() => undefined);
    const sandbox = await startSandbox({ webhookUrl: receiver.url, clock: "real" });
    await createContract(await connect(sandbox));
    await Promise.all([sandbox.close(), sandbox[Symbol.asyncDispose]()]);
  });
});
