/** What health says of handlers and their jobs, on every store. */
import { describe, expect, it } from "vitest";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, testClock } from "../support/mirror.ts";

const created = delivery("contract.created", { id: "c", seconds: 0 });
const approved = delivery("contract.approved", { id: "a", seconds: 1 });

export function describeHandlersHealth(name: string, create: () => Store): void {
  const open = (options: Partial<MirrorOptions> = {}) => openMirror({ store: create(), ...options });

  describe(`health of handlers on ${name}`, () => {
    it("counts jobs that are due, waiting, running and dead, and none that are done", async () => {
      const mirror = await open({ jobs: { maxAttempts: 1 } });
      expect((await mirror.health()).jobs).toEqual({ due: 0, waiting: 0, running: 0, dead: 0 });
      mirror.on("contract.created", () => Promise.reject(new Error("always")), { name: "dies" });
      mirror.on("contract.created", () => undefined, { name: "ends" });
      mirror.on("*", () => new Promise<void>(() => {}), { name: "runs" });
      const off = mirror.on("*", () => undefined, { name: "elsewhere" });
      await mirror.idle();
      off();
      await mirror.receive(created);
      await mirror.receive(approved);
      await expect
        .poll(async () => (await mirror.health()).jobs)
        .toEqual({ due: 1, waiting: 2, running: 1, dead: 1 });
      await mirror.close({ deadlineMs: 0 });
    });

    it("warns of dead jobs until each has gone through, or its handler is removed", async () => {
      const mirror = await open({ jobs: { maxAttempts: 1 } });
      let isBroken = true;
      const fail = () => {
        if (isBroken) throw new Error("always");
      };
      mirror.on("contract.created", fail, { name: "one" });
      mirror.on("contract.created", fail, { name: "two" });
      await mirror.receive(created);
      await mirror.idle();
      expect((await mirror.health()).warnings).toEqual([expect.stringMatching(/^2 jobs are dead/)]);
      isBroken = false;
      const { items } = await mirror.jobs.list({ handler: "one" });
      await mirror.jobs.retry(items[0]?.id ?? "");
      await mirror.idle();
      expect((await mirror.health()).warnings).toEqual([expect.stringMatching(/^1 job is dead/)]);
      await mirror.handlers.remove("two");
      expect(await mirror.health()).toMatchObject({ jobs: { dead: 0 }, warnings: [] });
    });

    it("warns of a handler that is owed jobs for ten minutes and that no live process runs", async () => {
      const clock = testClock();
      const mirror = await open({ clock, jobs: { run: false } });
      mirror.on("contract.created", () => undefined, { name: "orphan" });
      mirror.on("contract.rejected", () => undefined, { name: "owed-nothing" });
      await mirror.idle();
      await mirror.receive(created);
      clock.advance(600_000);
      expect((await mirror.health()).warnings).toEqual([]);
      clock.advance(1);
      expect((await mirror.health()).warnings).toEqual([
        expect.stringMatching(/^The handler "orphan" has had due jobs since \S+Z, and no process runs it/),
      ]);
      await mirror.jobs.runOnce();
      await mirror.receive(delivery("contract.created", { id: "c2", seconds: 0, contractId: "CNT-2" }));
      expect((await mirror.health()).warnings).toEqual([]);
    });

    it("warns of a handler that another process removed, and that this one still has", async () => {
      const store = create();
      const [mirror, other] = [await open({ store }), await open({ store })];
      mirror.on("contract.created", () => undefined, { name: "mail" });
      await mirror.idle();
      expect((await mirror.health()).warnings).toEqual([]);
      await other.handlers.remove("mail");
      expect((await mirror.health()).warnings).toEqual([
        expect.stringMatching(/^The handler "mail" was removed/),
      ]);
    });

    it("does not warn of jobs that are behind while a process runs their handler", async () => {
      const clock = testClock();
      const store = create();
      const worker = await open({ store, clock, jobs: { concurrency: 1 } });
      let isOver = false;
      worker.on("*", () => new Promise<void>((resolve) => (isOver ? resolve() : undefined)), {
        name: "slow",
      });
      await worker.receive(created);
      await worker.receive(delivery("contract.created", { id: "c2", seconds: 0, contractId: "CNT-2" }));
      await expect.poll(async () => (await worker.health()).jobs.running).toBe(1);
      clock.advance(600_001);
      expect((await worker.health()).jobs.due).toBe(1);
      expect((await worker.health()).warnings).toEqual([]);
      isOver = true;
      await worker.close({ deadlineMs: 0 });
    });

    it("warns of a handler that was refused in this process", async () => {
      const mirror = await open();
      const off = mirror.on("contract.created", () => undefined, { name: "taken" });
      await mirror.idle();
      off();
      mirror.onTransition({ entity: "contract" }, () => undefined, { name: "taken" });
      await expect(mirror.idle()).rejects.toMatchObject({ code: "invalid-configuration" });
      expect((await mirror.health()).warnings).toEqual([
        expect.stringMatching(/^A handler was refused and does not run here: handler taken is registered/),
      ]);
    });
  });
}
