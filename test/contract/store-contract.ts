/** What every store does, whatever it is made of: one suite, given a way to make an empty store. */
import { describe, expect, it } from "vitest";
import { tables, type TableName } from "../../src/store/tables.ts";
import { settle } from "../support/mirror.ts";
import { eachStore, opening, type StoreContract } from "./each-store.ts";
import { describeReading } from "./reading-contract.ts";
import { contractRow } from "./rows.ts";
import { describeTransactions } from "./transactions-contract.ts";
import { describeValues } from "./values-contract.ts";
import { describeWalk } from "./walk-contract.ts";
import { describeWriting } from "./writing-contract.ts";

export function describeStore(contract: StoreContract): void {
  describe(`the store: ${contract.name}`, () => {
    describeReading(contract);
    describeWalk(contract);
    describeWriting(contract);
    describeTransactions(contract);
    describeValues(contract);
    describeLife(contract);
  });
}

function describeLife(contract: StoreContract): void {
  describe("from its opening to its end", () => {
    const at = eachStore(contract);

    it("has every table, empty", async () => {
      for (const table of Object.keys(tables) as TableName[]) expect(await at.all(table)).toEqual([]);
    });

    it("can be opened again without any change", async () => {
      await at.insert("contracts", [contractRow("A")]);
      await at.store.open(opening);
      await at.store.open({ ...opening, migrate: "check" });
      expect(await at.all("contracts")).toHaveLength(1);
    });

    it("rejects with closed once it is closed, and lets what runs finish first", async () => {
      let inserted: boolean[] = [];
      const running = at.store.transaction(async (tx) => {
        await settle(3);
        inserted = await tx.insert("contracts", [contractRow("A")]);
      });
      await Promise.all([running, at.store.close()]);
      expect(inserted).toEqual([true]);
      await expect(at.store.transaction(async () => undefined)).rejects.toMatchObject({
        code: "closed",
      });
      await expect(at.all("contracts")).rejects.toMatchObject({ code: "closed" });
      await at.store.close();
    });
  });
}
