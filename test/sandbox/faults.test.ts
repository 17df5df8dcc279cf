import { describe, expect, it } from "vitest";

import type { FaultOptions } from "../../src/sandbox.ts";
import { at, call, connect, contractBody, createContract, startReceiver, startSandbox } from "./support.ts";

/** Each fault does what it says, counts what it did, and repeats itself by its seed. */
describe("faults", () => {
  it("duplicate: the same id and bytes twice", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    sandbox.faults.set({ duplicate: 1 });
    await createContract(await connect(sandbox));
    await sandbox.clock.advance(1_000);
    expect(receiver.events()).toEqual(["contract.created", "contract.created"]);
    expect(new Set(receiver.received.map(({ headers }) => headers["x-service-webhook-id"])).size).toBe(1);
    expect(sandbox.faults.counts().duplicate).toBe(1);
  });

  it("reorder: the next one of the contract overtakes", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    sandbox.faults.set({ reorder: 1 });
    const id = await createContract(await connect(sandbox));
    sandbox.faults.clear();
    await sandbox.act(id, "approve");
    await sandbox.deliveries.idle();
    expect(receiver.events()).toEqual(["contract.approved", "contract.created"]);
    expect(sandbox.faults.counts().reorder).toBe(1);
  });

  it("reorder counts nothing where nothing overtook", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    sandbox.faults.set({ reorder: 1 });
    const id = await createContract(await connect(sandbox));
    await sandbox.clock.advance(5_000);
    await sandbox.act(id, "approve");
    await sandbox.clock.advance(5_000);
    expect(receiver.events()).toEqual(["contract.created", "contract.approved"]);
    expect(sandbox.faults.counts().reorder).toBe(0);
  });

  it("drop: never sent, and said so", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    sandbox.faults.set({ drop: 1 });
    await createContract(await connect(sandbox));
    await sandbox.clock.advance(4_000_000);
    expect(receiver.received).toEqual([]);
    expect((await sandbox.deliveries.list({ state: "dropped" })).map(({ event }) => event)).toEqual([
      "contract.created",
    ]);
    expect(sandbox.faults.counts().drop).toBe(1);
  });

  it("delayMs: the first attempt waits", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    sandbox.faults.set({ delayMs: [500, 500] });
    await createContract(await connect(sandbox));
    await sandbox.clock.advance(499);
    expect(receiver.received.length).toBe(0);
    await sandbox.clock.advance(1);
    expect([receiver.received.length, sandbox.faults.counts().delay]).toEqual([1, 1]);
  });

  it("corruptSignature: well-formed and wrong", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url, sign: () => "sha256=00" });
    sandbox.faults.set({ corruptSignature: 1 });
    await createContract(await connect(sandbox));
    await sandbox.deliveries.idle();
    expect(receiver.received[0]?.headers["x-service-signature"]).toBe("sha256=01");
    expect(sandbox.faults.counts().corruptSignature).toBe(1);
  });

  it("apiErrors: 429, 500, 502 as HTML and 503, and nothing is done", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    sandbox.faults.set({ apiErrors: 1 });
    const answers = [];
    for (let count = 0; count < 40; count++)
      answers.push(await api.post("/apps/api/contracts", contractBody()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429, 500, 502, 503]));
    expect(answers.find(({ status }) => status === 502)?.text).toContain("<h1>");
    expect(answers.find(({ status }) => status === 429)?.headers.get("retry-after")).toBe("1");
    expect([(await sandbox.contracts.list()).length, sandbox.faults.counts().apiErrors]).toEqual([0, 40]);
  });

  it("cutConnection: done, and never answered", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    sandbox.faults.set({ cutConnection: 1 });
    await expect(api.post("/apps/api/contracts", contractBody())).rejects.toThrow("fetch failed");
    expect((await sandbox.contracts.list()).length).toBe(1);
    expect(sandbox.faults.counts().cutConnection).toBe(1);
  });

  it("slowReads: a GET is answered late with what was true when it came", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const id = await createContract(api);
    sandbox.faults.set({ slowReads: 1, slowReadMs: [120, 120] });
    const startedMs = performance.now();
    const reading = api.get(`/apps/api/contracts/${id}`);
    await expect.poll(() => sandbox.faults.counts().slowReads, { timeout: 20_000 }).toBe(1);
    await sandbox.act(id, "pay");
    expect(at((await reading).body, "data.status")).toBe("pending");
    expect(performance.now() - startedMs).toBeGreaterThan(110);
  });

  it("repeat themselves by seed, and differ by seed", async () => {
    const [one, same, other] = [await run(7), await run(7), await run(8)];
    expect(one).toEqual(same);
    expect(one).not.toEqual(other);
    expect(one.length).toBeGreaterThan(60);
  });

  it("can be set and read over HTTP", async () => {
    const sandbox = await startSandbox();
    const init = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"drop":0.5,"seed":3}',
    };
    await call(`${sandbox.controlUrl}faults`, init);
    expect(at((await call(`${sandbox.controlUrl}faults`)).body, "data.faults")).toEqual({
      drop: 0.5,
      seed: 3,
    });
  });

  it.each([
    { drop: 2 },
    { drop: -0.1 },
    { drop: Number.NaN },
    { delayMs: [5, 1] },
    { delayMs: [1] },
    { boom: 1 },
  ] as unknown as FaultOptions[])("refuse %j", async (wrong) => {
    const sandbox = await startSandbox();
    const named = expect.objectContaining({
      code: "invalid-argument",
      message: expect.stringContaining(Object.keys(wrong)[0] ?? ""),
    });
    expect(() => sandbox.faults.set(wrong)).toThrow(named);
    expect(() => sandbox.faults.set({}, { seed: Number.NaN })).toThrow("seed");
  });
});

async function run(seed: number): Promise<string[]> {
  const receiver = await startReceiver();
  const sandbox = await startSandbox({ webhookUrl: receiver.url });
  const api = await connect(sandbox);
  sandbox.faults.set({ duplicate: 0.3, reorder: 0.3, drop: 0.1, delayMs: [1, 300] }, { seed });
  for (let count = 0; count < 20; count++) {
    const id = await createContract(api);
    await sandbox.act(id, "pay");
    await sandbox.act(id, "dispute");
    await sandbox.clock.advance(50);
  }
  await sandbox.clock.advance(10_000);
  return receiver.received.map(
    ({ payload }) => `${String(at(payload, "event"))} ${String(at(payload, "data.contractId"))}`,
  );
}
