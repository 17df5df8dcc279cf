/** Which deliveries a handler gets, on every store: from when on, in which process, until when. */
import { describe, expect, it } from "vitest";
import { defineHandler } from "../../src/handlers/define-handler.ts";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery, noonMs } from "../support/delivery.ts";
import { limited } from "../support/failing-store.ts";
import { openMirror, testClock, withTransactions, type TestClock } from "../support/mirror.ts";

const registerMail = (to: Mirror): void => void to.on("*", () => undefined, { name: "mail" });

/** Two contracts, a minute apart. */
async function receiveTwo(mirror: Mirror, clock: TestClock): Promise<void> {
  await mirror.receive(delivery("contract.created", { id: "c1", seconds: 0, contractId: "CNT-1" }));
  clock.advance(60_000);
  await mirror.receive(delivery("contract.created", { id: "c2", seconds: 60, contractId: "CNT-2" }));
}

/** Makes handlers that note their name and the contract. */
function noting(seen: string[]) {
  return (handler: string) =>
    ({ contractId }: { contractId: string }) =>
      void seen.push(`${handler} ${contractId}`);
}

export function describeRegistering(name: string, create: () => Store): void {
  const open = (options: Partial<MirrorOptions> = {}) => openMirror({ store: create(), ...options });

  describe(`handlers on ${name}`, () => {
    it("that are new start at the mirror's creation, or at a time of their own, and never twice", async () => {
      const clock = testClock();
      const store = create();
      const first = await open({ store, clock });
      await receiveTwo(first, clock);
      const seen: string[] = [];
      const note = noting(seen);
      first.on("contract.created", note("from-start"), { name: "from-start" });
      first.on("contract.created", note("from-time"), {
        name: "from-time",
        since: new Date(noonMs + 30_000),
      });
      first.on("contract.created", note("from-old"), { name: "from-old", since: new Date(noonMs - 1) });
      await first.idle();
      expect(seen.sort()).toEqual([
        "from-old CNT-1",
        "from-old CNT-2",
        "from-start CNT-1",
        "from-start CNT-2",
        "from-time CNT-2",
      ]);
    });

    it("that start at a time miss nothing of it, in whatever order it was committed", async () => {
      const clock = testClock();
      const mirror = await open({ clock });
      const arrive = async (contractId: string, ms: number): Promise<void> => {
        clock.advance(noonMs + ms - clock.now());
        await mirror.receive(delivery("contract.created", { id: contractId, seconds: 0, contractId }));
      };
      for (let n = 0; n < 5; n++) await arrive(`before-${n}`, n);
      await arrive("first to commit", 40_000);
      for (let n = 0; n < 450; n++) await arrive(`n-${n}`, 10_000 + n);
      const seen = new Set<string>();
      mirror.on("contract.created", ({ contractId }) => void seen.add(contractId), {
        name: "from-time",
        since: new Date(noonMs + 10_000),
      });
      await mirror.idle();
      expect(seen).toContain("first to commit");
      expect([...seen].filter((id) => id.startsWith("n-"))).toHaveLength(450);
      expect([...seen].filter((id) => id.startsWith("before"))).toEqual([]);
    });

    it("whose code is elsewhere are owed their jobs by whoever commits", async () => {
      const store = create();
      const mirror = await open({ store });
      const off = mirror.on("contract.created", () => undefined, { name: "elsewhere" });
      await mirror.idle();
      off();
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.idle();
      expect((await mirror.jobs.list()).items).toMatchObject([{ handler: "elsewhere", state: "due" }]);
      const seen: string[] = [];
      mirror.on("contract.created", ({ contractId }) => void seen.push(contractId), { name: "elsewhere" });
      await mirror.idle();
      expect(seen).toEqual(["CNT-1"]);
    });

    it("are ended in short transactions, however many jobs they are owed, and lose no other's", async () => {
      const store = create();
      let commits = 0;
      const counting = withTransactions(store, (work) => {
        commits++;
        return store.transaction(work);
      });
      const mirror = await open({ store: counting, jobs: { run: false } });
      for (const each of ["a", "b"]) mirror.on("contract.created", () => undefined, { name: each });
      await mirror.idle();
      const owed = Array.from({ length: 1200 }, (_, index) => ({
        handler: index % 200 === 0 ? "b" : "a",
        contractId: `CNT-${index % 7}`,
        jobKey: `job ${index}`,
        contentKey: null,
        webhookId: null,
        payload: null,
      }));
      await store.transaction((tx) => tx.jobs.insert(owed));
      commits = 0;
      await mirror.handlers.remove("a");
      expect(commits).toBeGreaterThan(2);
      const left = (await mirror.jobs.list()).items;
      expect(left.map(({ handler }) => handler)).toEqual(Array.from({ length: 6 }, () => "b"));
      expect((await mirror.handlers.list()).map((each) => each.name)).toEqual(["b"]);
    });

    it("leave nothing behind when they are removed, neither a job that fails meanwhile nor one of a killed process", async () => {
      const store = create();
      const mirror = await open({ store, jobs: { concurrency: 1 } });
      let fail: ((error: Error) => void) | undefined;
      const hang = (): Promise<void> => new Promise((_, reject) => (fail = reject));
      mirror.on("*", hang, { name: "old" });
      for (const contractId of ["CNT-1", "CNT-2", "CNT-3"])
        await mirror.receive(delivery("contract.created", { id: contractId, seconds: 0, contractId }));
      await expect.poll(() => fail).toBeDefined();
      const killed = { workerId: "killed", handlers: ["old"] };
      await store.transaction(async ({ jobs }) => {
        await jobs.beat({ ...killed, leaseMs: 30_000, isListening: false });
        expect(await jobs.claim({ ...killed, limit: 1, lost: false })).toHaveLength(1);
      });
      await mirror.handlers.remove("old");
      fail?.(new Error("no"));
      await mirror.idle();
      expect((await mirror.jobs.list()).items).toEqual([]);
    });

    it("that are removed by a process that ends before their running jobs are gone can be removed again", async () => {
      const writes = limited(create());
      const mirror = await open({ store: writes.store, jobs: { run: false } });
      let end: (() => void) | undefined;
      mirror.on("*", () => new Promise<void>((resolve) => (end = resolve)), { name: "mail" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      const running = mirror.jobs.runOnce();
      await expect.poll(() => end).toBeDefined();
      writes.left = 1;
      await expect(mirror.handlers.remove("mail")).rejects.toMatchObject({ code: "store-unavailable" });
      writes.left = Number.POSITIVE_INFINITY;
      expect((await mirror.jobs.list()).items).toHaveLength(1);
      await mirror.handlers.remove("mail");
      expect((await mirror.jobs.list()).items).toEqual([]);
      await expect(mirror.handlers.remove("mail")).rejects.toMatchObject({ code: "not-found" });
      end?.();
      await running;
    });

    it("that start with older deliveries get each move once, where two deliveries have one webhook id", async () => {
      const mirror = await open();
      const send = { webhookId: "one" };
      for (const contractId of ["CNT-1", "CNT-2"])
        await mirror.receive(delivery("contract.created", { id: contractId, seconds: 0, contractId }, send));
      const [aside] = (await mirror.quarantine.list()).items;
      await mirror.quarantine.release(aside?.id ?? "");
      const seen: string[] = [];
      mirror.onTransition({ entity: "contract" }, ({ contractId }) => void seen.push(contractId), {
        name: "moves",
        since: new Date(noonMs),
      });
      await mirror.idle();
      expect(seen.sort()).toEqual(["CNT-1", "CNT-2"]);
    });

    it("that are removed as soon as they are registered are gone", async () => {
      const store = create();
      const mirror = await open({ store });
      registerMail(mirror);
      await mirror.handlers.remove("mail");
      registerMail(mirror);
      await mirror.idle();
      const other = await open({ store });
      registerMail(other);
      await other.handlers.remove("mail");
      await other.idle();
      expect(await other.handlers.list()).toEqual([]);
    });

    it("can be ended for good, listed, and refused under a name of another kind", async () => {
      const mirror = await open({ jobs: { run: false } });
      mirror.on("contract.created", () => undefined, { name: "a" });
      mirror.onTransition({ entity: "contract", to: "escrow" }, () => undefined, { name: "b" });
      await mirror.idle();
      expect(await mirror.handlers.list()).toMatchObject([
        { name: "a", kind: "event", filter: { events: ["contract.created"] } },
        { name: "b", kind: "transition", filter: { entity: "contract", to: ["Escrow"] } },
      ]);
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      expect((await mirror.jobs.list({ state: "due" })).items).toHaveLength(1);
      await mirror.handlers.remove("a");
      expect((await mirror.jobs.list()).items).toEqual([]);
      await expect(mirror.handlers.remove("a")).rejects.toMatchObject({ code: "not-found" });
      const off = mirror.on("contract.created", () => undefined, { name: "c" });
      await mirror.idle();
      off();
      mirror.onTransition({ entity: "contract" }, () => undefined, { name: "c" });
      await expect(mirror.idle()).rejects.toMatchObject({ code: "invalid-configuration" });
    });

    it("that were defined with the mirror hear of its first delivery, and runOnce runs them where nothing else does", async () => {
      const seen: string[] = [];
      const handlers = [
        defineHandler("one", "contract.created", ({ contractId }) => void seen.push(contractId)),
        defineHandler("two", { entity: "contract", to: "pending" }, ({ to }) => void seen.push(to)),
      ];
      const mirror = await open({ handlers, jobs: { run: false } });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0, status: "Pending" }));
      expect(seen).toEqual([]);
      expect(await mirror.jobs.runOnce()).toEqual({ runs: 2 });
      expect(seen.sort()).toEqual(["CNT-1", "pending"]);
    });

    it("that were defined with the mirror can start at a time of their own", async () => {
      const clock = testClock();
      const store = create();
      const first = await open({ store, clock });
      await receiveTwo(first, clock);
      const seen: string[] = [];
      const see = noting(seen);
      const since = new Date(noonMs + 30_000);
      const handlers = [
        defineHandler("from-now", "contract.created", see("from-now")),
        defineHandler("from-time", "contract.created", see("from-time"), { since }),
        defineHandler("moves", { entity: "contract", to: "pending" }, see("moves"), {
          since: new Date(noonMs),
        }),
      ];
      const mirror = await open({ store, clock, handlers });
      await mirror.idle();
      expect(seen.sort()).toEqual(["from-time CNT-2", "moves CNT-1", "moves CNT-2"]);
    });

    it("stop the store's fault at the sender: who can't be registered now lets no delivery pass", async () => {
      const inner = create();
      let isAway = false;
      const store = withTransactions(inner, (work) =>
        isAway ? Promise.reject(away()) : inner.transaction(work),
      );
      const mirror = await open({ store });
      isAway = true;
      const seen: string[] = [];
      mirror.on("contract.created", ({ contractId }) => void seen.push(contractId), { name: "late" });
      const request = delivery("contract.created", { id: "c", seconds: 0 });
      expect(await mirror.receive(request)).toMatchObject({ status: 503 });
      isAway = false;
      expect(await mirror.receive(request)).toMatchObject({ status: 200 });
      await mirror.idle();
      expect(seen).toEqual(["CNT-1"]);
    });
  });
}

function away(): Error {
  return Object.assign(new Error("away"), { name: "EscrowMirrorError", code: "store-unavailable" });
}
