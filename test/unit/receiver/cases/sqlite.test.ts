/** Cases from public bug reports: SQLite. */
import { statSync } from "node:fs";
import { expect } from "vitest";
import type { Mirror } from "../../../../src/mirror/create-mirror.ts";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { casesOf } from "../../../support/cases.ts";
import { delivery } from "../../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../../support/mirror.ts";

const testCase = casesOf("sqlite");

testCase(
  "Async callback in a synchronous SQLite transaction",
  "write, await, write, throw: nothing remains",
  async () => {
    const store = sqlite(":memory:");
    const mirror = await openMirror({ store });
    await mirror.receive(delivery("contract.created", { id: "1", seconds: 0 }));
    const work = store.transaction(async (tx) => {
      await tx.updateEach("contracts", "contractId", [{ contractId: "CNT-1", title: "one" }]);
      await new Promise((resolve) => setImmediate(resolve));
      await tx.updateEach("contracts", "contractId", [{ contractId: "CNT-1", notes: "two" }]);
      throw new Error("fault");
    });
    await expect(work).rejects.toThrow("fault");
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({ title: null, notes: null });
  },
);

testCase(
  "WAL file grows without bound",
  "a listing that goes on while thousands of deliveries arrive holds no long read, and the file stays small",
  async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    const pad = "x".repeat(10_000);
    let largest = 0;
    let cursor: string | null = null;
    for (let round = 0; round < 30; round++) {
      await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          mirror.receive(
            delivery("contract.created", {
              id: `${round}-${index}`,
              seconds: 0,
              contractId: `C-${round}-${index}`,
              pad,
            }),
          ),
        ),
      );
      const page: Awaited<ReturnType<Mirror["contracts"]["list"]>> = await mirror.contracts.list({
        limit: 20,
        cursor,
      });
      cursor = page.nextCursor;
      largest = Math.max(largest, statSync(`${file}-wal`).size);
    }
    await mirror.close();
    expect(statSync(file).size).toBeGreaterThan(32 * 1024 * 1024);
    expect(largest).toBeLessThan(24 * 1024 * 1024);
  },
);
