/** How every store finds rows: by conditions, by the values of a field, by keys. */
import { beforeEach, describe, expect, it } from "vitest";
import type { Condition, Query } from "../../src/store/store.ts";
import type { ContractRow } from "../../src/store/tables/contracts.ts";
import type { PayloadRow } from "../../src/store/tables/deliveries.ts";
import { sha256 } from "../support/delivery.ts";
import { eachStore, type StoreContract } from "./each-store.ts";
import { contractRow, deliveryRow, payloadRow } from "./rows.ts";

const amount = (op: "=" | "<" | "<=" | ">" | ">=", value: number) =>
  ({ field: "amountMinor", op, value }) as const;

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const isEscaped = (text: string): boolean => text.includes("\u0000") || text.includes("\u0001");

export function describeReading(contract: StoreContract): void {
  describe("find", () => {
    const at = eachStore(contract);
    const idsOf = async (query: Query<ContractRow>) =>
      (await at.store.read((reader) => reader.find("contracts", query))).map(({ contractId }) => contractId);
    const contractsWhere = (...where: Condition<ContractRow>[]) => idsOf({ where, orderBy: ["contractId"] });

    beforeEach(async () => {
      await at.insert("contracts", [
        contractRow("A", { amountMinor: 1, reference: "x", status: "Escrow" }),
        contractRow("B", { amountMinor: 2, reference: null, status: "Released" }),
        contractRow("C", { amountMinor: 10, reference: "y", status: "Escrow" }),
        contractRow("D", { amountMinor: null, reference: "z", status: null }),
      ]);
    });

    it.each([
      ["=", amount("=", 2), ["B"]],
      ["<", amount("<", 2), ["A"]],
      ["<=", amount("<=", 2), ["A", "B"]],
      [">", amount(">", 2), ["C"]],
      [">=", amount(">=", 2), ["B", "C"]],
      ["in", { field: "amountMinor", op: "in", value: [1, 10, 99] } as const, ["A", "C"]],
      ["in nothing", { field: "amountMinor", op: "in", value: [] } as const, []],
      ["null", { field: "amountMinor", op: "null" } as const, ["D"]],
      ["not-null", { field: "amountMinor", op: "not-null" } as const, ["A", "B", "C"]],
      ["= on text", { field: "reference", op: "=", value: "y" } as const, ["C"]],
      ["in on text", { field: "status", op: "in", value: ["Escrow"] } as const, ["A", "C"]],
      ["< on text", { field: "reference", op: "<", value: "z" } as const, ["A", "C"]],
    ])("knows the operator %s, which null never meets", async (_, condition, ids) => {
      expect(await contractsWhere(condition)).toEqual(ids);
    });

    it("asks for all of several conditions, and for none gives every row", async () => {
      const escrow = { field: "status", op: "=", value: "Escrow" } as const;
      expect(await contractsWhere(escrow, amount(">", 1))).toEqual(["C"]);
      expect(await contractsWhere()).toEqual(["A", "B", "C", "D"]);
    });

    it("orders by several fields, up or down, and stops at the limit", async () => {
      const where = [{ field: "status", op: "not-null" }] as const;
      expect(await idsOf({ where, orderBy: ["status", "contractId"] })).toEqual(["A", "C", "B"]);
      expect(await idsOf({ where, orderBy: ["status", "contractId"], descending: true })).toEqual([
        "B",
        "C",
        "A",
      ]);
      expect(await idsOf({ orderBy: ["contractId"], limit: 2 })).toEqual(["A", "B"]);
      expect(await idsOf({ orderBy: ["contractId"], limit: 0 })).toEqual([]);
    });

    it("orders numbers as numbers", async () => {
      const where = [{ field: "amountMinor", op: "not-null" }] as const;
      const rows = await at.store.read((reader) =>
        reader.find("contracts", { where, orderBy: ["amountMinor"] }),
      );
      expect(rows.map(({ amountMinor }) => amountMinor)).toEqual([1, 2, 10]);
    });

    it("gives fields that are not asked for as null", async () => {
      await at.insert("deliveries", [deliveryRow("wh-1", { facts: {}, event: "x" })]);
      const without = ["facts", "event"] as const;
      const [found] = await at.store.read((reader) => reader.find("deliveries", { without }));
      expect(found).toMatchObject({ id: "wh-1", facts: null, event: null, secretId: "default" });
    });

    it("compares text by its bytes, not by a locale, its case or UTF-16", async () => {
      const ids = ["Z", "a", "B", "ä", "\uffff", "🎉", "10", "9", "Á", "", "a b", "a\u0000", "a\u0001"];
      await at.insert(
        "secrets",
        ids.map((fingerprint) => ({ fingerprint, secretId: "s", verifiedAt: "" })),
      );
      const rows = await at.store.read((reader) => reader.find("secrets", { orderBy: ["fingerprint"] }));
      const plain = rows.map(({ fingerprint }) => fingerprint).filter((id) => !isEscaped(id));
      expect(plain).toEqual(ids.filter((id) => !isEscaped(id)).sort(byBytes));
      // What no database stores as it is sorts by how it is written, the same on every store.
      expect(rows.map(({ fingerprint }) => fingerprint).filter((id) => isEscaped(id))).toEqual([
        "a\u0001",
        "a\u0000",
      ]);
      const where = [{ field: "fingerprint", op: ">", value: "\uffff" }] as const;
      const above = await at.store.read((reader) => reader.find("secrets", { where }));
      expect(above.map(({ fingerprint }) => fingerprint)).toEqual(["🎉"]);
    });
  });

  describe("lookup", () => {
    const at = eachStore(contract);
    const lookup = (field: "id" | "contentKey" | "contractId", values: string[]) =>
      at.store.transaction(async (tx) =>
        (await tx.lookup("deliveries", field, values)).map(({ id }) => id).sort(),
      );

    it("gives the rows of any of the values, by text or by digest", async () => {
      await at.insert("deliveries", [
        deliveryRow("wh-1"),
        deliveryRow("wh-2"),
        deliveryRow("wh-3", { contractId: "CNT-2" }),
      ]);
      expect(await lookup("id", ["wh-1", "wh-3", "wh-9"])).toEqual(["wh-1", "wh-3"]);
      expect(await lookup("contentKey", [sha256("wh-2")])).toEqual(["wh-2"]);
      expect(await lookup("contractId", ["CNT-1"])).toEqual(["wh-1", "wh-2"]);
      expect(await lookup("id", [])).toEqual([]);
    });

    it("gives of each value no more rows than it is asked for", async () => {
      const holders = ["A", "A", "A", "B", "C", "C"].map((contractId, index) =>
        deliveryRow(`wh-${index}`, { contractId }),
      );
      await at.insert("deliveries", holders);
      for (const [limitEach, contractIds] of [
        [1, "A,B,C"],
        [2, "A,A,B,C,C"],
        [9, "A,A,A,B,C,C"],
      ] as const) {
        const found = await at.store.read((reader) =>
          reader.lookup("deliveries", "contractId", ["A", "B", "C", "D"], [], limitEach),
        );
        expect(String(found.map(({ contractId }) => String(contractId)).sort())).toBe(contractIds);
      }
    });

    it("gives fields that are not asked for as null", async () => {
      await at.insert("payloads", [payloadRow({ headers: { a: "b" } })]);
      const [row] = await at.store.read((reader) =>
        reader.lookup("payloads", "contentKey", [sha256("payload")], ["body"]),
      );
      expect(row).toMatchObject({ contentKey: sha256("payload"), headers: { a: "b" }, body: null });
    });

    it("sees the transaction's own writes", async () => {
      const found = await at.store.transaction(async (tx) => {
        await tx.insert("deliveries", [deliveryRow("wh-1")]);
        return tx.lookup("deliveries", "id", ["wh-1"]);
      });
      expect(found).toHaveLength(1);
    });
  });

  describe("lookupKeys", () => {
    const at = eachStore(contract);

    it("gives the rows of the same keys, by all fields of them", async () => {
      const rows = ["A", "B"].flatMap((receivedAt) =>
        ["one", "two"].map((name) => payloadRow({ contentKey: sha256(name), receivedAt })),
      );
      await at.insert("payloads", rows);
      const asked = [rows[0], rows[3], payloadRow({ contentKey: sha256("one"), receivedAt: "C" })];
      const found = await at.store.read((reader) =>
        reader.lookupKeys("payloads", asked as PayloadRow[], ["body"]),
      );
      const places = found.map(({ contentKey, receivedAt, body }) => [receivedAt, contentKey, body].join());
      expect(places.toSorted(byBytes)).toEqual([`A,${sha256("one")},`, `B,${sha256("two")},`]);
      expect(await at.store.read((reader) => reader.lookupKeys("payloads", []))).toEqual([]);
    });

    it("finds no row by a key with a null in it", async () => {
      const anomaly = { contractId: "CNT-1", position: null };
      expect(await at.store.read((reader) => reader.lookupKeys("anomalies", [anomaly]))).toEqual([]);
    });

    it("sees the transaction's own writes", async () => {
      const found = await at.store.transaction(async (tx) => {
        await tx.upsert("contracts", [contractRow("A", { title: "t" })]);
        return tx.lookupKeys("contracts", [{ contractId: "A" }]);
      });
      expect(found).toMatchObject([{ title: "t" }]);
    });
  });
}
