/** Transactions, savepoints and reads of every store: what commits together, and what is seen of it. */
import { describe, expect, it } from "vitest";
import type { ContractRow } from "../../src/store/tables/contracts.ts";
import { settle } from "../support/mirror.ts";
import { eachStore, type StoreContract } from "./each-store.ts";
import { contractRow } from "./rows.ts";

export function describeTransactions(contract: StoreContract): void {
  describe("a transaction", () => {
    const at = eachStore(contract);

    it("gives back what its work gives", async () => {
      expect(await at.store.transaction(async () => 7)).toBe(7);
    });

    it("that rejects leaves nothing, and rejects with the same error", async () => {
      const fault = new Error("fault");
      const work = at.store.transaction(async (tx) => {
        await tx.insert("contracts", [contractRow("A")]);
        await tx.upsert("contracts", [contractRow("B")]);
        throw fault;
      });
      await expect(work).rejects.toBe(fault);
      expect(await at.all("contracts")).toEqual([]);
      await at.insert("contracts", [contractRow("A")]);
      expect(await at.all("contracts")).toHaveLength(1);
    });

    it("runs alone: others wait their turn", async () => {
      const seen: string[] = [];
      const one = (who: string) =>
        at.store.transaction(async (tx) => {
          seen.push(`${who} begins`);
          const before = (await tx.find("contracts")).length;
          await settle(3);
          await tx.insert("contracts", [contractRow(`${who}${before}`)]);
          seen.push(`${who} ends`);
        });
      await Promise.all([one("a"), one("b"), one("c")]);
      expect(seen).toEqual(["a", "b", "c"].flatMap((each) => [`${each} begins`, `${each} ends`]));
      expect((await at.all("contracts")).map(({ contractId }) => contractId).sort()).toEqual([
        "a0",
        "b1",
        "c2",
      ]);
    });
  });

  describe("a savepoint", () => {
    const at = eachStore(contract);

    it("that rejects undoes its own writes and lets the transaction go on", async () => {
      await at.store.transaction(async (tx) => {
        await tx.insert("contracts", [contractRow("A"), contractRow("B")]);
        const work = tx.savepoint(async () => {
          await tx.insert("contracts", [contractRow("C")]);
          await tx.updateEach("contracts", "contractId", [{ contractId: "A", title: "changed" }]);
          await tx.remove("contracts", [{ field: "contractId", op: "=", value: "B" }]);
          throw new Error("fault");
        });
        await expect(work).rejects.toThrow("fault");
        await tx.insert("contracts", [contractRow("D")]);
      });
      const rows = await at.store.read((reader) => reader.find("contracts", { orderBy: ["contractId"] }));
      expect(rows.map(({ contractId, title }) => [contractId, title])).toEqual([
        ["A", null],
        ["B", null],
        ["D", null],
      ]);
    });

    it("that resolves gives its result and keeps its writes", async () => {
      const result = await at.store.transaction((tx) =>
        tx.savepoint(async () => {
          await tx.insert("contracts", [contractRow("A")]);
          return 7;
        }),
      );
      expect(result).toBe(7);
      expect(await at.all("contracts")).toHaveLength(1);
    });

    it("nests: an inner one undoes the inner, an outer one both", async () => {
      await at.store.transaction(async (tx) => {
        await tx.savepoint(async () => {
          await tx.insert("contracts", [contractRow("outer")]);
          await tx
            .savepoint(async () => {
              await tx.insert("contracts", [contractRow("inner")]);
              throw new Error("fault");
            })
            .catch(() => undefined);
        });
        await tx
          .savepoint(async () => {
            await tx.savepoint(async () => {
              await tx.insert("contracts", [contractRow("kept inside")]);
            });
            throw new Error("fault");
          })
          .catch(() => undefined);
      });
      expect((await at.all("contracts")).map(({ contractId }) => contractId)).toEqual(["outer"]);
    });

    it("goes with its transaction", async () => {
      const work = at.store.transaction(async (tx) => {
        await tx.savepoint(async () => {
          await tx.insert("contracts", [contractRow("A")]);
        });
        throw new Error("fault");
      });
      await expect(work).rejects.toThrow("fault");
      expect(await at.all("contracts")).toEqual([]);
    });
  });

  describe("a read", () => {
    const at = eachStore(contract);

    it("never sees what is not committed", async () => {
      let seen: Promise<ContractRow[]> | undefined;
      await at.store.transaction(async (tx) => {
        await tx.insert("contracts", [contractRow("A")]);
        seen = at.all("contracts");
        await settle(3);
        await tx.remove("contracts", [{ field: "contractId", op: "=", value: "A" }]);
      });
      expect(await seen).toEqual([]);
    });

    it("sees what is committed", async () => {
      await at.insert("contracts", [contractRow("A")]);
      expect(await at.all("contracts")).toHaveLength(1);
    });

    it("keeps one view to its end, though others commit meanwhile", async () => {
      await at.insert("contracts", [contractRow("A")]);
      let committed: Promise<unknown> = Promise.resolve();
      const counts = await at.store.read(async (reader) => {
        const first = (await reader.find("contracts")).length;
        committed = at.insert("contracts", [contractRow("B")]);
        await settle();
        return [first, (await reader.find("contracts")).length];
      });
      await committed;
      expect(counts).toEqual([1, 1]);
      expect(await at.all("contracts")).toHaveLength(2);
    });

    it("that rejects rejects with the same error, and the next one works", async () => {
      const fault = new Error("fault");
      await expect(at.store.read(() => Promise.reject(fault))).rejects.toBe(fault);
      expect(await at.all("contracts")).toEqual([]);
    });
  });
}
