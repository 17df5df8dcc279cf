/** One refund id on many contracts: a service that sends "0" for every refund. */
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { Store } from "../../src/store/store.ts";
import { at, delivery, type EventShape } from "./delivery.ts";
import { openMirror } from "./mirror.ts";
import { recording } from "./recording-store.ts";

const begun = (contract: number, shape: EventShape = {}) =>
  delivery("refund.full-initiated", {
    id: `i-${contract}`,
    contractId: `CNT-${contract}`,
    seconds: contract,
    transactionId: "0",
    ...shape,
  });

const ended = (contract: number) =>
  delivery("refund.full-succeeded", {
    id: `s-${contract}`,
    contractId: `CNT-${contract}`,
    seconds: 1000 + contract,
    transactionId: "0",
  });

async function flagsOf(mirror: Mirror): Promise<string[]> {
  const { items } = await mirror.anomalies.list({ kind: "refund-id-shared", limit: 500 });
  return items.map(({ contractId, at: time }) => `${contractId} ${time}`).sort();
}

const flagged = (contracts: readonly number[]): string[] =>
  contracts.map((contract) => `CNT-${contract} ${at(contract)}`).sort();

export function describeSharedRefunds(name: string, openStore: () => Store): void {
  describe(`a refund id on several contracts, on ${name}`, () => {
    const contracts = Array.from({ length: 40 }, (_, index) => index + 1);

    it.each<[string, number]>([
      ["one by one", 1],
      ["two at once", 2],
      ["three at once", 3],
      ["all at once", 40],
    ])("flags each of them once, %s", async (_, atOnce) => {
      const mirror = await openMirror({ store: openStore() });
      for (let start = 0; start < contracts.length; start += atOnce) {
        const batch = contracts.slice(start, start + atOnce);
        await Promise.all(batch.map((contract) => mirror.receive(begun(contract))));
        const known = contracts.slice(0, start + atOnce);
        expect(await flagsOf(mirror)).toEqual(known.length === 1 ? [] : flagged(known));
      }
      for (const contract of contracts) await mirror.receive(ended(contract));
      await mirror.rebuild();
      expect(await flagsOf(mirror)).toEqual(flagged(contracts));
    });

    it("gives a flag the time of its contract's refund, whichever webhook of it came first", async () => {
      const mirror = await openMirror({ store: openStore() });
      const [one, two] = [
        [begun(1), ended(1)],
        [begun(2), ended(2)],
      ];
      for (const each of [...two.toReversed(), ...one.toReversed()]) await mirror.receive(each);
      expect(await flagsOf(mirror)).toEqual(flagged([1, 2]));
    });

    it("flags none of several refunds of one contract, and none where the ids differ", async () => {
      const mirror = await openMirror({ store: openStore() });
      await mirror.receive(begun(1));
      await mirror.receive(ended(1));
      await mirror.receive(begun(2, { transactionId: "1" }));
      expect(await flagsOf(mirror)).toEqual([]);
    });

    it("costs the same however many hold it", async () => {
      const { store, read, written, clear } = recording(openStore());
      const mirror = await openMirror({ store });
      const rows: (readonly (number | undefined)[])[] = [];
      for (const contract of contracts) {
        clear();
        await mirror.receive(begun(contract));
        rows.push([read.get("refunds"), read.get("anomalies"), written.get("anomalies")]);
      }
      expect(new Set(rows.slice(4).map(String)).size).toBe(1);
      expect(rows.at(-1)?.[0]).toBeLessThanOrEqual(4);
    });
  });
}
