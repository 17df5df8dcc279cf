/** What handlers do on every store. */
import { describe, expect, it } from "vitest";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import { PermanentError, RetryAfterError } from "../../src/handlers/errors.ts";
import { defineHandler } from "../../src/handlers/define-handler.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery, noonMs } from "../support/delivery.ts";
import { failing } from "../support/failing-store.ts";
import { openMirror, testClock, withTransactions } from "../support/mirror.ts";

export function describeHandlers(name: string, create: () => Store): void {
  const open = (options: Partial<MirrorOptions> = {}) => openMirror({ store: create(), ...options });

  const tell = async (together: boolean): Promise<string[]> => {
    const mirror = await open();
    const moves: string[] = [];
    mirror.onTransition({ entity: "contract" }, ({ from, to }) => void moves.push(`${from} > ${to}`), {
      name: "moves",
    });
    mirror.onTransition(
      { entity: "milestone", to: "Released" },
      ({ from, to, milestoneId }) => void moves.push(`${milestoneId}: ${from} > ${to}`),
      { name: "milestones" },
    );
    await mirror.receive(delivery("webhook.test", { id: "t" }));
    const requests = [
      delivery("contract.created", { id: "c", seconds: 0, status: "Pending" }),
      delivery("payment.completed", { id: "p", seconds: 20, status: "Escrow" }),
      delivery("contract.approved", { id: "a", seconds: 10, status: "Approved" }),
      delivery("milestone.released", {
        id: "m",
        seconds: 21,
        milestoneId: 7,
        status: "Released",
        previousStatus: "Escrow",
      }),
      delivery("contract.released", { id: "r", seconds: 30, status: "Released" }),
    ];
    if (together) await Promise.all(requests.map((request) => mirror.receive(request)));
    else for (const request of requests) await mirror.receive(request);
    await mirror.idle();
    return moves;
  };

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

    it("hear of moves of the present state alone: once each, and of none that a late event contradicts", async () => {
      const mirror = await open();
      const moves: string[] = [];
      mirror.onTransition(
        { entity: "contract" },
        ({ from, to, event }) => void moves.push(`${from} > ${to} by ${event}`),
        { name: "moves" },
      );
      const created = delivery("contract.created", { id: "c", seconds: 0, status: "Pending" });
      const approved = delivery("contract.approved", {
        id: "a",
        seconds: 10,
        status: "Approved",
        previousStatus: "Pending",
      });
      const paid = delivery("payment.completed", {
        id: "p",
        seconds: 20,
        status: "Escrow",
        previousStatus: "Approved",
        paymentId: "P",
      });
      await mirror.receive(created);
      await mirror.receive(paid);
      await mirror.receive(approved);
      await mirror.receive(paid);
      await mirror.receive(
        delivery("payment.completed", {
          id: "p2",
          seconds: 20,
          status: "Escrow",
          previousStatus: "Approved",
          paymentId: "P",
        }),
      );
      await mirror.rebuild();
      await mirror.idle();
      expect(moves).toEqual(["null > pending by contract.created", "pending > Escrow by payment.completed"]);
    });

    it("hear of the same moves whatever shares a commit", async () => {
      const expected = ["null > pending", "pending > Escrow", "7: null > Released", "Escrow > Released"];
      expect((await tell(false)).sort()).toEqual([...expected].sort());
      expect((await tell(true)).sort()).toEqual([...expected].sort());
    });

    it("that are new start at the mirror's creation, or at a time of their own, and never twice", async () => {
      const clock = testClock();
      const store = create();
      const first = await open({ store, clock });
      await first.receive(delivery("contract.created", { id: "c1", seconds: 0, contractId: "CNT-1" }));
      clock.advance(60_000);
      await first.receive(delivery("contract.created", { id: "c2", seconds: 60, contractId: "CNT-2" }));
      const seen: string[] = [];
      const note =
        (handler: string) =>
        ({ contractId }: { contractId: string }) =>
          void seen.push(`${handler} ${contractId}`);
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

    it("are told of an anomaly once for each contract, kind and detail", async () => {
      const mirror = await open();
      const kinds: string[] = [];
      mirror.on("anomaly", ({ kind, contractId }) => void kinds.push(`${contractId} ${kind}`), {
        name: "alarm",
      });
      await mirror.idle();
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0, status: "Pending" }));
      await mirror.receive(delivery("contract.released", { id: "r", seconds: 50, status: "Released" }));
      await mirror.receive(delivery("contract.approved", { id: "a", seconds: 10, status: "Approved" }));
      await mirror.receive(delivery("odd.event", { id: "o", seconds: 60 }));
      await mirror.idle();
      expect(kinds).toEqual(["CNT-1 gap", "CNT-1 gap", "CNT-1 unknown-event"]);
    });

    it("are told of new anomalies without a read of the old ones", async () => {
      let reads = 0;
      const watched = failing(create(), (call, [table]) => {
        if (call === "lookup" && table === "anomalies") reads++;
        return false;
      });
      watched.fault = new Error("never thrown");
      const mirror = await open({ store: watched.store });
      const details: string[] = [];
      mirror.on("anomaly", ({ kind, webhookId }) => void details.push(`${webhookId} ${kind}`), { name: "a" });
      await mirror.idle();
      reads = 0;
      const send = (id: string, seconds: number, event: string, status: string) =>
        mirror.receive(delivery(event, { id, seconds, status }, { webhookId: id }));
      await send("c", 0, "contract.created", "Pending");
      await send("r", 50, "contract.released", "Released");
      await send("a", 60, "contract.approved", "Approved");
      await mirror.idle();
      expect(details.splice(0)).not.toEqual([]);
      expect(reads).toBe(0);
    });

    it("are owed a delivery again when it is replayed", async () => {
      const mirror = await open();
      const keys: string[] = [];
      mirror.on("contract.created", (_, { idempotencyKey }) => void keys.push(idempotencyKey), { name: "h" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }, { webhookId: "wh-1" }));
      await mirror.idle();
      expect(await mirror.deliveries.replay("wh-1")).toBe(1);
      await mirror.idle();
      expect(keys).toHaveLength(2);
      await expect(mirror.deliveries.replay("nowhere")).rejects.toMatchObject({
        code: "not-found",
        message: expect.stringContaining("the id, not the webhookId") as string,
      });
      await expect(mirror.deliveries.replay(5 as never)).rejects.toMatchObject({ code: "invalid-argument" });
    });

    it("are owed the one delivery that a replay names, of two that were applied under one webhook id", async () => {
      const mirror = await open();
      const seen: string[] = [];
      mirror.on("contract.created", ({ contractId }) => void seen.push(contractId), { name: "h" });
      for (const contractId of ["CNT-A", "CNT-B"])
        await mirror.receive(
          delivery("contract.created", { id: contractId, seconds: 0, contractId }, { webhookId: "wh-1" }),
        );
      await mirror.quarantine.release((await mirror.quarantine.list()).items[0]?.id ?? "");
      await mirror.idle();
      expect(seen.splice(0)).toEqual(["CNT-A", "CNT-B"]);
      const { items } = await mirror.deliveries.list({ outcome: "applied" });
      expect(items.map(({ webhookId }) => webhookId)).toEqual(["wh-1", "wh-1"]);
      for (const { id, contractId } of items) {
        expect(await mirror.deliveries.replay(id)).toBe(1);
        await mirror.idle();
        expect(seen.splice(0)).toEqual([contractId]);
      }
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

  describe(`waiting for a status on ${name}`, () => {
    it("resolves once the history holds a move to it, before or after it is asked", async () => {
      const mirror = await open();
      const waiting = mirror.contracts.waitFor("CNT-1", "escrow");
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0, status: "Pending" }));
      await mirror.receive(delivery("payment.completed", { id: "p", seconds: 20, status: "Escrow" }));
      await expect(waiting).resolves.toMatchObject({ contractId: "CNT-1", status: "Escrow" });
      await mirror.receive(delivery("contract.released", { id: "r", seconds: 30, status: "Released" }));
      await expect(mirror.contracts.waitFor("CNT-1", ["Escrow"])).resolves.toMatchObject({
        status: "Released",
      });
    });

    it("rejects when it can't come, in time, or by the signal", async () => {
      const mirror = await open();
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0, status: "Pending" }));
      await expect(mirror.contracts.waitFor("CNT-1", "Escrow", { timeoutMs: 20 })).rejects.toMatchObject({
        code: "timeout",
      });
      await expect(
        mirror.contracts.waitFor("CNT-1", "Escrow", { signal: AbortSignal.abort() }),
      ).rejects.toMatchObject({ code: "aborted" });
      await mirror.receive(delivery("contract.rejected", { id: "r", seconds: 5, status: "Rejected" }));
      await expect(mirror.contracts.waitFor("CNT-1", "Escrow")).rejects.toMatchObject({
        code: "unreachable-status",
      });
    });
  });
}

function away(): Error {
  return Object.assign(new Error("away"), { name: "EscrowMirrorError", code: "store-unavailable" });
}
