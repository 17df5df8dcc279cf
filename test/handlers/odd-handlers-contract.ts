/** Handlers that throw, ask for, or are registered with what nobody foresaw, on every store. */
import { describe, expect, it } from "vitest";
import { RetryAfterError } from "../../src/handlers/errors.ts";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, testClock } from "../support/mirror.ts";

/** Each throws when it is made into text. */
const fails = (): never => expect.fail("looked at");
const nameless: Error = Object.assign(new Error("s"), { name: Symbol("name") as unknown as string });

const withoutText: Readonly<Record<string, unknown>> = {
  "no prototype": Object.create(null),
  "a text that throws": { toString: fails },
  "a message that throws": Object.defineProperty(new Error("m"), "message", { get: fails }),
  "a symbol for a name": nameless,
  "a proxy": new Proxy({}, { getPrototypeOf: fails }),
};

type Wait = (attempt: number) => number;
const oddWaits: readonly (readonly [string, Wait])[] = [
  ["throws", fails],
  ["gives Infinity", () => Infinity],
  ["gives more than a date can hold", () => 1e300],
  ["gives NaN", () => Number.NaN],
  ["gives text", (() => "soon") as unknown as Wait],
  ["gives a bigint", (() => 1n) as unknown as Wait],
];

export function describeOddHandlers(name: string, create: () => Store): void {
  const open = (options: Partial<MirrorOptions> = {}) => openMirror({ store: create(), ...options });

  describe(`odd handlers on ${name}`, () => {
    it("may throw anything: what has no text is a failed attempt like any other, and ends no process", async () => {
      const clock = testClock();
      const mirror = await open({ clock, jobs: { maxAttempts: 2, backoffMs: 10 } });
      const seen: string[] = [];
      for (const [which, thrown] of Object.entries(withoutText))
        mirror.on(
          "contract.created",
          () => {
            throw thrown;
          },
          { name: which },
        );
      mirror.on("contract.created", ({ event }) => void seen.push(event), { name: "next" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.idle();
      clock.advance(10);
      await mirror.idle();
      const { items } = await mirror.jobs.list({ state: "dead" });
      expect(items.map(({ handler }) => handler).sort()).toEqual(Object.keys(withoutText).sort());
      expect(items.every(({ lastError }) => lastError?.endsWith("has no text"))).toBe(true);
      expect(seen).toEqual(["contract.created"]);
    });

    it("are registered in hundreds without holding up the first delivery: they share transactions", async () => {
      const counted = countTransactions(create());
      const mirror = await openMirror({ store: counted.store, jobs: { run: false } });
      const before = counted.count();
      for (let n = 0; n < 500; n++) mirror.on("contract.created", () => undefined, { name: `handler ${n}` });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      expect(counted.count() - before).toBeLessThan(10);
      expect(await mirror.handlers.list()).toHaveLength(500);
      expect((await mirror.health()).jobs.due).toBe(500);
    });

    it.each(oddWaits)("wait where backoffMs %s, and hold up no other handler", async (_, backoffMs) => {
      const clock = testClock();
      const mirror = await open({ clock, jobs: { backoffMs } });
      const seen: number[] = [];
      mirror.on("contract.created", (_event, { attempt }) => void seen.push(attempt), { name: "good" });
      mirror.on("*", () => Promise.reject(new Error("no")), { name: "bad" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.idle();
      await mirror.receive(delivery("contract.created", { id: "d", seconds: 1, contractId: "CNT-2" }));
      await mirror.idle();
      expect(seen).toEqual([1, 1]);
      expect((await mirror.health()).jobs).toMatchObject({ due: 2, running: 0 });
    });

    it.each([Number.NaN, -1, new Date(8e15), "5", undefined])(
      "can't ask for a retry after %s: they fail like any other, and are tried again",
      async (afterMs) => {
        const clock = testClock();
        const mirror = await open({ clock, jobs: { backoffMs: 10 } });
        const seen: number[] = [];
        const ask = (_: unknown, { attempt }: { readonly attempt: number }): void => {
          seen.push(attempt);
          if (attempt === 1) throw new RetryAfterError("later", afterMs as number);
        };
        mirror.on("*", ask, { name: "bad" });
        await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
        await mirror.idle();
        const { items } = await mirror.jobs.list({ state: "due" });
        expect(items[0]?.lastError).toMatch(/RangeError: afterMs is .*: 0 or more milliseconds are expected/);
        clock.advance(10);
        await mirror.idle();
        expect(seen).toEqual([1, 2]);
      },
    );

    it("that ask for a retry in an endless time hold up no other handler", async () => {
      const mirror = await open();
      const seen: string[] = [];
      mirror.on("*", () => Promise.reject(new RetryAfterError("later", Infinity)), { name: "bad" });
      mirror.on("*", ({ contractId }) => void seen.push(contractId ?? ""), { name: "good" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.idle();
      await mirror.receive(delivery("contract.created", { id: "d", seconds: 1, contractId: "CNT-2" }));
      await mirror.idle();
      expect(seen).toEqual(["CNT-1", "CNT-2"]);
    });

    it.each(["2026-02-30T00:00:00Z", "1", "Fri Feb 2026", "soon", "", new Date(8.64e15), new Date(NaN)])(
      "don't start at %s, which is no time that deliveries have",
      async (since) => {
        const mirror = await open();
        expect(() => mirror.on("*", () => {}, { name: "since", since })).toThrow(/since is not a time/);
      },
    );

    it("can't call runOnce, which would wait for them", async () => {
      const mirror: Mirror = await open({ jobs: { run: false, maxAttempts: 1 } });
      mirror.on("*", async () => void (await mirror.jobs.runOnce()), { name: "itself" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.jobs.runOnce();
      const { items } = await mirror.jobs.list({ state: "dead" });
      expect(items).toMatchObject([{ lastError: expect.stringMatching(/inside a handler/) as string }]);
    });
  });
}

function countTransactions(store: Store): { readonly store: Store; readonly count: () => number } {
  let count = 0;
  const counting = Object.create(store, {
    transaction: {
      value: (work: Parameters<Store["transaction"]>[0]) => {
        count++;
        return store.transaction(work);
      },
    },
  }) as Store;
  return { store: counting, count: () => count };
}
