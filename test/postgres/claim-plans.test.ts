/** A claim takes as many jobs as it is asked for, however the server joins them to their rows. */
import { expect, it } from "vitest";
import { silentLogger } from "../../src/shared/logger.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { testClock } from "../support/mirror.ts";
import { freshSchema, postgresUrl, run } from "../support/postgres.ts";

/** A join that may run the choice of jobs once for each row: what it took the first time is passed over the second. */
const nestedLoops = [
  "hashjoin",
  "mergejoin",
  "material",
  "memoize",
  "indexscan",
  "indexonlyscan",
  "bitmapscan",
]
  .map((way) => `-c enable_${way}=off`)
  .join(" ");

it.each([1, 2, 3])("claims %i of five jobs and no more, where joins are nested loops", async (limit) => {
  const connectionString = `${postgresUrl}?options=${encodeURIComponent(nestedLoops)}`;
  const schema = freshSchema();
  const store = postgres({ connectionString, schema });
  await store.open({ migrate: "auto", logger: silentLogger, clock: testClock() });
  const jobs = ["a", "b", "c", "d", "e"].map((jobKey) => ({
    handler: "mail",
    contractId: `CNT-${jobKey}`,
    jobKey,
    contentKey: null,
    webhookId: null,
    payload: null,
  }));
  // As when the statistics were made of a young table.
  await store.transaction((tx) => tx.jobs.insert(jobs.slice(0, 1)));
  await run(`analyze "${schema}".jobs`);
  await store.transaction((tx) => tx.jobs.insert(jobs.slice(1)));
  const claim = { workerId: "w1", handlers: ["mail"], limit, lost: false };
  expect(await store.transaction((tx) => tx.jobs.claim(claim))).toHaveLength(limit);
  await store.close();
});
