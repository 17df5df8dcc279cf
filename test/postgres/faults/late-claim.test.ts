/** A claim whose commit is not answered in time, and that the server carries out when its process has looked for it already. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/shared/clock.ts";
import { silentLogger } from "../../../src/shared/logger.ts";
import { postgres } from "../../../src/store/postgres/store.ts";
import type { Store } from "../../../src/store/store.ts";
import { delivery } from "../../support/delivery.ts";
import { down } from "../../support/failing-store.ts";
import { openMirror, withTransactions } from "../../support/mirror.ts";
import { freshSchema, postgresUrl } from "../../support/postgres.ts";

/** Of a turn that has claimed jobs. */
const isClaim = (result: unknown): boolean =>
  Array.isArray(result) &&
  result.some((each: unknown) => typeof each === "object" && each !== null && "job" in each);

/** A store with one slow commit: once `isSlow`, that of the next claim. `server` carries it out when it is told to. */
function withSlowCommit(inner: Store, server: Store) {
  const state = { isSlow: false, isLate: false, turnsSince: 0, carryOut: () => {} };
  const slowly: Store["transaction"] = (work) =>
    new Promise((resolve, reject) => {
      const committed = server.transaction(async (tx) => {
        const result = await work(tx);
        if (!isClaim(result)) return result;
        const told = new Promise<void>((carryOut) => Object.assign(state, { carryOut }));
        Object.assign(state, { isSlow: false, isLate: true });
        // The server has it all. Nobody waits for its answer any more.
        reject(down);
        await told;
        return result;
      });
      committed.then(resolve, reject);
    });
  const store = withTransactions(inner, async (work) => {
    if (state.isSlow) return slowly(work);
    const result = await inner.transaction(work);
    if (state.isLate && Array.isArray(result)) state.turnsSince++;
    return result;
  });
  return Object.assign(state, { store });
}

it("its jobs run, though the process has found nothing of it and goes on living", async () => {
  const schema = freshSchema();
  const open = (): Store => postgres({ connectionString: postgresUrl, schema });
  const server = open();
  const commits = withSlowCommit(open(), server);
  const receiver = await openMirror({ store: open(), clock: systemClock, jobs: { run: false } });
  await server.open({ migrate: "auto", logger: silentLogger, clock: systemClock });
  onTestFinished(() => server.close());
  const worker = await openMirror({ store: commits.store, clock: systemClock, jobs: { leaseMs: 6000 } });
  const seen: string[] = [];
  worker.on("*", ({ contractId }) => void seen.push(contractId), { name: "mail" });
  await worker.idle();
  commits.isSlow = true;
  await receiver.receive(delivery("contract.created", { id: "c", seconds: 0 }));
  await expect.poll(() => commits.isLate, { timeout: 20_000 }).toBe(true);
  const lookedAgain = expect.poll(() => commits.turnsSince, { timeout: 20_000 }).toBeGreaterThan(0);
  // On a slow machine the claim has shown that its process lives, too: then all later turns wait for its commit.
  await Promise.race([lookedAgain, sleep(5000)]);
  commits.carryOut();
  await expect.poll(() => seen, { timeout: 30_000 }).toEqual(["CNT-1"]);
  await lookedAgain;
  await worker.idle();
  expect((await receiver.jobs.list()).items).toMatchObject([{ state: "done" }]);
});
