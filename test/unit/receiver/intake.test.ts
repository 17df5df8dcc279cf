import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { createIntake } from "../../../src/receiver/intake.ts";
import { EscrowMirrorError } from "../../../src/shared/errors.ts";
import { createMemoryStore } from "../../../src/testing/memory-store.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import type { Store } from "../../../src/store/store.ts";
import { delivery } from "../../support/delivery.ts";
import { openMirror, settle, temporaryFile, withTransactions } from "../../support/mirror.ts";

const limits = { itemsMax: 4, bytesMax: 100, batchMax: 3 };
const roomy = { itemsMax: 100, bytesMax: 100, batchMax: 3 };
const longMs = 60_000;

/** Whoever runs jobs also removes old ones, in transactions of its own. */
const jobs = { run: false };

/** A commit that ends when it is told to. */
function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

/** A store whose commits wait, each, until the gate opens; `began` counts them. */
function gated(inner: Store, opened: Promise<void>, when: "before" | "after") {
  const counts = { began: 0 };
  const store = withTransactions(inner, async (work) => {
    counts.began += 1;
    if (when === "before") await opened;
    const result = await inner.transaction(work);
    if (when === "after") await opened;
    return result;
  });
  return { store, counts };
}

const numbered = (index: number) =>
  delivery("contract.created", { id: `e-${index}`, seconds: 0, contractId: `CNT-${index}` });
const many = (count: number) => Array.from({ length: count }, (_, index) => numbered(index));

/** Runs a step on the next turn of the event loop. */
const later = (step: () => unknown) => new Promise((resolve) => setImmediate(() => resolve(step())));

/** Three items, each but the first on the turn of the event loop after the one before, and in which batches they went. */
async function batchesOfThreeTurns(bytesEach: number, gatherMs: number): Promise<number[][]> {
  const batches: number[][] = [];
  const commit = async (batch: readonly number[]) => {
    batches.push([...batch]);
    return batch;
  };
  const intake = createIntake<number, number>(commit, roomy, gatherMs);
  const submit = (each: number) => intake.submit(each, bytesEach);
  const rest = later(() => Promise.all([submit(2), later(() => submit(3))]));
  await Promise.all([submit(1), rest]);
  return batches;
}

describe("the intake", () => {
  it("commits what comes at the same time together, in the order of arrival, at most batchMax at once", async () => {
    const batches: number[][] = [];
    const intake = createIntake<number, number>(async (batch) => {
      batches.push([...batch]);
      return batch.map((each) => each * 10);
    }, limits);
    const answers = await Promise.all([1, 2, 3, 4].map(async (each) => intake.submit(each, 1)));
    expect(batches).toEqual([[1, 2, 3], [4]]);
    expect(answers).toEqual([10, 20, 30, 40]);
  });

  it("reads on before it commits, as long as each turn of the event loop brings more", async () => {
    expect(await batchesOfThreeTurns(1, longMs)).toEqual([[1, 2, 3]]);
  });

  it("reads on no longer than it may, however long the host makes its turns", async () => {
    expect(await batchesOfThreeTurns(1, 0)).toEqual([[1, 2], [3]]);
  });

  it("reads on no further than to half of its bound", async () => {
    expect(await batchesOfThreeTurns(25, longMs)).toEqual([[1, 2], [3]]);
  });

  it("commits at the first turn that brings nothing", async () => {
    const batches: number[][] = [];
    const intake = createIntake<number, number>(async (batch) => {
      batches.push([...batch]);
      return batch;
    }, limits);
    const first = intake.submit(1, 1);
    await settle(2);
    await Promise.all([first, intake.submit(2, 1)]);
    expect(batches).toEqual([[1], [2]]);
  });

  it("takes in during a commit what goes into the next", async () => {
    const batches: number[][] = [];
    const { open, opened } = gate();
    const intake = createIntake<number, number>(async (batch) => {
      batches.push([...batch]);
      await opened;
      return batch;
    }, limits);
    const first = intake.submit(1, 1);
    await settle(2);
    const rest = [intake.submit(2, 1), intake.submit(3, 1)];
    open();
    expect(await Promise.all([first, ...rest])).toEqual([1, 2, 3]);
    expect(batches).toEqual([[1], [2, 3]]);
  });

  it("refuses more items than its bound, and takes them again once there is room", async () => {
    const intake = createIntake<number, number>(async (batch) => batch, limits);
    const taken = [1, 2, 3, 4].map(async (each) => intake.submit(each, 1));
    expect(intake.size).toBe(4);
    expect(intake.submit(5, 1)).toBeUndefined();
    await Promise.all(taken);
    expect(await intake.submit(6, 1)).toBe(6);
  });

  it("refuses more bytes than its bound", async () => {
    const intake = createIntake<number, number>(async (batch) => batch, limits);
    const taken = [60, 40].map(async (bytes, index) => intake.submit(index, bytes));
    expect(intake.submit(3, 1)).toBeUndefined();
    await Promise.all(taken);
    expect(await intake.submit(4, 100)).toBe(4);
  });

  it("takes no more once it is closed, and is closed when what it took in is answered", async () => {
    const { open, opened } = gate();
    const intake = createIntake<number, number>(async (batch) => {
      await opened;
      return batch;
    }, limits);
    const seen: string[] = [];
    const running = intake.submit(1, 1)?.then(() => seen.push("answered"));
    const closing = intake.close().then(() => seen.push("closed"));
    expect(intake.submit(2, 1)).toBeUndefined();
    open();
    await Promise.all([running, closing]);
    expect(seen).toEqual(["answered", "closed"]);
  });
});

describe("receive", () => {
  it.each(["before", "after"] as const)(
    "answers only after the commit: nothing while that waits %s its work",
    async (when) => {
      const { open, opened } = gate();
      const { store, counts } = gated(createMemoryStore(), opened, when);
      const mirror = await openMirror({ store, jobs });
      let answered = 0;
      const answers = many(3).map((each) =>
        mirror.receive(each).then((answer) => {
          answered += 1;
          return answer;
        }),
      );
      await settle();
      expect(counts.began).toBe(1);
      expect(answered).toBe(0);
      open();
      expect((await Promise.all(answers)).map(({ outcome }) => outcome)).toEqual([
        "applied",
        "applied",
        "applied",
      ]);
    },
  );

  it("shares one commit between concurrent deliveries", async () => {
    const { store, counts } = gated(createMemoryStore(), Promise.resolve(), "before");
    const mirror = await openMirror({ store });
    counts.began = 0;
    await Promise.all(many(100).map((each) => mirror.receive(each)));
    expect(counts.began).toBe(1);
  });

  it("answers 503 with Retry-After when the queue is full, and the same delivery 200 later", async () => {
    const { open, opened } = gate();
    const { store } = gated(createMemoryStore(), opened, "before");
    const mirror = await openMirror({ store, intake: { itemsMax: 3, batchMax: 2 } });
    const answers = Promise.all(many(5).map((each) => mirror.receive(each)));
    await settle();
    open();
    const statuses = (await answers).map(({ status, reason }) => `${status} ${reason ?? ""}`.trim());
    expect(statuses).toEqual(["200", "200", "200", "503 intake-full", "503 intake-full"]);
    expect(await mirror.receive(numbered(4))).toMatchObject({ status: 200, outcome: "applied" });
  });

  it("is not healthy while the queue is full", async () => {
    const { open, opened } = gate();
    const inner = createMemoryStore();
    let begun = 0;
    const store = withTransactions(inner, async (work) => {
      begun += 1;
      if (begun === 1) await opened;
      return inner.transaction(work);
    });
    const mirror = await openMirror({ store, jobs, intake: { itemsMax: 1, batchMax: 1 } });
    const first = mirror.receive(numbered(1));
    await settle();
    const second = mirror.receive(numbered(2));
    await settle();
    expect((await mirror.health()).ok).toBe(false);
    open();
    await Promise.all([first, second]);
    expect((await mirror.health()).ok).toBe(true);
  });

  it("fails none of the neighbours of a delivery that can't be stored", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    const beside = new Database(file);
    beside.exec(
      "create trigger poison before insert on escrow_contracts when new.contract_id = 'CNT-2' begin select raise(abort, 'poison'); end",
    );
    const answers = await Promise.all(many(5).map((each) => mirror.receive(each)));
    expect(answers.map(({ status, outcome }) => `${status} ${outcome}`)).toEqual([
      "200 applied",
      "200 applied",
      "503 failed",
      "200 applied",
      "200 applied",
    ]);
    expect((await mirror.contracts.list()).items.map(({ contractId }) => contractId)).toEqual([
      "CNT-0",
      "CNT-1",
      "CNT-3",
      "CNT-4",
    ]);
    expect((await mirror.deliveries.list({ outcome: "applied" })).items).toHaveLength(4);
    beside.exec("drop trigger poison");
    beside.close();
    expect(await mirror.receive(numbered(2))).toMatchObject({ status: 200, outcome: "applied" });
  });

  it("answers every delivery of a commit that fails 503, and stores none of them", async () => {
    const inner = createMemoryStore();
    let broken = false;
    const store = withTransactions(inner, (work) =>
      inner.transaction(async (tx) => {
        const result = await work(tx);
        if (broken) throw new EscrowMirrorError("store-unavailable", "the disk is full");
        return result;
      }),
    );
    const mirror = await openMirror({ store });
    broken = true;
    const answers = await Promise.all(many(3).map((each) => mirror.receive(each)));
    expect(answers.map(({ status, reason }) => `${status} ${reason}`)).toEqual(
      Array(3).fill("503 store-unavailable"),
    );
    expect(answers[0]?.headers["retry-after"]).toBe("5");
    broken = false;
    expect((await mirror.deliveries.list()).items).toEqual([]);
    expect((await mirror.receive(numbered(0))).outcome).toBe("applied");
  });

  it("proves no secret by a commit that failed", async () => {
    const inner = createMemoryStore();
    let broken = true;
    const store = withTransactions(inner, async (work) => {
      if (broken) throw new EscrowMirrorError("store-unavailable", "locked");
      return inner.transaction(work);
    });
    const mirror = await openMirror({ store });
    await mirror.receive(numbered(0));
    broken = false;
    expect(
      (await mirror.receive(delivery("contract.created", {}, { secret: "whsec_of_somebody_else" }))).status,
    ).toBe(503);
  });
});
