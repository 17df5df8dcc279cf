/** What is quarantined can be dismissed: kept, and no longer counted. */
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../../../src/mirror/create-mirror.ts";
import { delivery, eventBody, noonMs, sha256, signed } from "../../../support/delivery.ts";
import { openMirror, storeKinds } from "../../../support/mirror.ts";

const scheme = { content: "timestamp.body" } as const;
const body = eventBody("contract.created", { id: "e-1", seconds: 0 });
const late = () => signed(body, { scheme, timestamp: noonMs - 48 * 3_600_000 });
const id = `sha256:${sha256(body)}`;

const ids = async (mirror: Mirror, dismissed?: boolean) =>
  (await mirror.quarantine.list({ dismissed })).items.map((item) => item.id);

describe.each(storeKinds)("a dismissed delivery on %s", (_, openStore) => {
  const openDismissed = async () => {
    const mirror = await openMirror({ store: openStore(), webhook: { signature: scheme } });
    expect((await mirror.receive(late())).outcome).toBe("quarantined");
    await mirror.quarantine.dismiss(id);
    return mirror;
  };

  it("is kept, not counted, and listed where that is asked for", async () => {
    const mirror = await openDismissed();
    expect(await mirror.health()).toMatchObject({ quarantined: 0, warnings: [] });
    expect([await ids(mirror), await ids(mirror, false), await ids(mirror, true)]).toEqual([[], [], [id]]);
    const [kept] = (await mirror.quarantine.list({ dismissed: true })).items;
    expect(kept).toMatchObject({ outcome: "dismissed", reason: "outside-tolerance" });
    expect(Buffer.from((await kept?.body()) ?? "").toString()).toBe(body);
    expect(await mirror.deliveries.get(id)).toMatchObject({ outcome: "dismissed" });
    expect((await mirror.deliveries.list({ outcome: "dismissed" })).items).toHaveLength(1);
  });

  it("is dismissed once more without any effect", async () => {
    const mirror = await openDismissed();
    await mirror.quarantine.dismiss(id);
    expect(await ids(mirror, true)).toEqual([id]);
  });

  it("is a duplicate when it comes again, though it could be applied now", async () => {
    const mirror = await openDismissed();
    expect(await mirror.receive(signed(body, { scheme }))).toMatchObject({
      status: 200,
      outcome: "duplicate",
    });
    expect(await mirror.contracts.get("CNT-1")).toBeUndefined();
    expect(await ids(mirror, true)).toEqual([id]);
  });

  it("can be released", async () => {
    const mirror = await openDismissed();
    await mirror.quarantine.release(id);
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "pending" });
    expect(await ids(mirror, true)).toEqual([]);
  });

  it("is only one that is quarantined", async () => {
    const mirror = await openMirror({ store: openStore() });
    await mirror.receive(delivery("contract.created", { id: "e-1", seconds: 0 }, { webhookId: "wh-1" }));
    for (const other of ["wh-1", "nothing", ""])
      await expect(mirror.quarantine.dismiss(other)).rejects.toMatchObject({ code: "not-found" });
    for (const other of [undefined, null, 7, {}, ["wh-1"]])
      await expect(mirror.quarantine.dismiss(other as never)).rejects.toMatchObject({
        code: "invalid-argument",
      });
    await expect(mirror.quarantine.list({ dismissed: "no" as never })).rejects.toMatchObject({
      code: "invalid-argument",
    });
  });
});
