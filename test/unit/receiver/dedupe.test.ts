import { describe, expect, it } from "vitest";
import type { Mirror } from "../../../src/mirror/create-mirror.ts";
import { at, delivery, eventBody, sha256, signed, type EventShape } from "../../support/delivery.ts";
import { openMirror, storeKinds, testClock } from "../../support/mirror.ts";

const send = (mirror: Mirror, type: string, shape: EventShape, webhookId?: string) =>
  mirror.receive(
    delivery(type, { seconds: 0, ...shape }, webhookId === undefined ? { withoutId: true } : { webhookId }),
  );
const rowsOf = async (mirror: Mirror) => (await mirror.deliveries.list({ limit: 500 })).items;
const anomaliesOf = async (mirror: Mirror) => (await mirror.anomalies.list()).items;

describe.each(storeKinds)("on %s", (_, openStore) => {
  const open = () => openMirror({ store: openStore() });

  describe("the webhook id", () => {
    it("is the header's", async () => {
      expect((await send(await open(), "contract.created", { id: "e-1" }, "wh-1")).webhookId).toBe("wh-1");
    });

    it("is the payload's where there is no header", async () => {
      expect((await send(await open(), "contract.created", { id: "e-1" })).webhookId).toBe("e-1");
    });

    it("is the digest where there is neither", async () => {
      const body = eventBody("contract.created", { seconds: 0 });
      expect((await send(await open(), "contract.created", {})).webhookId).toBe(`sha256:${sha256(body)}`);
    });

    it.each([
      ["repeated", ["wh-1", "wh-2"]],
      ["over 255 characters", "x".repeat(256)],
      ["blank", " "],
      ["with a control character", "wh\n1"],
      ["with a delete character", "wh\u007f"],
      ["in the form of our own row ids", `sha256:${"0".repeat(64)}`],
    ])("is not the header's where that is %s", async (__, value) => {
      const mirror = await open();
      const { headers, ...sent } = delivery("contract.created", { id: "e-1", seconds: 0 });
      const answer = await mirror.receive({
        ...sent,
        headers: { ...(headers as object), "X-Service-Webhook-Id": value },
      });
      expect(answer).toMatchObject({ status: 200, webhookId: "e-1" });
    });

    it("may have 255 characters, be in any script, and differs by case", async () => {
      const mirror = await open();
      for (const id of ["x".repeat(255), "دفعة-🎉", "wh-a", "wh-A"])
        expect(await send(mirror, "contract.created", { note: id }, id)).toMatchObject({
          outcome: "applied",
          webhookId: id,
        });
      expect(await rowsOf(mirror)).toHaveLength(4);
    });
  });

  describe("a duplicate", () => {
    it("is a known digest, under whatever header, and no change of content", async () => {
      const mirror = await open();
      await send(mirror, "contract.created", { id: "e-1" }, "wh-1");
      const replayed = await send(mirror, "contract.created", { id: "e-1" }, "wh-2");
      expect([replayed.outcome, replayed.reason]).toEqual(["duplicate", undefined]);
      expect(await send(mirror, "contract.created", { id: "e-1" })).toMatchObject({ outcome: "duplicate" });
      expect(await rowsOf(mirror)).toMatchObject([{ id: "wh-1", attempts: 3 }]);
      expect(await anomaliesOf(mirror)).toEqual([]);
    });

    it("is a known digest even where the payload has no id of its own", async () => {
      const mirror = await open();
      await send(mirror, "contract.created", {}, "wh-1");
      expect(await send(mirror, "contract.created", {}, "wh-2")).toMatchObject({ outcome: "duplicate" });
      expect(await rowsOf(mirror)).toMatchObject([{ id: "wh-1", attempts: 2 }]);
    });

    it("without any id is a known digest", async () => {
      const mirror = await open();
      await send(mirror, "contract.created", {});
      expect(await send(mirror, "contract.created", {})).toMatchObject({ outcome: "duplicate" });
    });

    it.each([
      ["webhook id", { id: "e-1" }, "wh-1", { id: "e-2" }, "wh-1"],
      ["payload id", { id: "e-1" }, "wh-1", { id: "e-1" }, "wh-2"],
    ])(
      "is a known %s with the same subject: the first content stands, the second is kept beside it",
      async (__, first, firstId, second, secondId) => {
        const mirror = await open();
        await send(mirror, "contract.created", { ...first, reference: "first" }, firstId);
        const answer = await send(mirror, "contract.created", { ...second, reference: "second" }, secondId);
        expect(answer).toMatchObject({ status: 200, outcome: "duplicate", reason: "payload-changed" });
        expect(await mirror.contracts.get("CNT-1")).toMatchObject({ reference: "first" });
        expect(await mirror.deliveries.get(firstId)).toMatchObject({ outcome: "applied", attempts: 2 });
        const beside = eventBody("contract.created", { seconds: 0, ...second, reference: "second" });
        const kept = await mirror.deliveries.get(`sha256:${sha256(beside)}`);
        expect(kept).toMatchObject({ outcome: "duplicate", reason: "payload-changed", payloadId: null });
        expect(Buffer.from((await kept?.body()) ?? "").toString()).toBe(beside);
        expect(await anomaliesOf(mirror)).toMatchObject([
          { kind: "payload-changed", contractId: "CNT-1", webhookId: secondId },
        ]);
      },
    );

    it("with changed content that comes again is counted, not flagged again", async () => {
      const mirror = await open();
      await send(mirror, "contract.created", { id: "e-1" }, "wh-1");
      for (let time = 0; time < 3; time++)
        await send(mirror, "contract.created", { id: "e-1", reference: "changed" }, "wh-1");
      expect(await anomaliesOf(mirror)).toHaveLength(1);
      expect(await rowsOf(mirror)).toHaveLength(2);
    });

    it("never claims the ids that it came with", async () => {
      const mirror = await open();
      await send(mirror, "contract.created", { id: "e-1" }, "wh-1");
      // The same content under a fresh header id, and other content under a fresh payload id.
      await send(mirror, "contract.created", { id: "e-1" }, "wh-2");
      await send(mirror, "contract.created", { id: "e-3" }, "wh-1");
      expect(await send(mirror, "contract.approved", { id: "e-9", seconds: 1 }, "wh-2")).toMatchObject({
        outcome: "applied",
      });
      expect(await send(mirror, "contract.disputed", { id: "e-3", seconds: 2 }, "wh-9")).toMatchObject({
        outcome: "applied",
      });
    });

    it("is not another event of the same contract and type with ids of its own", async () => {
      const mirror = await open();
      await send(mirror, "contract.disputed", { id: "e-1" }, "wh-1");
      expect(await send(mirror, "contract.disputed", { id: "e-2", seconds: 9 }, "wh-2")).toMatchObject({
        outcome: "applied",
      });
    });
  });

  describe("a conflict", () => {
    it.each([
      ["type", "contract.approved", {}],
      ["contract", "contract.created", { contractId: "CNT-2" }],
      ["milestone", "contract.created", { milestoneId: 5 }],
    ])(
      "is a known id with another %s: quarantined under a row id of its own, with an anomaly",
      async (__, type, other) => {
        const mirror = await open();
        await send(mirror, "contract.created", { id: "e-1" }, "wh-1");
        const body = eventBody(type, { seconds: 0, id: "e-2", ...other });
        const answer = await mirror.receive(signed(body, { webhookId: "wh-1" }));
        expect(answer).toMatchObject({ status: 200, outcome: "quarantined", reason: "webhook-id-conflict" });
        const { items } = await mirror.quarantine.list();
        expect(items).toMatchObject([
          { id: `sha256:${sha256(body)}`, webhookId: "wh-1", reason: "webhook-id-conflict" },
        ]);
        expect(await anomaliesOf(mirror)).toMatchObject([
          { kind: "webhook-id-conflict", contractId: items[0]?.contractId },
        ]);
        expect(await mirror.deliveries.get("wh-1")).toMatchObject({
          outcome: "applied",
          event: "contract.created",
        });
        expect(await mirror.contracts.history("CNT-2")).toEqual([]);
      },
    );

    it("of the payload id is one too", async () => {
      const mirror = await open();
      await send(mirror, "contract.created", { id: "e-1" }, "wh-1");
      expect(await send(mirror, "contract.approved", { id: "e-1" }, "wh-2")).toMatchObject({
        outcome: "quarantined",
        reason: "payload-id-conflict",
      });
    });

    it("claims neither id", async () => {
      const mirror = await open();
      await send(mirror, "contract.created", { id: "e-1" }, "wh-1");
      await send(mirror, "contract.approved", { id: "e-2", seconds: 1 }, "wh-1");
      expect(
        await send(mirror, "contract.approved", { id: "e-2", seconds: 1, again: true }, "wh-2"),
      ).toMatchObject({ outcome: "applied" });
    });

    it("of an unreadable body is none: it is quarantined as unreadable and takes no other's place", async () => {
      const mirror = await open();
      expect(await mirror.receive(signed("not json", { webhookId: "wh-1" }))).toMatchObject({
        reason: "not-json",
      });
      expect(await send(mirror, "contract.created", { id: "e-1" }, "wh-1")).toMatchObject({
        outcome: "applied",
      });
      expect(await mirror.receive(signed("nor this", { webhookId: "wh-1" }))).toMatchObject({
        reason: "not-json",
      });
    });
  });

  it("a copy that arrived before the one committed first makes it as old as it is, and leaves its bytes", async () => {
    const clock = testClock();
    const mirror = await openMirror({ store: openStore(), clock });
    for (const body of [eventBody("contract.created", { id: "e-1" }), "not json"]) {
      const copy = signed(body);
      const { webhookId = "" } = await mirror.receive(copy);
      clock.advance(-60_000);
      await mirror.receive(copy);
      clock.advance(60_000);
      const stored = await mirror.deliveries.get(webhookId);
      expect(stored).toMatchObject({ attempts: 2, receivedAt: at(-60), lastReceivedAt: at(0) });
      expect(Buffer.from((await stored?.body()) ?? "").toString()).toBe(body);
    }
    expect(Object.keys((await mirror.quarantine.list()).items[0]?.headers ?? {})).not.toEqual([]);
  });

  it("of 20 concurrent copies one is applied and the rest are duplicates", async () => {
    const mirror = await open();
    const copy = () => send(mirror, "contract.created", { id: "e-1" }, "wh-1");
    const answers = await Promise.all(Array.from({ length: 20 }, copy));
    expect(answers.filter(({ outcome }) => outcome === "applied")).toHaveLength(1);
    expect(answers.filter(({ outcome }) => outcome === "duplicate")).toHaveLength(19);
    expect(await rowsOf(mirror)).toMatchObject([{ attempts: 20 }]);
    expect(await mirror.contracts.history("CNT-1")).toHaveLength(1);
  });

  it("of concurrent contradictions of one id the first is applied, whatever the batch", async () => {
    const mirror = await open();
    const answers = await Promise.all([
      send(mirror, "contract.created", { id: "e-1" }, "wh-1"),
      send(mirror, "contract.approved", { id: "e-1", seconds: 1 }, "wh-2"),
      send(mirror, "contract.created", { id: "e-1", reference: "changed" }, "wh-3"),
    ]);
    expect(answers.map(({ outcome }) => outcome)).toEqual(["applied", "quarantined", "duplicate"]);
  });
});
