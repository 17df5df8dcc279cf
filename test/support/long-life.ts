/** Contracts of hundreds of events: more rows than a page, and than one slice of writing. */
import { describe, expect, it } from "vitest";
import { fold } from "../../src/domain/fold.ts";
import type { FoldInput } from "../../src/domain/input.ts";
import type { Store } from "../../src/store/store.ts";
import { mirroredRows, rowsOfStates, withinContracts } from "../property/rows.ts";
import { createRandom } from "../simulation/random.ts";
import { at, delivery, event, noonMs, sha256, eventBody, skewMs, type EventShape } from "./delivery.ts";
import { openMirror, testClock } from "./mirror.ts";
import { recording } from "./recording-store.ts";

type Told = readonly [type: string, shape: EventShape];

/** Of each kind of record more than a page: some events without a time, some of one instant, some that contradict. */
const life: readonly Told[] = Array.from({ length: 1100 }, (_, index): Told => {
  const id = `e-${index}`;
  const seconds = index % 11 === 0 ? undefined : Math.floor(index / 3);
  const shape = seconds === undefined ? { id } : { id, seconds };
  const number = index >> 2;
  switch (index % 4) {
    case 0:
      return ["milestone.payment.completed", { ...shape, milestoneId: number, paymentId: `P-${number}` }];
    case 1:
      return ["contract.disputed", { ...shape, disputeId: `D-${number}`, previousStatus: "Escrow" }];
    case 2:
      return ["refund.full-initiated", { ...shape, transactionId: `T-${number}`, previousStatus: "Dispute" }];
    default:
      return ["contract.updated", { ...shape, status: "Escrow", previousStatus: "RefundInProgress" }];
  }
});

export function describeLongLives(name: string, openStore: () => Store): void {
  describe(`on ${name}`, () => {
    it("a contract with more rows than a page is the fold of its events, in any order of arrival", async () => {
      const store = openStore();
      const mirror = await openMirror({ store, clock: testClock(noonMs + 9_000_000) });
      const random = createRandom(20_260_125);
      const shuffled = life.map((told) => ({ told, key: random.next() })).sort((a, b) => a.key - b.key);
      for (let start = 0; start < shuffled.length; start += 275) {
        const batch = shuffled.slice(start, start + 275);
        await Promise.all(batch.map(({ told }) => mirror.receive(delivery(...told))));
      }
      const inputs = life.map(([type, shape]): FoldInput => {
        const digest = sha256(eventBody(type, shape));
        return { ...event(type, shape, at(9000)), webhookId: digest };
      });
      const { deliveries: _, ...rows } = withinContracts(await mirroredRows(store));
      expect(rows).toEqual(rowsOfStates([fold("CNT-1", inputs, { skewMs })]));
      await mirror.rebuild();
      expect(withinContracts(await mirroredRows(store))).toEqual(rows);
    });

    it("a late event writes what follows it, not the whole life", async () => {
      const { store, written, clear } = recording(openStore());
      const mirror = await openMirror({ store });
      const timed = life.filter(([, { seconds }]) => seconds !== undefined).slice(0, 400);
      for (let start = 0; start < timed.length; start += 50)
        await Promise.all(timed.slice(start, start + 50).map((told) => mirror.receive(delivery(...told))));
      const last = timed.at(-1)?.[1].seconds ?? 0;
      clear();
      await mirror.receive(
        delivery("contract.received", { id: "late", seconds: last - 1, status: "Escrow" }),
      );
      expect(written.get("contracts")).toBe(1);
      expect(written.get("transitions")).toBeLessThan(20);
      expect(written.get("anomalies") ?? 0).toBeLessThan(20);
      for (const table of ["milestones", "refunds", "payments", "disputes"] as const)
        expect(written.get(table) ?? 0).toBeLessThan(5);
      clear();
      await mirror.rebuild();
      expect([...written.values()].reduce((sum, rows) => sum + rows, 0)).toBe(0);
    });

    it("a late event leaves the event loop to others while a long life is folded anew", async () => {
      const mirror = await openMirror({ store: openStore() });
      const timed = Array.from({ length: 4000 }, (_, index) =>
        delivery("contract.received", { id: `e-${index}`, seconds: index, status: "Escrow" }),
      );
      for (let start = 0; start < timed.length; start += 500)
        await Promise.all(timed.slice(start, start + 500).map((each) => mirror.receive(each)));
      let turns = 0;
      const turn = () => {
        turns++;
        waiting = setImmediate(turn);
      };
      let waiting = setImmediate(turn);
      await mirror.receive(delivery("contract.created", { id: "late", seconds: -1 }));
      const whileReceiving = turns;
      await mirror.rebuild();
      clearImmediate(waiting);
      expect(whileReceiving).toBeGreaterThan(3);
      expect(turns - whileReceiving).toBeGreaterThan(1);
    });
  });
}
