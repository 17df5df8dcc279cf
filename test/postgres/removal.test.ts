/** A handler that is removed in the same moment as it is owed a job. */
import { expect, it } from "vitest";
import { PermanentError } from "../../src/handlers/errors.ts";
import { delivery } from "../support/delivery.ts";
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
