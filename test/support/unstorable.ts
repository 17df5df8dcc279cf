/** The last resort (semantics §2): an authentic delivery that can't be stored, for a reason of its own. One suite for every store. */
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import { EscrowMirrorError } from "../../src/shared/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery, eventBody, sha256, signed } from "./delivery.ts";
import { failing } from "./failing-store.ts";
import { openMirror } from "./mirror.ts";

/** The contract of which each delivery fails. */
export const poison = "CNT-POISON";

const names = (values: unknown): boolean => JSON.stringify(values).includes(poison);

/** A call of each step that has the poisoned contract in its values. */
const steps = [
  ["dedupe", "insert", "deliveries"],
  ["transition", "lockContracts", undefined],
  ["persist of a contract", "upsert", "contracts"],
  ["persist of its history", "upsert", "transitions"],
  ["persist of an anomaly", "upsert", "anomalies"],
] as const;

const failingAt = (store: Store, call: string, table: string | undefined) =>
  failing(
    store,
    (made, values) => made === call && (table === undefined || values[0] === table) && names(values),
  );

const webhookIdOf = (contractId: string) => contractId.replace("CNT-", "wh-");
const bodyOf = (contractId: string) =>
  eventBody("contract.approved", { id: `e-${contractId}`, seconds: 0, contractId });
const sent = (contractId: string) => signed(bodyOf(contractId), { webhookId: webhookIdOf(contractId) });
const poisonId = `sha256:${sha256(bodyOf(poison))}`;

const verdictOf = async (mirror: Mirror, contractId: string) => {
  const { status, outcome, reason = "" } = await mirror.receive(sent(contractId));
  return `${status} ${outcome} ${reason}`.trim();
};

const together = (mirror: Mirror, ...contractIds: string[]) =>
  Promise.all(contractIds.map((contractId) => verdictOf(mirror, contractId)));

/** @param createPlace a place that outlives a mirror: its store is opened anew for each */
export function describeUnstorable(store: string, createPlace: () => () => Store): void {
  describe(`on ${store}`, () => {
    it.each(steps)(
      "a delivery that fails in %s fails alone, and is not refused for ever",
      async (__, call, table) => {
        const open = createPlace();
        const failingMirror = async () => {
          const broken = failingAt(open(), call, table);
          broken.fault = new TypeError("of its own");
          return openMirror({ store: broken.store });
        };
        const first = await failingMirror();
        expect(await together(first, "CNT-1", "CNT-2", poison, "CNT-3", "CNT-4")).toEqual([
          "200 applied",
          "200 applied",
          "503 failed unstorable",
          "200 applied",
          "200 applied",
        ]);
        const [kept] = (await first.quarantine.list()).items;
        expect(kept).toMatchObject({
          id: poisonId,
          webhookId: webhookIdOf(poison),
          outcome: "quarantined",
          reason: "unstorable",
          attempts: 1,
        });
        expect(Buffer.from((await kept?.body()) ?? "").toString()).toBe(bodyOf(poison));
        expect(await first.contracts.get(poison)).toBeUndefined();
        await first.close();

        const second = await failingMirror();
        expect(await together(second, "CNT-5", poison, "CNT-6")).toEqual([
          "200 applied",
          "200 quarantined unstorable",
          "200 applied",
        ]);
        expect(await verdictOf(second, poison)).toBe("200 duplicate");
        expect(await second.health()).toMatchObject({ ok: true, quarantined: 1 });
        await second.close();

        const mended = await openMirror({ store: open() });
        expect(await verdictOf(mended, poison)).toBe("200 applied");
        expect(await verdictOf(mended, poison)).toBe("200 duplicate");
        expect(await mended.contracts.get(poison)).toMatchObject({ status: "Approved" });
        expect((await mended.quarantine.list()).items).toEqual([]);
        expect(await mended.deliveries.get(webhookIdOf(poison))).toMatchObject({
          outcome: "applied",
          reason: null,
          attempts: 5,
        });
      },
    );

    it("of many copies at once one is failed, one quarantined, the rest are duplicates", async () => {
      const broken = failingAt(createPlace()(), "lockContracts", undefined);
      const mirror = await openMirror({ store: broken.store });
      broken.fault = new Error("of its own");
      const answers = await together(mirror, ...Array<string>(20).fill(poison));
      expect(answers).toEqual([
        "503 failed unstorable",
        "200 quarantined unstorable",
        ...Array<string>(18).fill("200 duplicate"),
      ]);
      expect((await mirror.quarantine.list()).items).toMatchObject([{ attempts: 20 }]);
      broken.fault = undefined;
      expect(await together(mirror, poison, poison, poison)).toEqual([
        "200 applied",
        "200 duplicate",
        "200 duplicate",
      ]);
    });

    it("a whole batch of them is set aside, each by itself", async () => {
      const broken = failing(createPlace()(), (call) => call === "lockContracts");
      const mirror = await openMirror({ store: broken.store });
      broken.fault = new Error("of each");
      const contractIds = Array.from({ length: 40 }, (__, index) => `CNT-${index}`);
      expect(new Set(await together(mirror, ...contractIds))).toEqual(new Set(["503 failed unstorable"]));
      broken.fault = undefined;
      expect(new Set(await together(mirror, ...contractIds))).toEqual(new Set(["200 applied"]));
      expect((await mirror.contracts.count()).total).toBe(40);
    });

    it("one is released by hand, once the fault is mended", async () => {
      const broken = failingAt(createPlace()(), "lockContracts", undefined);
      const mirror = await openMirror({ store: broken.store });
      broken.fault = new Error("of its own");
      await mirror.receive(sent(poison));
      await expect(mirror.quarantine.release(poisonId)).rejects.toThrow();
      expect((await mirror.quarantine.list()).items).toHaveLength(1);
      broken.fault = undefined;
      await mirror.quarantine.release(poisonId);
      expect(await mirror.contracts.get(poison)).toMatchObject({ status: "Approved" });
      expect(await verdictOf(mirror, poison)).toBe("200 duplicate");
    });

    it("one whose ids belong to another is set aside as that when it can be judged, never applied", async () => {
      const broken = failingAt(createPlace()(), "insert", "deliveries");
      const mirror = await openMirror({ store: broken.store });
      const other = delivery("contract.created", { id: "same", seconds: 0, contractId: "CNT-1" });
      const contradiction = delivery("contract.created", { id: "same", seconds: 0, contractId: poison });
      await mirror.receive(other);
      broken.fault = new Error("of its own");
      expect(await mirror.receive(contradiction)).toMatchObject({ status: 503, reason: "unstorable" });
      broken.fault = undefined;
      expect(await mirror.receive(contradiction)).toMatchObject({
        outcome: "quarantined",
        reason: "payload-id-conflict",
      });
      expect(await mirror.contracts.get(poison)).toBeUndefined();
      expect((await mirror.quarantine.list()).items).toMatchObject([
        { reason: "payload-id-conflict", attempts: 2 },
      ]);
    });

    it("one whose webhook id is what can't be stored is set aside without it, and applied under it later", async () => {
      const broken = failing(
        createPlace()(),
        (call, values) => call === "insert" && JSON.stringify(values).includes("wh-POISON"),
      );
      const mirror = await openMirror({ store: broken.store });
      broken.fault = new Error("of its own");
      expect(await together(mirror, "CNT-1", poison)).toEqual(["200 applied", "503 failed unstorable"]);
      expect((await mirror.quarantine.list()).items).toMatchObject([{ id: poisonId, webhookId: poisonId }]);
      expect(await verdictOf(mirror, poison)).toBe("200 quarantined unstorable");
      broken.fault = undefined;
      expect(await verdictOf(mirror, poison)).toBe("200 applied");
      expect(await mirror.deliveries.get("wh-POISON")).toMatchObject({ outcome: "applied" });
    });

    it("where its bytes can't be stored either it is 503, and applied once they can", async () => {
      const digest = sha256(bodyOf(poison));
      const broken = failing(
        createPlace()(),
        (call, values) => call === "insert" && JSON.stringify(values).includes(digest),
      );
      const mirror = await openMirror({ store: broken.store });
      broken.fault = new Error("of its own");
      for (let time = 0; time < 3; time++)
        expect(await together(mirror, "CNT-1", poison)).toEqual([
          time === 0 ? "200 applied" : "200 duplicate",
          "503 failed internal-error",
        ]);
      expect((await mirror.quarantine.list()).items).toEqual([]);
      broken.fault = undefined;
      expect(await verdictOf(mirror, poison)).toBe("200 applied");
    });

    it("a fault of the store that meets one delivery is never taken for its own: nothing of the batch is stored", async () => {
      const broken = failingAt(createPlace()(), "upsert", "contracts");
      const mirror = await openMirror({ store: broken.store });
      broken.fault = new EscrowMirrorError("store-unavailable", "the disk is full");
      expect(new Set(await together(mirror, "CNT-1", poison, "CNT-2"))).toEqual(
        new Set(["503 failed store-unavailable"]),
      );
      expect((await mirror.deliveries.list()).items).toEqual([]);
      broken.fault = undefined;
      expect(new Set(await together(mirror, "CNT-1", poison, "CNT-2"))).toEqual(new Set(["200 applied"]));
    });

    it("a store that fails while the bytes are stored is 503 of the store's, with the neighbours stored", async () => {
      let lost = false;
      const inner = failing(createPlace()(), (call) => call === "lockContracts" && !lost);
      const broken = failing(inner.store, () => lost);
      const mirror = await openMirror({ store: broken.store });
      inner.fault = new Error("of its own");
      broken.fault = new EscrowMirrorError("store-unavailable", "the connection broke");
      const answering = mirror.receive(sent(poison));
      lost = true;
      expect(await answering).toMatchObject({ status: 503, reason: "store-unavailable" });
      lost = false;
      inner.fault = undefined;
      expect(await verdictOf(mirror, poison)).toBe("200 applied");
    });
  });
}

/** A database to which SQL can be said beside the mirror. */
export interface Sabotaged {
  readonly store: Store;
  readonly say: (sql: string) => Promise<unknown>;
  /** What stands before a table's name, and what before it in `rename to`. */
  readonly before: string;
  readonly prefix: string;
  /** A trigger `poison` that refuses each row of the poisoned contract in this table, and its end. */
  readonly refusing: (table: string) => readonly [create: string, drop: string];
}

/** What the database itself refuses. */
export function describeRefusals(store: string, sabotage: () => Sabotaged): void {
  it.each(["deliveries", "contracts", "transitions"])(
    `a row of %s that ${store} refuses is that delivery's own fault`,
    async (table) => {
      const { store: place, say, refusing } = sabotage();
      const mirror = await openMirror({ store: place });
      const [create, drop] = refusing(table);
      await say(create);
      const seen = [
        await together(mirror, "CNT-1", poison, "CNT-2"),
        await together(mirror, "CNT-3", poison),
        await together(mirror, poison, "CNT-4"),
      ];
      await say(drop);
      seen.push(await together(mirror, poison));
      expect(seen).toEqual([
        ["200 applied", "503 failed unstorable", "200 applied"],
        ["200 applied", "200 quarantined unstorable"],
        ["200 duplicate", "200 applied"],
        ["200 applied"],
      ]);
      expect(await mirror.contracts.get(poison)).toMatchObject({ status: "Approved" });
      expect(await mirror.contracts.history(poison)).toHaveLength(1);
    },
  );

  it(`a contract in ${store} whose row can't be read is the fault of its own deliveries`, async () => {
    const { store: place, say, before } = sabotage();
    const mirror = await openMirror({ store: place });
    await mirror.receive(sent(poison));
    await say(`update ${before}contracts set buyer = 'no JSON'`);
    const paid = { id: "paid", seconds: 9, contractId: poison, paymentId: "P" };
    const pay = () => mirror.receive(delivery("payment.completed", paid));
    const neighbours = ["CNT-1", "CNT-2"].map((contractId) => verdictOf(mirror, contractId));
    expect(await pay()).toMatchObject({ status: 503, reason: "unstorable" });
    expect(await Promise.all(neighbours)).toEqual(["200 applied", "200 applied"]);
    expect(await pay()).toMatchObject({ outcome: "quarantined", reason: "unstorable" });
    await say(`update ${before}contracts set buyer = null`);
    expect(await pay()).toMatchObject({ outcome: "applied" });
  });
}

/** What the database lacks. */
export function describeLacks(store: string, sabotage: () => Sabotaged): void {
  it.each(["deliveries", "contracts", "transitions", "a column"])(
    `what ${store} lacks is no delivery's fault: %s`,
    async (what) => {
      const { store: place, say, before, prefix } = sabotage();
      const mirror = await openMirror({ store: place });
      const rename = (from: string, to: string) =>
        what === "a column"
          ? `alter table ${before}contracts rename column ${from} to ${to}`
          : `alter table ${before}${from} rename to ${prefix}${to}`;
      const there = what === "a column" ? "title" : what;
      await say(rename(there, "gone"));
      const without = await together(mirror, "CNT-1", "CNT-2");
      await say(rename("gone", there));
      expect(without).toEqual(Array(2).fill("503 failed store-unavailable"));
      expect((await mirror.quarantine.list()).items).toEqual([]);
      expect(await together(mirror, "CNT-1", "CNT-2")).toEqual(["200 applied", "200 applied"]);
    },
  );
}
