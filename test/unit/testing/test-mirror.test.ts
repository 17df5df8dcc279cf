import { expect, it } from "vitest";
import { sqlite } from "../../../src/sqlite.ts";
import { buildEvent, createTestMirror } from "../../../src/testing.ts";

it("runs handlers in idle alone, and a failed one again once its time has come", async () => {
  const { mirror, clock, deliver } = await createTestMirror();
  const attempts: number[] = [];
  mirror.on(
    "payment.completed",
    (_, { attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) throw new Error("not yet");
    },
    { name: "ship" },
  );
  await deliver(buildEvent("payment.completed"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(attempts).toEqual([]);
  await mirror.idle();
  await mirror.idle();
  expect(attempts).toEqual([1]);
  await clock.advance(1000);
  await mirror.idle();
  expect(attempts).toEqual([1, 2]);
  await mirror.close();
});

it("takes another store, for handlers inside the transaction and for SQL", async () => {
  await using opened = await createTestMirror({ store: sqlite(":memory:") });
  const { mirror, deliver } = opened;
  const heard: string[] = [];
  mirror.inTransaction("contract.created", ({ contractId }) => heard.push(contractId), { name: "ledger" });
  await deliver(buildEvent("contract.created", { data: { contractId: "CNT-1" } }));
  expect(heard).toEqual(["CNT-1"]);
  expect(await mirror.db.selectFrom("contracts").select("contract_id").execute()).toHaveLength(1);
});

it("stands still until its clock is moved", async () => {
  const { mirror, clock, deliver } = await createTestMirror({ startMs: 0 });
  await clock.advance(5000);
  await deliver(buildEvent("contract.created", { data: { contractId: "CNT-1" } }));
  expect(await mirror.contracts.get("CNT-1")).toMatchObject({ changedAt: "1970-01-01T00:00:05.000Z" });
  await mirror.close();
});
