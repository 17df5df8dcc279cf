/** A job or a handler that is removed in the same moment as something else is done with it. */
import { expect, it } from "vitest";
import { PermanentError, RetryAfterError } from "../../src/handlers/errors.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";
import { freshSchema, postgresUrl, run } from "../support/postgres.ts";
import { openHeld } from "./held.ts";

const created = delivery("contract.created", { id: "wh-1", seconds: 0, contractId: "CNT-1" });
const fail = (): never => {
  throw new PermanentError("always");
};

it("gets no job of a replay", async () => {
  const { mirror, removeHandler, waiting, release } = await openHeld();
  mirror.on("contract.created", () => undefined, { name: "removed" });
  await mirror.receive(created);
  await mirror.jobs.runOnce();
  const [stored] = (await mirror.deliveries.list()).items;
  await removeHandler("removed");
  const replaying = mirror.deliveries.replay(stored?.id ?? "");
  await Promise.race([replaying, waiting(1)]);
  await release();
  expect(await replaying).toBe(0);
  expect((await mirror.jobs.list({ state: "due" })).items).toEqual([]);
});

it("gets no job of a dead one", async () => {
  const { mirror, removeHandler, waiting, release } = await openHeld();
  mirror.on("contract.created", fail, { name: "fails" });
  mirror.on("job-dead", () => undefined, { name: "removed" });
  await mirror.receive(created);
  await removeHandler("removed");
  const running = mirror.jobs.runOnce();
  await Promise.race([running, waiting(1)]);
  await release();
  await running;
  expect((await mirror.jobs.list({ state: "dead" })).items).toMatchObject([{ handler: "fails" }]);
  expect((await mirror.jobs.list({ handler: "removed" })).items).toEqual([]);
});

it("leaves no job that failed while another was being removed", async () => {
  const { mirror, other, holdJob, waiting, release } = await openHeld(2);
  let failNow: (() => void) | undefined;
  const failOnce = (): Promise<void> =>
    new Promise((_, reject) => (failNow = () => reject(new RetryAfterError("later", 60))));
  mirror.on("contract.created", failOnce, { name: "removed" });
  await mirror.receive(created);
  const running = mirror.jobs.runOnce();
  await expect.poll(() => failNow).toBeDefined();
  await other.receive(delivery("contract.created", { id: "wh-2", seconds: 0, contractId: "CNT-2" }));
  const [idle] = (await mirror.jobs.list({ state: "due" })).items;
  await holdJob(idle?.id ?? "");
  const removing = other.handlers.remove("removed");
  await waiting(1);
  failNow?.();
  await expect.poll(async () => (await mirror.jobs.list({ state: "running" })).items).toEqual([]);
  await release();
  await Promise.all([running, removing]);
  expect((await mirror.jobs.list()).items).toEqual([]);
});

it("holds up no registration and no commit while it waits for a job that runs in a transaction", async () => {
  const { mirror, other, holdJob, waiting, release } = await openHeld();
  let end: (() => void) | undefined;
  mirror.on("contract.created", () => new Promise<void>((resolve) => (end = resolve)), { name: "removed" });
  await mirror.receive(created);
  const running = mirror.jobs.runOnce();
  await expect.poll(() => end).toBeDefined();
  const [job] = (await mirror.jobs.list({ state: "running" })).items;
  await holdJob(job?.id ?? "");
  const removing = other.handlers.remove("removed");
  await waiting(1);
  mirror.on("contract.approved", () => undefined, { name: "new" });
  const approved = delivery("contract.approved", { id: "wh-2", seconds: 1, contractId: "CNT-1" });
  expect(await mirror.receive(approved)).toMatchObject({ status: 200 });
  await release();
  await removing;
  expect((await mirror.jobs.list({ handler: "removed" })).items).toEqual([]);
  end?.();
  await running;
});

it("a dead job that is retried while it is pruned is owed again", async () => {
  const { mirror, other, clock, holdJob, waiting, release } = await openHeld();
  mirror.on("contract.created", fail, { name: "mail" });
  await mirror.receive(created);
  await mirror.jobs.runOnce();
  const [dead] = (await mirror.jobs.list({ state: "dead" })).items;
  clock.advance(1000);
  await holdJob(dead?.id ?? "");
  const retrying = other.jobs.retry(dead?.id ?? "");
  await waiting(1);
  const pruning = mirror.prune({ jobs: 0 });
  await waiting(2);
  await release();
  await Promise.all([retrying, pruning]);
  expect((await mirror.jobs.list()).items).toMatchObject([{ handler: "mail", state: "due" }]);
});

it("a redaction goes on though a handler is removed whose job it is about to erase", async () => {
  const { mirror, other, holdJob, waiting, release } = await openHeld();
  mirror.on("contract.created", fail, { name: "mail" });
  await mirror.receive(created);
  await mirror.jobs.runOnce();
  const [dead] = (await mirror.jobs.list({ state: "dead" })).items;
  await holdJob(dead?.id ?? "");
  const removing = other.handlers.remove("mail");
  await waiting(1);
  const redacting = mirror.redact("CNT-1");
  await waiting(2);
  await release();
  await removing;
  expect(await redacting).toMatchObject({ known: true });
});

it("makes room for a new one where it was done, and pruned while the handler reads its delivery again", async () => {
  const schema = freshSchema();
  const mirror = await openMirror({
    store: postgres({ connectionString: postgresUrl, schema }),
    jobs: { run: false },
  });
  const seen: string[] = [];
  const register = () =>
    mirror.on("*", ({ contractId }) => void seen.push(contractId), { name: "mail", since: new Date(0) });
  register();
  await mirror.receive(created);
  await mirror.jobs.runOnce();
  await mirror.handlers.remove("mail");
  // Prunes between an insert and the statement that looks for what the insert met.
  await run(
    `create function "${schema}".prune_done() returns trigger language plpgsql as $$
       begin delete from "${schema}".jobs where state = 'done'; return null; end $$;
     create trigger prunes after insert on "${schema}".jobs
       for each statement execute function "${schema}".prune_done()`,
  );
  register();
  await mirror.jobs.runOnce();
  expect(seen).toEqual(["CNT-1", "CNT-1"]);
});
