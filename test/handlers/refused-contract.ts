/** A handler whose name is known with another kind, and the others of its process, on every store. */
import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { delivery } from "../support/delivery.ts";
import { down, failing } from "../support/failing-store.ts";
import { openMirror, withTransactions } from "../support/mirror.ts";

const refusal = { code: "invalid-configuration" };

async function openRefused(store: Store) {
  const mirror = await openMirror({ store, jobs: { run: false } });
  const seen: string[] = [];
  const off = mirror.on("*", () => undefined, { name: "mail" });
  await mirror.idle();
  off();
  const offRefused = mirror.inTransaction("*", () => undefined, { name: "mail" });
  mirror.on("*", ({ contractId }) => void seen.push(contractId), { name: "good" });
  await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
  const refused = async () => (await mirror.health()).warnings.filter((each) => each.includes("was refused"));
  return { mirror, seen, offRefused, refused };
}

export function describeRefused(name: string, create: () => Store): void {
  describe(`a refused handler on ${name}`, () => {
    it("lets runOnce run the jobs of the others first, and then reject", async () => {
      const { mirror, seen } = await openRefused(create());
      await expect(mirror.jobs.runOnce()).rejects.toMatchObject(refusal);
      expect(seen).toEqual(["CNT-1"]);
    });

    it("lets idle wait for the jobs of the others first, and then reject", async () => {
      const store = create();
      const { mirror } = await openRefused(store);
      const worker = await openMirror({ store });
      let end: (() => void) | undefined;
      worker.on("*", () => new Promise<void>((resolve) => (end = resolve)), { name: "good" });
      await expect.poll(() => end).toBeDefined();
      const order: string[] = [];
      const waiting = mirror.idle().catch(({ code }: { readonly code: string }) => order.push(code));
      await mirror.handlers.list();
      order.push("end");
      end?.();
      await waiting;
      expect(order).toEqual(["end", refusal.code]);
    });

    it("is refused no more once it is taken off", async () => {
      const { mirror, seen, offRefused, refused } = await openRefused(create());
      expect(await refused()).toHaveLength(1);
      offRefused();
      expect(await mirror.jobs.runOnce()).toEqual({ runs: 1 });
      await mirror.idle();
      expect([seen, await refused()]).toEqual([["CNT-1"], []]);
    });

    it("leaves the refusal of another of its name when it is taken off", async () => {
      const { mirror, offRefused, refused } = await openRefused(create());
      const offOther = mirror.inTransaction("*", () => undefined, { name: "mail" });
      await expect(mirror.idle()).rejects.toMatchObject(refusal);
      offRefused();
      await expect(mirror.idle()).rejects.toMatchObject(refusal);
      expect(await refused()).toHaveLength(1);
      offOther();
      await mirror.idle();
      expect(await refused()).toEqual([]);
    });

    it("is not refused if it is taken off while its row is looked for", async () => {
      const store = create();
      const first = await openMirror({ store, jobs: { run: false } });
      first.on("*", () => undefined, { name: "mail" });
      await first.idle();
      let meanwhile: (() => void) | undefined;
      const slow = withTransactions(store, async (work) => {
        const result = await store.transaction(work);
        meanwhile?.();
        return result;
      });
      const mirror = await openMirror({ store: slow, jobs: { run: false } });
      const off = mirror.inTransaction("*", () => undefined, { name: "mail" });
      meanwhile = off;
      await mirror.idle();
    });

    it("runs no job of the known one before it is refused", async () => {
      const store = create();
      const other = await openMirror({ store, jobs: { run: false } });
      for (const known of ["mail", "good"]) other.on("*", () => undefined, { name: known });
      const writes = failing(store, (call, [table]) => call === "lookup" && table === "subscriptions");
      const mirror = await openMirror({ store: writes.store });
      const seen: string[] = [];
      mirror.on("*", () => void seen.push("good"), { name: "good" });
      await mirror.idle();
      writes.fault = down;
      mirror.onTransition({ entity: "contract" }, () => void seen.push("mail"), { name: "mail" });
      await other.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await expect.poll(() => seen).toContain("good");
      writes.fault = undefined;
      await expect(mirror.idle()).rejects.toMatchObject(refusal);
      expect(seen).toEqual(["good"]);
    });
  });
}
