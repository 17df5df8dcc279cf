import { describe, expect, it } from "vitest";
import type { Mirror } from "../../../../src/mirror/create-mirror.ts";
import { nextTurn } from "../../../../src/shared/timers.ts";
import type { Store } from "../../../../src/store/store.ts";
import { delivery, eventBody, noonMs, sha256, signed } from "../../../support/delivery.ts";
import { openMirror, storeKinds } from "../../../support/mirror.ts";

const quarantinedId = async (mirror: Mirror) => (await mirror.quarantine.list()).items[0]?.id ?? "none";

describe.each(storeKinds)("a quarantined delivery on %s", (_, openStore) => {
  const openConflict = async () => {
    const mirror = await openMirror({ store: openStore() });
    await mirror.receive(delivery("contract.created", { id: "e-1", seconds: 0 }, { webhookId: "wh-1" }));
    await mirror.receive(
      delivery(
        "contract.approved",
        { id: "e-2", seconds: 10, previousStatus: "pending" },
        { webhookId: "wh-1" },
      ),
    );
    return mirror;
  };

  it("of contradicting ids is applied by release, and folded at its own time", async () => {
    const mirror = await openConflict();
    await mirror.receive(
      delivery("payment.completed", { id: "e-3", seconds: 20, previousStatus: "Approved", paymentId: "P" }),
    );
    const id = await quarantinedId(mirror);
    await mirror.quarantine.release(id);
    expect((await mirror.contracts.history("CNT-1")).map(({ to, anomaly }) => [to, anomaly])).toEqual([
      ["pending", null],
      ["Approved", null],
      ["Escrow", null],
    ]);
    expect((await mirror.quarantine.list()).items).toEqual([]);
    expect(await mirror.deliveries.get(id)).toMatchObject({ outcome: "applied", payloadId: "e-2" });
  });

  it("that was released is a duplicate when it comes again, under its payload id too", async () => {
    const mirror = await openConflict();
    await mirror.quarantine.release(await quarantinedId(mirror));
    const again = delivery(
      "contract.approved",
      { id: "e-2", seconds: 10, previousStatus: "pending" },
      { webhookId: "wh-7" },
    );
    expect((await mirror.receive(again)).outcome).toBe("duplicate");
    const changed = delivery(
      "contract.approved",
      { id: "e-2", seconds: 10, reference: "changed" },
      { webhookId: "wh-8" },
    );
    expect(await mirror.receive(changed)).toMatchObject({ outcome: "duplicate", reason: "payload-changed" });
  });

  it("that is released ends the wait of those who wait for its status", async () => {
    // Whoever waits looks at each commit of this process. Both of these would outlast the test.
    const store = Object.create(openStore(), { lookEveryMs: { value: 600_000 } }) as Store;
    const mirror = await openMirror({ store });
    await mirror.receive(delivery("contract.created", { id: "e-1", seconds: 0 }, { webhookId: "wh-1" }));
    await mirror.receive(delivery("contract.approved", { id: "e-2", seconds: 10 }, { webhookId: "wh-1" }));
    const waiting = mirror.contracts.waitFor("CNT-1", "Approved", { timeoutMs: 600_000 });
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    await mirror.quarantine.release(await quarantinedId(mirror));
    expect((await waiting).status).toBe("Approved");
  });

  it("is released once", async () => {
    const mirror = await openConflict();
    const id = await quarantinedId(mirror);
    await mirror.quarantine.release(id);
    await expect(mirror.quarantine.release(id)).rejects.toMatchObject({ code: "not-found" });
    expect(await mirror.contracts.history("CNT-1")).toHaveLength(2);
  });

  it("is not released when its event was applied meanwhile", async () => {
    const mirror = await openConflict();
    const id = await quarantinedId(mirror);
    await mirror.receive(
      delivery("contract.approved", { id: "e-2", seconds: 10, note: "the same fact" }, { webhookId: "wh-2" }),
    );
    await expect(mirror.quarantine.release(id)).rejects.toMatchObject({ code: "not-releasable" });
    expect(await mirror.deliveries.get(id)).toMatchObject({ outcome: "quarantined" });
  });

  it("outside the tolerance is applied by release", async () => {
    const scheme = { content: "timestamp.body" } as const;
    const mirror = await openMirror({ store: openStore(), webhook: { signature: scheme } });
    const body = eventBody("contract.created", { id: "e-1", seconds: 0 });
    await mirror.receive(signed(body, { scheme, timestamp: noonMs - 48 * 3_600_000 }));
    await mirror.quarantine.release(`sha256:${sha256(body)}`);
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "pending" });
  });

  it.each(["not json", '{"event":"contract.created","data":{}}'])(
    "that can't be read stays: %s",
    async (body) => {
      const mirror = await openMirror({ store: openStore() });
      await mirror.receive(signed(body));
      const releasing = mirror.quarantine.release(`sha256:${sha256(body)}`);
      await expect(releasing).rejects.toMatchObject({ code: "not-releasable" });
      expect((await mirror.quarantine.list()).items).toHaveLength(1);
    },
  );

  it.each([undefined, null, 7, 7n, {}, ["wh-1"]])("is not asked for by what is no text", async (id) => {
    const mirror = await openConflict();
    await expect(mirror.quarantine.release(id as never)).rejects.toMatchObject({ code: "invalid-argument" });
  });

  it("that is none can't be released", async () => {
    const mirror = await openConflict();
    for (const id of ["wh-1", "nothing", ""])
      await expect(mirror.quarantine.release(id)).rejects.toMatchObject({ code: "not-found" });
  });
});
