/** The service gives up after 30 s, and hears of no answer that comes later. */
import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../../src/testing/memory-store.ts";
import { openReceiving, secret } from "../../property/receiving.ts";
import { delivery } from "../../support/delivery.ts";
import { withTransactions } from "../../support/mirror.ts";

const answerMs = 50;
const numbered = (id: number) =>
  delivery("contract.created", { id: `e-${id}`, seconds: id, contractId: `CNT-${id}` }, { secret });

/** A store whose first transaction waits, before or after it commits, until it is told to go on. */
function stuck(when: "before" | "after") {
  const inner = createMemoryStore();
  let goOn!: () => void;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  let isFirst = true;
  const store = withTransactions(inner, async (work) => {
    if (!isFirst) return inner.transaction(work);
    isFirst = false;
    if (when === "before") await gate;
    const result = await inner.transaction(work);
    if (when === "after") await gate;
    return result;
  });
  return { store, goOn };
}

describe.each(["before", "after"] as const)("a store that hangs %s its commit", (when) => {
  it("has each delivery answered 503 in time, those behind it too, and loses and doubles none", async () => {
    const { store, goOn } = stuck(when);
    const { receiver } = await openReceiving(store, { answerMs, batchMax: 1 });
    const ids = [1, 2, 3, 4];
    const answers = await Promise.all(ids.map((id) => receiver.receive(numbered(id))));
    expect(answers).toEqual(
      ids.map(() =>
        expect.objectContaining({
          status: 503,
          outcome: "failed",
          reason: "store-unavailable",
          headers: expect.objectContaining({ "retry-after": "5" }),
        }),
      ),
    );
    expect(receiver.consecutiveFailures()).toBe(4);
    goOn();
    await receiver.close();
    // What waited was committed after all: the service's next copies are duplicates.
    const { receiver: next } = await openReceiving(store);
    const again = await Promise.all(ids.map((id) => next.receive(numbered(id))));
    expect(again.map(({ outcome }) => outcome)).toEqual(ids.map(() => "duplicate"));
  });
});
