import { describe, expect, it } from "vitest";
import { createLazyStore } from "../../../src/store/lazy-store.ts";
import type { OpenOptions, Store } from "../../../src/store/store.ts";
import { silentLogger } from "../../../src/shared/logger.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import { createMemoryStore } from "../../../src/testing/memory-store.ts";
import { delivery } from "../../support/delivery.ts";
import { openMirror, settle, temporaryFile, testClock } from "../../support/mirror.ts";

const options: OpenOptions = { migrate: "auto", logger: silentLogger, clock: testClock() };

/** A store that counts what is built and closed; building takes a few turns, and each opening what `open` says. */
function counted(open: (time: number) => Promise<void> = async () => {}) {
  const counts = { built: 0, opened: 0, closed: 0 };
  const build = async (): Promise<Store> => {
    counts.built++;
    await settle(3);
    const inner = createMemoryStore();
    return Object.create(inner, {
      open: { value: () => open(++counts.opened) },
      close: { value: async () => counts.closed++ },
    }) as Store;
  };
  return { counts, ...createLazyStore("a store", build) };
}

describe("a store that is opened twice at the same moment", () => {
  it("is built once, and closed once", async () => {
    const { store, counts } = counted();
    await Promise.all([store.open(options), store.open(options), settle(1).then(() => store.open(options))]);
    expect(counts).toEqual({ built: 1, opened: 3, closed: 0 });
    await store.close();
    expect(counts).toMatchObject({ built: 1, closed: 1 });
  });

  it("stays open for the one when the other is refused, in either order", async () => {
    for (const refused of [1, 2]) {
      const { store, counts } = counted(async (time) => {
        await settle(time);
        if (time === refused) throw new Error("refused");
      });
      const both = await Promise.allSettled([store.open(options), store.open(options)]);
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(await store.read(async () => "open")).toBe("open");
      expect(counts.closed).toBe(0);
    }
  });

  it("leaves nothing behind when both are refused, and can be opened again", async () => {
    let isRefused = true;
    const { store, counts } = counted(async () => {
      if (isRefused) throw new Error("refused");
    });
    await Promise.allSettled([store.open(options), store.open(options)]);
    expect(counts).toMatchObject({ built: 1, closed: 1 });
    isRefused = false;
    await store.open(options);
    expect(counts).toMatchObject({ built: 2, closed: 1 });
  });
});

it("a store that is closed while it is built leaves nothing open", async () => {
  const { store, counts, opened } = counted();
  const opening = store.open(options);
  await store.close();
  await opening;
  expect(counts).toMatchObject({ built: 1, closed: 1 });
  expect(opened).toThrow(expect.objectContaining({ code: "closed" }));
});

it("two mirrors that start at once on one SQLite store share what it has open, and leave nothing of it", async () => {
  const file = temporaryFile();
  const store = sqlite(file);
  const [one, other] = await Promise.all([openMirror({ store }), openMirror({ store })]);
  expect((await one.receive(delivery("contract.created", { id: 1 }))).outcome).toBe("applied");
  expect((await other.receive(delivery("contract.created", { id: 1 }))).outcome).toBe("duplicate");
  await one.close();
  expect((await other.health()).ok).toBe(false);
});
