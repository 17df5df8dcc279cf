/** An event whose job is added while the head of its line ends, by another process's connection, is run: no line is left waiting. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { systemClock } from "../../src/shared/clock.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";
import { createRandom } from "./random.ts";
import { chooseSeed, report, secondsSince } from "./report.ts";

const races = Number(process.env["RACES"] ?? 50);
/** About as long as a commit takes. */
const jitterMs = 4;

it(
  "on Postgres an event that is inserted while its line's head completes is run",
  { timeout: 60_000 + races * 200 },
  async () => {
    const seed = chooseSeed();
    const random = createRandom(seed);
    const began = performance.now();
    const schema = freshSchema();
    const open = (run: boolean) =>
      openMirror({
        store: postgres({ connectionString: postgresUrl, schema }),
        clock: systemClock,
        jobs: { run },
      });
    const [worker, receiver] = [await open(true), await open(false)];
    const ends = new Map<string, () => void>();
    const started = new Map<string, () => void>();
    const seen: string[] = [];
    const onHead = async (contractId: string): Promise<void> => {
      started.get(contractId)?.();
      await new Promise<void>((resolve) => ends.set(contractId, resolve));
    };
    worker.on(
      "*",
      async ({ event, contractId }) => {
        if (event === "contract.created") await onHead(contractId);
        seen.push(`${contractId} ${event}`);
      },
      { name: "line" },
    );
    await worker.idle();

    for (let race = 0; race < races; race++) {
      const contractId = `CNT-${race}`;
      const isStarted = new Promise<void>((resolve) => started.set(contractId, resolve));
      await worker.receive(delivery("contract.created", { id: `c${race}`, seconds: 0, contractId }));
      await isStarted;
      const next = delivery("contract.approved", { id: `a${race}`, seconds: 1, contractId });
      const lead = (random.next() - 0.5) * 2 * jitterMs;
      const end = async (): Promise<void> => {
        await sleep(Math.max(0, lead));
        ends.get(contractId)?.();
      };
      const insert = async (): Promise<void> => {
        await sleep(Math.max(0, -lead));
        await receiver.receive(next);
      };
      await Promise.all([end(), insert()]);
    }
    await worker.idle();

    report({
      what: "events inserted while their line's head completes, on Postgres",
      seed,
      seconds: secondsSince(began),
      counts: { races },
    });
    expect((await worker.jobs.list({ state: "waiting" })).items).toEqual([]);
    const expected = Array.from({ length: races }, (_, race) =>
      ["contract.created", "contract.approved"].map((event) => `CNT-${race} ${event}`),
    );
    expect([...seen].sort()).toEqual(expected.flat().sort());
  },
);
