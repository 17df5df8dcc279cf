/** Reconciling many contracts. `SOAK=1` has 2,000 and 10,000 of them, compares the memory, and prints how long the loop was held. */
import { expect, it } from "vitest";
import type { MirrorClient } from "../../src/reconcile/mirror-client.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { noonMs } from "../support/delivery.ts";
import { openMirror, temporaryFile, testClock } from "../support/mirror.ts";
import { startMeasuring } from "./measure.ts";

const isSoak = process.env["SOAK"] !== undefined;
const [few, many] = isSoak ? [2000, 10_000] : [100, 400];

const staleReads = 20;

const unused = (): never => expect.fail("only reads are asked for");

/** The service, which counts its reads. It answers once for each of `stale` as if from before the contract was approved. */
function serving(reads: Map<string, number>, status: () => string, stale: Set<string>): MirrorClient {
  return {
    contracts: {
      create: unused,
      refund: unused,
      renewCheckout: unused,
      get: async (contractId, { onAnswer } = {}) => {
        reads.set(contractId, (reads.get(contractId) ?? 0) + 1);
        onAnswer?.({ status: 200, date: new Date(noonMs).toUTCString(), tookMs: 0, attempts: 1 });
        const title = `Title of ${contractId}`;
        return stale.delete(contractId)
          ? { contractId, status: "pending", title, updatedDate: new Date(noonMs - 3_600_000).toISOString() }
          : { contractId, status: status(), title };
      },
    },
    webhooks: {
      async *allLogs() {},
    },
  };
}

function* idsOf(count: number): Generator<string> {
  for (let at = 0; at < count; at++) yield `CNT-${String(at).padStart(6, "0")}`;
}

/** Reconciles so many contracts, none of which is as the mirror has it. */
async function reconcileSo(count: number) {
  const reads = new Map<string, number>();
  let status = "Approved";
  const clock = testClock();
  const stale = new Set<string>();
  const client = serving(reads, () => status, stale);
  const mirror = await openMirror({ store: sqlite(temporaryFile()), client, clock });
  await mirror.contracts.import(idsOf(count), { perSecondMax: 10_000 });
  status = "Escrow";
  clock.advance(3_600_000);
  reads.clear();
  for (const id of idsOf(staleReads)) stale.add(id);
  const measuring = startMeasuring();
  const { checked } = await mirror.reconcile({
    perSecondMax: 10_000,
    onProgress: (progress) => {
      if (isSoak && progress.checked % 500 === 0) measuring.look();
    },
  });
  return { checked, reads, ...measuring.end() };
}

const memory = isSoak ? ", in memory that does not grow with their number" : "";

it(`reads each of ${many} contracts once, and those whose answer was stale once more${memory}`, async () => {
  const small = await reconcileSo(few);
  const large = await reconcileSo(many);
  expect([small.checked, large.checked]).toEqual([few, many]);
  expect(large.reads.size).toBe(many);
  const more = [...large.reads].filter(([, count]) => count > 1);
  expect(more).toEqual([...idsOf(staleReads)].map((id) => [id, 2]));
  if (!isSoak) return;
  console.log(
    `heap above the start: ${few} contracts ${small.highest} bytes, ${many} contracts ${large.highest} bytes;`,
    `the loop held at most ${small.heldMs.toFixed(1)} and ${large.heldMs.toFixed(1)} ms`,
  );
  // The counting map of this test and the listed drift (1,000 rows in both) are in it.
  expect(large.highest).toBeLessThan(small.highest + 4 * 1_048_576);
}, 300_000);
