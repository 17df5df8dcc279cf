import { rmSync } from "node:fs";
import { join } from "node:path";
import { createMirror, type Mirror } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { deliveriesPerContract, makeDeliveries, receiveAll, secret } from "./deliveries.ts";
import { atMost, median, microseconds, microsecondsEach, withFolder, type Figure } from "./stopwatch.ts";

const slice = 10_000;
const rounds = 9;

/**
 * What one more delivery costs, and what memory the process holds, when few and when many are stored. A machine's speed
 * changes within the minutes that filling a store takes, so the two are measured side by side at the end: in each round a
 * slice into a fresh store that holds 10,000, and one into the store that holds `total`.
 */
export async function benchSize(total: number, onProgress: (stored: number) => void): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const many = await openFilling(join(folder, "many.db"));
    let residentAtTenth = 0;
    for (let stored = 0; stored < total; stored += slice) {
      await many.receiveSlice();
      if (stored + slice === total / 10) residentAtTenth = residentMegabytes();
      onProgress(stored + slice);
    }
    const resident = residentMegabytes();
    const costs: { few: number; many: number }[] = [];
    for (let round = 0; round < rounds; round++)
      costs.push({ few: await costOfFew(join(folder, "few.db")), many: await many.receiveSlice() });
    await many.mirror.close();
    return [costFigure(total, costs), memoryFigure(total, residentAtTenth, resident)];
  });
}

interface Filling {
  readonly mirror: Mirror;
  /** Microseconds that each delivery of the next slice took. */
  receiveSlice(): Promise<number>;
}

async function openFilling(path: string): Promise<Filling> {
  const mirror = await createMirror({ store: sqlite(path), webhook: { secrets: secret } });
  let received = 0;
  const receiveSlice = (): Promise<number> => {
    const deliveries = [...makeDeliveries(slice, received / deliveriesPerContract)];
    received += slice;
    globalThis.gc?.();
    return microsecondsEach(slice, () => receiveAll(mirror, deliveries));
  };
  return { mirror, receiveSlice };
}

async function costOfFew(path: string): Promise<number> {
  const few = await openFilling(path);
  await few.receiveSlice();
  const cost = await few.receiveSlice();
  await few.mirror.close();
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
  return cost;
}

function costFigure(total: number, costs: readonly { few: number; many: number }[]): Figure {
  return atMost(1.6, {
    what: `a delivery with ${total.toLocaleString("en")} stored`,
    measured: microseconds(median(costs.map(({ many }) => many))),
    against: `with ${slice.toLocaleString("en")} stored: ${microseconds(median(costs.map(({ few }) => few)))}`,
    ratio: median(costs.map(({ few, many }) => many / few)),
  });
}

function memoryFigure(total: number, residentAtTenth: number, resident: number): Figure {
  return atMost(1.2, {
    what: `resident memory after ${total.toLocaleString("en")} deliveries`,
    measured: `${resident.toFixed(0)} MB`,
    against: `after ${(total / 10).toLocaleString("en")}: ${residentAtTenth.toFixed(0)} MB`,
    ratio: resident / residentAtTenth,
  });
}

function residentMegabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 1e6;
}
