/** How done jobs go, on every store. */
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery, secret } from "../support/delivery.ts";
import { openMirror, testClock } from "../support/mirror.ts";

const weekMs = 7 * 86_400_000;

const jobsOf = async (mirror: Mirror): Promise<string[]> =>
  (await mirror.jobs.list()).items.map(({ handler, state }) => `${handler} ${state}`).sort();

export function describeDoneJobs(name: string, create: () => Store): void {
  describe(`done jobs on ${name}`, () => {
    it("go after a week; those that are dead or open stay", async () => {
      const clock = testClock();
      const mirror = await openMirror({ store: create(), clock, jobs: { run: false, maxAttempts: 1 } });
      mirror.on("contract.created", () => undefined, { name: "ends" });
      mirror.on("contract.created", () => Promise.reject(new Error("always")), { name: "dies" });
      const off = mirror.on("contract.created", () => undefined, { name: "elsewhere" });
      await mirror.idle();
      off();
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.jobs.runOnce();
      clock.advance(weekMs);
      await mirror.jobs.runOnce();
      expect(await jobsOf(mirror)).toEqual(["dies dead", "elsewhere due", "ends done"]);
      clock.advance(1);
      await mirror.jobs.runOnce();
      expect(await jobsOf(mirror)).toEqual(["dies dead", "elsewhere due"]);
    });

    it("go by when they ended, not by when they came", async () => {
      const clock = testClock();
      const mirror = await openMirror({ store: create(), clock, jobs: { run: false } });
      mirror.on("contract.created", () => undefined, { name: "late" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      clock.advance(weekMs);
      await mirror.jobs.runOnce();
      clock.advance(weekMs);
      await mirror.jobs.runOnce();
      expect(await jobsOf(mirror)).toEqual(["late done"]);
    });

    it("take the old counts of failures along, more than one page of them, and leave the others", async () => {
      const clock = testClock();
      const store = create();
      const mirror = await openMirror({ store, clock, jobs: { run: false } });
      const changedAt = new Date(clock.now()).toISOString();
      const counts = Array.from({ length: 450 }, (_, n) => ({
        digest: n.toString(16).padStart(64, "0"),
        handler: "inside",
        contractId: null,
        failures: 1,
        faults: 0,
        lastError: "",
        changedAt,
      }));
      await store.transaction((tx) => tx.upsert("failures", counts));
      clock.advance(weekMs + 1);
      const young = { ...counts[0]!, handler: "younger", changedAt: new Date(clock.now()).toISOString() };
      await store.transaction((tx) => tx.upsert("failures", [young]));
      await mirror.jobs.runOnce();
      expect(await store.read((reader) => reader.find("failures"))).toEqual([young]);
    });

    it("of anomalies stay: each is told once ever, though it comes and goes with what is folded", async () => {
      const clock = testClock();
      const mirror = await openMirror({ store: create(), clock, jobs: { run: false } });
      const kinds: string[] = [];
      mirror.on("anomaly", ({ kind }) => void kinds.push(kind), { name: "alarm" });
      await mirror.idle();
      await mirror.receive(delivery("odd.event", { id: "o", seconds: 1 }));
      await mirror.jobs.runOnce();
      clock.advance(weekMs * 2);
      await mirror.jobs.runOnce();
      await mirror.receive(delivery("odd.event", { id: "p", seconds: 2 }));
      await mirror.jobs.runOnce();
      expect(kinds).toEqual(["unknown-event"]);
    });

    it("go page after page, some seconds after a process that runs jobs has started", async () => {
      const clock = testClock();
      const store = create();
      const before = await createMirror({
        store,
        clock,
        logger: silentLogger,
        webhook: { secrets: secret },
        jobs: { run: false },
      });
      before.on("contract.created", () => undefined, { name: "ends" });
      await before.idle();
      const requests = Array.from({ length: 450 }, (_, index) =>
        delivery("contract.created", { id: `c${index}`, seconds: 0, contractId: `CNT-${index}` }),
      );
      await Promise.all(requests.map((request) => before.receive(request)));
      await before.jobs.runOnce();
      clock.advance(weekMs + 1);
      const after = await openMirror({ store, clock });
      const left = async () => (await after.jobs.list()).items;
      await expect.poll(left, { timeout: 60_000, interval: 250 }).toEqual([]);
      await before.close();
    });
  });
}
