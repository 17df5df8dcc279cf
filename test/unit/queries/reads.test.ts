import { expect, it } from "vitest";
import { loadCase } from "../../../src/cli/case/case.ts";
import { readsIn } from "../../../src/queries/reads.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { delivery } from "../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../support/mirror.ts";

it("a case is of one moment, whatever is committed while it is read", async () => {
  const store = sqlite(temporaryFile());
  const mirror = await openMirror({ store });
  const contractId = "CNT-1";
  await mirror.receive(delivery("contract.created", { id: "e-1", seconds: 0, contractId }));
  const found = await store.read(async (reader) => {
    const reads = readsIn(reader);
    expect(await reads.contracts.get(contractId)).toMatchObject({ status: "pending" });
    await mirror.receive(delivery("contract.approved", { id: "e-2", seconds: 1, contractId }));
    return loadCase(reads, contractId);
  });
  expect(found).toMatchObject({ contract: { status: "pending" }, history: [{ to: "pending" }] });
  expect(await mirror.contracts.get(contractId)).toMatchObject({ status: "Approved" });
});
