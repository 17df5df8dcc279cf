import { expect, it } from "vitest";
import { postgres } from "../../src/store/postgres/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";
import { freshSchema, targets } from "../support/postgres.ts";

it.each(targets)("mirror.db on %s reads amounts as numbers, and writes nothing", async (_, target) => {
  const mirror = await openMirror({ store: postgres({ ...target(), schema: freshSchema(), prefix: "e_" }) });
  await mirror.receive(delivery("contract.created", { seconds: 0, amount: "90071992547409.91" }));
  const rows = await mirror.db
    .selectFrom("contracts")
    .innerJoin("deliveries", "deliveries.contract_id", "contracts.contract_id")
    .select(["contracts.amount_minor", "deliveries.attempts", "contracts.status_derived"])
    .execute();
  expect(rows).toEqual([{ amount_minor: 9007199254740991, attempts: 1, status_derived: 0 }]);
  await expect(mirror.db.deleteFrom("contracts").execute()).rejects.toThrow(/read-only/);
  const counted = await mirror.db
    .transaction()
    .execute((trx) => trx.selectFrom("contracts").select("contract_id").execute());
  expect(counted).toEqual([{ contract_id: "CNT-1" }]);
});
