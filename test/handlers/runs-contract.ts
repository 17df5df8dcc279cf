/** How jobs run, on every store: their order, retries and ends. */
import { describe, expect, it } from "vitest";
import { PermanentError, RetryAfterError } from "../../src/handlers/errors.ts";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, testClock, withTransactions } from "../support/mirror.ts";

export function describeRuns(name: string, create: () => Store): void {
  const open = (options: Partial<MirrorOptions> = {}) => openMirror({ store: create(), ...options });

  describe(`handlers on ${name}`, () => {
    it("are given each event once, after it is committed, with the contract as it stands", async () => {
      const mirror = await open({ jobs: { run: false } });
      const seen: unknown[] = [];
      mirror.on(
        "contract.created",
        (event, ctx) => {
          seen.push([event.known, event.event, event.amountMinor, ctx.contract?.status, ctx.attempt]);
          expect(event.raw).toMatchObject({ event: "contract.created", data: { contractId: "CNT-1" } });
        },
        { name: "see" },
      );
      const request = delivery("contract.created", { id: "c", seconds: 0, amount: "10.00" });
      await mirror.receive(request);
      await mirror.receive(request);
      await mirror.receive(delivery("contract.approved", { id: "a", seconds: 1 }));
      expect(seen).toEqual([]);
      expect(await mirror.jobs.runOnce()).toEqual({ runs: 1 });
      expect(seen).toEqual([[true, "contract.created", 1000, "Approved", 1]]);
    });

    it("run in order of arrival for each contract, and the line waits for one that is tried again", async () => {
      const clock = testClock();
      const mirror = await open({ clock, jobs: { backoffMs: 1000 } });
      const seen: string[] = [];
      mirror.on(
        "*",
        ({ event, contractId }, { attempt }) => {
          seen.push(`${contractId} ${event} ${attempt}`);
          if (event === "contract.created" && contractId === "CNT-1" && attempt === 1)
            throw new Error("not yet");
        },
        { name: "all" },
      );
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.receive(delivery("contract.approved", { id: "a", seconds: 1 }));
      await mirror.receive(delivery("contract.created", { id: "c2", seconds: 0, contractId: "CNT-2" }));
      await mirror.idle();
      expect(seen).toEqual(["CNT-1 contract.created 1", "CNT-2 contract.created 1"]);
      clock.advance(1000);
      await mirror.idle();
      expect(seen.slice(2)).toEqual(["CNT-1 contract.created 2", "CNT-1 contract.approved 1"]);
    });

    it("give up a job that always fails, tell of it, and go on with its line; it is listed and can be retried", async () => {
      const clock = testClock();
      const mirror = await open({ clock, jobs: { maxAttempts: 2, backoffMs: 10 } });
      const [seen, dead]: [string[], string[]] = [[], []];
      let isBroken = true;
      mirror.on(
        ["contract.created", "contract.approved"],
        ({ event }) => {
          if (event === "contract.created" && isBroken) throw new Error("always");
          seen.push(event);
        },
        { name: "fails" },
      );
      mirror.on("job-dead", (job) => void dead.push(`${job.handler} ${job.lastError}`), { name: "alarm" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.receive(delivery("contract.approved", { id: "a", seconds: 1 }));
      await mirror.idle();
      clock.advance(10);
      await mirror.idle();
      expect([seen, dead]).toEqual([["contract.approved"], ["fails Error: always"]]);
      const { items } = await mirror.jobs.list({ state: "dead" });
      expect(items).toMatchObject([{ handler: "fails", attempts: 2, lastError: "Error: always" }]);
      isBroken = false;
      await mirror.jobs.retry(items[0]?.id ?? "");
      await mirror.idle();
      expect(seen).toEqual(["contract.approved", "contract.created"]);
      expect((await mirror.jobs.list({ state: "dead" })).items).toEqual([]);
    });

    it("need not wait for their next attempt: a retried due job runs now, as the attempt that it is", async () => {
      const mirror = await open({ clock: testClock() });
      const seen: string[] = [];
      mirror.on(
        "*",
        ({ event }, { attempt }) => {
          seen.push(`${event} ${attempt}`);
          if (seen.length === 1) throw new Error("no route to host");
        },
        { name: "calls" },
      );
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.receive(delivery("contract.approved", { id: "a", seconds: 1 }));
      await mirror.idle();
      const { items } = await mirror.jobs.list({ state: "due" });
      expect(items).toMatchObject([{ attempts: 1, lastError: "Error: no route to host" }]);
      await mirror.jobs.retry(items[0]?.id ?? "");
      await mirror.idle();
      expect(seen).toEqual(["contract.created 1", "contract.created 2", "contract.approved 1"]);
      await expect(mirror.jobs.retry(items[0]?.id ?? "")).rejects.toMatchObject({ code: "not-found" });
    });

    it("choose by the error they throw whether and when they are called again", async () => {
      const clock = testClock();
      const mirror = await open({ clock });
      const attempts: string[] = [];
      const note = (which: string, attempt: number) => attempts.push(`${which} ${attempt}`);
      mirror.on(
        "contract.created",
        (_, { attempt }) => {
          note("never", attempt);
          throw new PermanentError("no use");
        },
        { name: "never" },
      );
      mirror.on(
        "contract.created",
        (_, { attempt }) => {
          note("later", attempt);
          if (attempt === 1) throw new RetryAfterError("busy", 60_000);
        },
        { name: "later" },
      );
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.idle();
      clock.advance(59_999);
      await mirror.idle();
      expect(attempts.sort()).toEqual(["later 1", "never 1"]);
      clock.advance(1);
      await mirror.idle();
      expect(attempts.sort()).toEqual(["later 1", "later 2", "never 1"]);
      expect((await mirror.jobs.list({ state: "dead" })).items).toMatchObject([
        { lastError: "PermanentError: no use" },
      ]);
    });

    it("run what is due though the clock was set back; only a job that was tried waits for its time", async () => {
      const clock = testClock();
      const mirror = await open({ clock, jobs: { leaseMs: 100 } });
      const seen: string[] = [];
      const register = () =>
        mirror.on("*", ({ contractId }) => void seen.push(contractId), { name: "fresh" });
      const fail = () => {
        seen.push("tried");
        throw new RetryAfterError("later", 60_000);
      };
      const off = register();
      mirror.on("*", fail, { name: "tried" });
      await mirror.idle();
      off();
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.idle();
      expect(seen).toEqual(["tried"]);
      clock.advance(-3_600_000);
      register();
      await expect.poll(() => seen, { timeout: 20_000 }).toEqual(["tried", "CNT-1"]);
      expect((await mirror.jobs.list({ state: "due" })).items).toMatchObject([{ handler: "tried" }]);
    });

    it("that hang are ended by their signal, and their slot is free", async () => {
      const mirror = await open({ jobs: { concurrency: 1, timeoutMs: 30, maxAttempts: 1 } });
      const reasons: unknown[] = [];
      const seen: string[] = [];
      mirror.on(
        "contract.created",
        (_, { signal }) => {
          signal.addEventListener("abort", () => reasons.push((signal.reason as Error).name));
          return new Promise(() => {});
        },
        { name: "hangs" },
      );
      mirror.on("contract.approved", ({ event }) => void seen.push(event), { name: "runs" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.receive(delivery("contract.approved", { id: "a", seconds: 1 }));
      await mirror.idle();
      expect([reasons, seen]).toEqual([["TimeoutError"], ["contract.approved"]]);
    });

    it("leave one another room: one that is owed many jobs does not hold up the next", async () => {
      const mirror = await open({ jobs: { run: false, concurrency: 8 } });
      const seen: string[] = [];
      for (const handler of ["busy", "quiet"])
        mirror.on("contract.created", () => void seen.push(handler), { name: handler });
      for (let n = 0; n < 80; n++)
        await mirror.receive(
          delivery("contract.created", { id: `c${n}`, seconds: 0, contractId: `CNT-${n}` }),
        );
      expect(await mirror.jobs.runOnce()).toEqual({ runs: 160 });
      expect(seen.indexOf("quiet")).toBeLessThan(16);
    });

    it("are waited for by idle, also where a lost worker's job becomes due between two of its looks", async () => {
      const inner = create();
      const clock = testClock();
      let beforeRead: (() => Promise<unknown>) | undefined;
      const read: Store["read"] = async (work) => {
        const act = beforeRead;
        beforeRead = undefined;
        await act?.();
        return inner.read(work);
      };
      const store = Object.create(inner, { read: { value: read } }) as Store;
      const mirror = await open({ store, clock, jobs: { leaseMs: 1500 } });
      const seen: string[] = [];
      const listen = () =>
        mirror.on("contract.created", ({ contractId }) => void seen.push(contractId), { name: "see" });
      const off = listen();
      await mirror.idle();
      off();
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      const handlers = ["see"];
      await inner.transaction(async ({ jobs }) => {
        await jobs.beat({ workerId: "lost", handlers, leaseMs: 1000, isListening: false });
        await jobs.claim({ workerId: "lost", handlers, limit: 1, lost: false });
      });
      listen();
      beforeRead = () => {
        clock.advance(1100);
        return inner.transaction(({ jobs }) => jobs.reclaim({ attemptsMax: 15 }));
      };
      await mirror.idle();
      expect(seen).toEqual(["CNT-1"]);
    });

    it("running at close are told by their signal; one that does not end is given back with its attempt", async () => {
      const store = create();
      const mirror = await open({ store });
      let started: (() => void) | undefined;
      const running = new Promise<void>((resolve) => (started = resolve));
      let isTold = false;
      mirror.on(
        "contract.created",
        (_, { signal }) => {
          signal.addEventListener("abort", () => (isTold = true));
          started?.();
          return new Promise(() => {});
        },
        { name: "hangs" },
      );
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await running;
      await mirror.close({ deadlineMs: 10 });
      expect(isTold).toBe(true);
    });
  });

  it(`a mirror on ${name} that has run handlers closes its store though that is away`, async () => {
    const inner = create();
    let isAway = false;
    const store = withTransactions(inner, (work) =>
      isAway ? Promise.reject(away()) : inner.transaction(work),
    );
    const mirror = await open({ store });
    mirror.on("contract.created", () => undefined, { name: "ran" });
    await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
    await mirror.idle();
    isAway = true;
    await mirror.close();
    await expect(inner.read(async () => undefined)).rejects.toMatchObject({ code: "closed" });
  });
}

function away(): Error {
  return Object.assign(new Error("away"), { name: "EscrowMirrorError", code: "store-unavailable" });
}
