/** What an attack on the engine once achieved, each as it was found. */
import { describe, expect, it } from "vitest";
import type { ReceiveRequest } from "../../../src/receiver/request.ts";
import { diagnoseMismatch } from "../../../src/signature/diagnose.ts";
import { resolveScheme } from "../../../src/signature/scheme.ts";
import { prepareSecrets } from "../../../src/signature/secret.ts";
import { unfailing } from "../../../src/shared/logger.ts";
import { delivery, eventBody, noonMs, secret, sha256, signed } from "../../support/delivery.ts";
import { openMirror, storeKinds, testClock } from "../../support/mirror.ts";

const hourMs = 3_600_000;

/** Refunds of one contract, each signed by itself, under one unsigned id. */
function refund(id: string, transactionId: number, seconds: number): ReceiveRequest {
  return delivery("refund.full-succeeded", { id, transactionId, seconds }, { webhookId: "same" });
}

describe.each(storeKinds)("a header that nobody signed, on %s,", (_, openStore) => {
  it("takes no event away: a wrong Content-Encoding is forgotten when the body comes without it", async () => {
    const mirror = await openMirror({ store: openStore() });
    const body = eventBody("contract.created", { id: "e-1", seconds: 0 });
    const poisoned = await mirror.receive(signed(body, { headers: { "Content-Encoding": "gzip" } }));
    expect(poisoned).toMatchObject({ outcome: "quarantined", reason: "corrupt-encoding" });
    expect(await mirror.receive(signed(body))).toMatchObject({ outcome: "applied" });
    expect(await mirror.receive(signed(body))).toMatchObject({ outcome: "duplicate" });
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "pending" });
    expect((await mirror.quarantine.list()).items).toEqual([]);
    expect(await mirror.deliveries.get("e-1")).toBeUndefined();
    expect((await mirror.contracts.history("CNT-1")).length).toBe(1);
  });

  it("can be released over: the body is read as it is where it is not what the header says", async () => {
    const mirror = await openMirror({ store: openStore() });
    const body = eventBody("contract.created", { id: "e-1", seconds: 0 });
    await mirror.receive(signed(body, { headers: { "Content-Encoding": "gzip" } }));
    await mirror.quarantine.release(`sha256:${sha256(body)}`);
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "pending" });
  });

  it("joins two signed events of one subject without loss: the second can be released", async () => {
    const mirror = await openMirror({ store: openStore() });
    await mirror.receive(refund("p-1", 1, 0));
    expect(await mirror.receive(refund("p-2", 2, 10))).toMatchObject({ reason: "payload-changed" });
    const [kept] = (await mirror.deliveries.list({ outcome: "duplicate" })).items;
    await mirror.quarantine.release(kept?.id ?? "none");
    const refunds = await mirror.refunds.list({ contractId: "CNT-1" });
    expect(refunds.items.map(({ refundId }) => refundId)).toEqual(["1", "2"]);
  });
});

describe.each(storeKinds)("a signed timestamp, on %s,", (_, openStore) => {
  const scheme = { content: "timestamp.body" } as const;
  const openTimed = () =>
    openMirror({ store: openStore(), clock: testClock(), webhook: { signature: scheme } });

  it("that was out of tolerance is forgotten when the same body comes within it", async () => {
    const mirror = await openTimed();
    const body = eventBody("contract.created", { id: "e-1", seconds: 0 });
    const late = await mirror.receive(signed(body, { scheme, timestamp: noonMs - 48 * hourMs }));
    expect(late).toMatchObject({ outcome: "quarantined", reason: "outside-tolerance" });
    expect(await mirror.receive(signed(body, { scheme }))).toMatchObject({ outcome: "applied" });
  });

  it("that was out of tolerance: a rebuild names it by the webhook id under which it was applied", async () => {
    const mirror = await openTimed();
    const body = eventBody("contract.created", { id: "e-1", seconds: 0 });
    await mirror.receive(signed(body, { scheme, webhookId: "first", timestamp: noonMs - 48 * hourMs }));
    await mirror.receive(signed(body, { scheme, webhookId: "second" }));
    const applied = await mirror.contracts.history("CNT-1");
    expect(applied).toMatchObject([{ webhookId: "second" }]);
    await mirror.rebuild();
    expect(await mirror.contracts.history("CNT-1")).toEqual(applied);
  });

  it("out of tolerance: a delivery that was released holds its webhook id", async () => {
    const mirror = await openMirror({
      store: openStore(),
      clock: testClock(),
      webhook: { signature: scheme },
    });
    const send = { scheme, webhookId: "W1" };
    const body = eventBody("contract.disputed", { seconds: 0 });
    await mirror.receive(signed(body, { ...send, timestamp: noonMs - 48 * hourMs }));
    await mirror.quarantine.release(`sha256:${sha256(body)}`);
    const changed = eventBody("contract.disputed", { seconds: 0, extra: 1 });
    expect(await mirror.receive(signed(changed, send))).toMatchObject({ outcome: "duplicate" });
    expect((await mirror.contracts.history("CNT-1")).length).toBe(1);
  });
});

describe("a delivery", () => {
  it("whose payload id is spelled like a row id of ours takes no other's place", async () => {
    const mirror = await openMirror();
    await mirror.receive(delivery("contract.approved", { id: "dup", contractId: "C9" }));
    const contradiction = eventBody("contract.created", { id: "dup", contractId: "C2" });
    const squatter = { id: `sha256:${sha256(contradiction)}`, contractId: "C1" };
    await mirror.receive(delivery("contract.created", squatter, { withoutId: true }));
    expect(await mirror.receive(signed(contradiction))).toMatchObject({ outcome: "quarantined" });
    expect((await mirror.quarantine.list()).items).toHaveLength(1);
    expect(await mirror.receive(signed(contradiction))).toMatchObject({ outcome: "duplicate" });
  });
});

describe("an explanation of a wrong signature", () => {
  it("is not looked for in a body whose printed form would outgrow it", () => {
    const depth = 2000;
    const body = Buffer.from(`${"[".repeat(depth)}1${",1".repeat(10_000)}${"]".repeat(depth)}`);
    const scheme = resolveScheme("default");
    const request = { body, headers: () => ["0".repeat(64)] };
    const before = process.memoryUsage().rss;
    expect(diagnoseMismatch(request, prepareSecrets(secret, scheme), { scheme }).cause).toBe("unexplained");
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });
});

describe("a log line", () => {
  it("stays one line, whatever a signed body says", () => {
    const lines: string[] = [];
    const take = (fields: object, message: string): void => void lines.push(JSON.stringify(fields), message);
    const logger = unfailing({ debug: take, info: take, warn: take, error: take });
    logger.warn({ event: "a\nb" }, "contract.created\r\nINJECTED\u2028\u0000");
    expect(lines.join("")).toBe(String.raw`{"event":"a\\nb"}contract.created\r\nINJECTED` + "\\u2028\\u0000");
  });

  it("names no field that is absent", () => {
    const seen: object[] = [];
    const take = (fields: object): void => void seen.push(fields);
    unfailing({ debug: take, info: take, warn: take, error: take }).warn(
      { event: undefined, reason: null },
      "",
    );
    expect(seen).toStrictEqual([{ reason: null }]);
  });
});
