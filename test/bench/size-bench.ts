import { join } from "node:path";
import { createMirror } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { makeDeliveries, secret } from "./deliveries.ts";
import { receiveAll } from "./receive-bench.ts";
import { atMost, median, microseconds, microsecondsEach, withFolder, type Figure } from "./stopwatch.ts";

const slice = 10_000;
const sidebySide = 500;

/**
 * What one more delivery costs, and what memory the process holds, when few and when many are stored. The stream is the
 * same throughout; the cost at a size is the median of the slices around it.
 */
export async function benchSize(total: number, onProgress: (stored: number) => void): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const mirror = await createMirror({
      store: sqlite(join(folder, "mirror.db")),
      webhook: { secrets: secret },
    });
    const cost: number[] = [];
    let residentAtTenth = 0;
    for (let stored = 0; stored < total; stored += slice) {
      const deliveries = [...makeDeliveries(slice, (stored / 5) | 0, sidebySide)];
      cost.push(await microsecondsEach(slice, () => receiveAll(mirror, deliveries)));
      if (stored + slice === total / 10) residentAtTenth = residentMegabytes();
      onProgress(stored + slice);
    }
    const resident = residentMegabytes();
    await mirror.close();
    return toFigures(total, cost, residentAtTenth, resident);
  });
}

function toFigures(total: number, cost: number[], residentAtTenth: number, resident: number): Figure[] {
  // The slices after the first 10,000 and the last ones, as many of each: a single slice is at the mercy of the disk.
  const few = median(cost.slice(1, 6));
  const many = median(cost.slice(-5));
  return [
    atMost(1.3, {
      what: `a delivery with ${total.toLocaleString("en")} stored`,
      measured: microseconds(many),
      against: `with 10,000 stored: ${microseconds(few)}`,
      ratio: many / few,
    }),
    atMost(1.2, {
      what: `resident memory after ${total.toLocaleString("en")} deliveries`,
      measured: `${resident.toFixed(0)} MB`,
      against: `after ${(total / 10).toLocaleString("en")}: ${residentAtTenth.toFixed(0)} MB`,
      ratio: resident / residentAtTenth,
    }),
  ];
}

function residentMegabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 1e6;
}
