/** Jobs whose claim went wrong, that can't be read, or whose process was away for a time, on every store. */
import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { delivery } from "../support/delivery.ts";
import { down } from "../support/failing-store.ts";
import { openMirror, testClock, withTransactions } from "../support/mirror.ts";

export function describeMishaps(name: string, create: () => Store): void {
  describe(`jobs on ${name}`, () => {
    it("come back to a process in whose name they were claimed long after it heard that the claim had failed", async () => {
      const inner = create();
      let isBroken = false;
      const store = withTransactions(inner, async (work) => {
        if (!isBroken) return inner.transaction(work);
        isBroken = false;
        throw down;
      });
      const mirror = await openMirror({ store, jobs: { run: false } });
      const seen: string[] = [];
      mirror.on("*", ({ contractId }) => void seen.push(contractId), { name: "see" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.idle();
      isBroken = true;
      await mirror.jobs.runOnce();
      await mirror.receive(delivery("contract.created", { id: "c2", seconds: 0, contractId: "CNT-2" }));
      await inner.transaction(async (tx) => {
        const [worker] = await tx.find("workers");
        const claim = { workerId: worker?.workerId ?? "", handlers: ["see"], limit: 1, lost: false };
        expect(await tx.jobs.claim(claim)).toHaveLength(1);
      });
      expect(await mirror.jobs.runOnce()).toEqual({ runs: 1 });
      expect([seen, isBroken]).toEqual([["CNT-1", "CNT-2"], false]);
    });

    it("fail alone where their delivery is gone: the others run, and they are tried again until they are dead", async () => {
      const [store, clock] = [create(), testClock()];
      const mirror = await openMirror({
        store,
        clock,
        jobs: { run: false, maxAttempts: 2, backoffMs: 1000 },
      });
      const seen: string[] = [];
      mirror.on("*", ({ contractId }) => void seen.push(contractId), { name: "see" });
      for (const contractId of ["CNT-1", "CNT-2"])
        await mirror.receive(delivery("contract.created", { id: contractId, seconds: 0, contractId }));
      const where = [{ field: "contractId", op: "=", value: "CNT-1" }] as const;
      await store.transaction((tx) => tx.remove("deliveries", where));
      expect(await mirror.jobs.runOnce()).toEqual({ runs: 2 });
      const gone = {
        attempts: 1,
        lastError: expect.stringMatching(/^Error: the delivery of job \d+ is gone$/) as string,
      };
      expect([seen, (await mirror.jobs.list({ state: "due" })).items]).toMatchObject([["CNT-2"], [gone]]);
      clock.advance(1000);
      expect(await mirror.jobs.runOnce()).toEqual({ runs: 1 });
      expect((await mirror.jobs.list({ state: "dead" })).items).toMatchObject([{ ...gone, attempts: 2 }]);
    });

    it("run once, though the machine slept past the lease of their process: that shows itself before it claims", async () => {
      const [store, clock] = [create(), testClock()];
      const mirror = await openMirror({ store, clock, jobs: { run: false, leaseMs: 3_600_000 } });
      const reclaim = () => store.transaction(({ jobs }) => jobs.reclaim({ attemptsMax: 15 }));
      const seen: string[] = [];
      const see = async ({ contractId }: { readonly contractId: string }): Promise<void> => {
        if (seen.push(contractId) === 2) await reclaim();
      };
      mirror.on("*", see, { name: "see" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.jobs.runOnce();
      // The other clock, which counts no sleep, has hardly moved.
      clock.advance(7_200_000);
      await reclaim();
      await mirror.receive(delivery("contract.created", { id: "c2", seconds: 0, contractId: "CNT-2" }));
      await mirror.jobs.runOnce();
      expect(seen).toEqual(["CNT-1", "CNT-2"]);
    });
  });
}
