import { describe, expect, it } from "vitest";
import { at, delivery, signed } from "../../support/delivery.ts";
import { openMirror, storeKinds, testClock } from "../../support/mirror.ts";
import { create } from "./given.ts";

describe.each(storeKinds)("on %s", (_, openStore) => {
  const open = () => openMirror({ store: openStore() });

  describe("deliveries", () => {
    it("are not asked for by what is no text", async () => {
      const mirror = await open();
      for (const id of [undefined, null, 5])
        await expect(mirror.deliveries.get(id as never)).rejects.toMatchObject({ code: "invalid-argument" });
    });

    it("that were all set aside under one webhook id are found as the first of them", async () => {
      const mirror = await open();
      for (const body of ["not json", "nor this"]) await mirror.receive(signed(body, { webhookId: "wh-1" }));
      const [last, first] = (await mirror.quarantine.list()).items;
      expect(first?.id).not.toBe(last?.id);
      expect((await mirror.deliveries.get("wh-1"))?.id).toBe(first?.id);
    });

    it("are found by webhook id, or by the row id of one that is set aside", async () => {
      const mirror = await open();
      await mirror.receive(delivery("contract.created", { id: "e-1", seconds: 0 }, { webhookId: "wh-1" }));
      await mirror.receive(delivery("contract.approved", { id: "e-2", seconds: 1 }, { webhookId: "wh-1" }));
      const [aside] = (await mirror.quarantine.list()).items;
      expect(await mirror.deliveries.get("wh-1")).toMatchObject({
        event: "contract.created",
        payloadId: "e-1",
        contractId: "CNT-1",
        secretId: "default",
        occurredAt: at(0),
      });
      expect(await mirror.deliveries.get(aside?.id ?? "")).toMatchObject({
        event: "contract.approved",
        outcome: "quarantined",
      });
      await mirror.receive(signed("not json", { webhookId: "wh-9" }));
      expect(await mirror.deliveries.get("wh-9")).toMatchObject({
        outcome: "quarantined",
        reason: "not-json",
      });
      expect(await mirror.deliveries.get("wh-404")).toBeUndefined();
    });

    it.each([
      [{ contractId: "A" }, 2],
      [{ event: "contract.created" }, 2],
      [{ event: "contract.approved", contractId: "B" }, 0],
      [{ outcome: "quarantined" }, 1],
      [{ outcome: "applied" }, 3],
      [{ since: at(60) }, 2],
    ] as const)("are filtered by %j", async (filter, count) => {
      const clock = testClock();
      const mirror = await openMirror({ store: openStore(), clock });
      await create(mirror, "A");
      await create(mirror, "B");
      clock.advance(60_000);
      await mirror.receive(delivery("contract.approved", { id: "a", seconds: 1, contractId: "A" }));
      await mirror.receive(signed("not json"));
      expect((await mirror.deliveries.list(filter)).items).toHaveLength(count);
    });
  });

  it("quarantine lists ids, reasons, headers and bytes, newest first", async () => {
    const mirror = await open();
    await mirror.receive(signed("first"));
    await mirror.receive(
      signed("second", { headers: { "User-Agent": "t", Cookie: "c", Authorization: "a" } }),
    );
    const { items } = await mirror.quarantine.list();
    expect(
      await Promise.all(items.map(async (each) => Buffer.from((await each.body()) ?? "").toString())),
    ).toEqual(["second", "first"]);
    expect(items[0]?.headers).toMatchObject({ "user-agent": "t" });
    expect(Object.keys(items[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(["x-service-signature"]));
    expect(JSON.stringify(items[0]?.headers)).not.toMatch(/cookie|authorization/i);
  });

  it("anomalies are filtered by contract and kind", async () => {
    const mirror = await open();
    await mirror.receive(
      delivery("contract.teleported", { id: "1", seconds: 0, contractId: "A", amount: "1.234" }),
    );
    await mirror.receive(delivery("contract.teleported", { id: "2", seconds: 0, contractId: "B" }));
    const kinds = async (filter: object) =>
      (await mirror.anomalies.list(filter)).items
        .map(({ contractId, kind }) => `${contractId} ${kind}`)
        .sort();
    expect(await kinds({ contractId: "A" })).toEqual(["A amount-precision", "A unknown-event"]);
    expect(await kinds({ kind: "unknown-event" })).toEqual(["A unknown-event", "B unknown-event"]);
    expect(await kinds({ kind: "gap" })).toEqual([]);
    expect((await mirror.anomalies.list({ contractId: "B" })).items).toEqual([
      {
        kind: "unknown-event",
        contractId: "B",
        milestoneId: null,
        webhookId: expect.any(String) as string,
        detail: "contract.teleported",
        at: at(0),
      },
    ]);
  });
});
