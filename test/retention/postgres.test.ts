import { describe, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import { PermanentError } from "../../src/handlers/errors.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { delivery } from "../support/delivery.ts";
import { openHeld } from "../postgres/held.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";
import { describePerson } from "./person-contract.ts";
import { describePrune } from "./prune-contract.ts";
import { describeRedact, dumpOf, sentinel } from "./redact-contract.ts";

const kind = {
  name: "postgres",
  create: () => postgres({ connectionString: postgresUrl, schema: freshSchema() }),
};
describePrune(kind);
describeRedact(kind);
describePerson(kind);

const of = (contractId: string) =>
  delivery("contract.created", { id: contractId, contractId, seconds: 0, reference: sentinel });

/** A handler of each contract that fails with the person's name, all in one moment. */
function failTogether(mirror: Mirror, count: number): Promise<void> {
  let [begun, go] = [0, (): void => {}];
  const all = new Promise<void>((resolve) => (go = resolve));
  return new Promise((resolve) => {
    const fails = async (): Promise<never> => {
      if (++begun === count) resolve();
      await all;
      throw new PermanentError(`${sentinel} can't be mailed`);
    };
    mirror.on("contract.created", fails, { name: "fails" });
    mirror.on("job-dead", async () => undefined, { name: "hears" });
    failNow = go;
  });
}
let failNow = (): void => {};

describe("on postgres, in one moment with a redaction", () => {
  it("a run whose end is written after it brings nothing back, though it began before", async () => {
    const { store, mirror, other, holdJob, release, waiting } = await openHeld();
    const running = failTogether(mirror, 2);
    for (const id of ["CNT-0", "CNT-1"]) await mirror.receive(of(id));
    const jobs = mirror.jobs.runOnce();
    await running;
    const { items } = await mirror.jobs.list({ state: "running" });
    const first = items.find(({ contractId }) => contractId === "CNT-0");
    await holdJob(first?.id ?? "");
    failNow();
    await waiting(1);
    await other.redact("CNT-1");
    await release();
    await jobs;
    await mirror.redact("CNT-0");
    expect((await mirror.jobs.list({ state: "dead" })).items).toHaveLength(2);
    expect(await dumpOf(store)).not.toContain(sentinel);
  });

  it("a job that tells of a dead one has no error of it", async () => {
    const { store, mirror, other, holdLines, release, waiting } = await openHeld();
    const running = failTogether(mirror, 1);
    await mirror.receive(of("CNT-1"));
    const jobs = mirror.jobs.runOnce();
    await running;
    await holdLines("CNT-1");
    failNow();
    await waiting(1);
    const redacting = other.redact("CNT-1");
    await waiting(2);
    await release();
    await Promise.all([jobs, redacting]);
    expect((await mirror.jobs.list({ handler: "hears" })).items).toHaveLength(1);
    expect(await dumpOf(store)).not.toContain(sentinel);
  });
});

describe("on postgres, in one moment with a prune", () => {
  it.each(["a replay", "a retry", "a new handler"])("%s has the body that it began with", async (what) => {
    const { mirror, other, clock, holdLines, release, waiting } = await openHeld();
    const seen: unknown[] = [];
    const sees = async ({ raw }: { readonly raw: unknown }): Promise<void> => {
      seen.push(raw);
      if (what === "a retry" && seen.length === 1) throw new PermanentError("not yet");
    };
    const sent = of("CNT-1");
    if (what !== "a new handler") mirror.on("contract.created", sees, { name: "sees" });
    await mirror.receive(sent);
    await mirror.jobs.runOnce();
    seen.length = 0;
    clock.advance(1000);
    await holdLines("CNT-1");
    const again = async (): Promise<unknown> => {
      const [dead] = (await mirror.jobs.list({ state: "dead" })).items;
      if (what === "a retry") return mirror.jobs.retry(dead?.id ?? "");
      const [stored] = (await mirror.deliveries.list()).items;
      if (what === "a replay") return mirror.deliveries.replay(stored?.id ?? "");
      mirror.on("contract.created", sees, { name: "new", since: "2020-01-01T00:00:00Z" });
      return mirror.idle();
    };
    const adding = again();
    await waiting(1);
    const pruning = other.prune({ payloads: 0 });
    await Promise.race([pruning, waiting(2)]);
    await release();
    await Promise.all([adding, pruning]);
    await mirror.jobs.runOnce();
    expect(seen).toEqual([JSON.parse(String(sent.body))]);
  });
});
