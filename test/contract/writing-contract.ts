/** What every store does with rows that are written, and what it refuses. */
import { describe, expect, it } from "vitest";
import { sha256 } from "../support/delivery.ts";
import { eachStore, type StoreContract } from "./each-store.ts";
import { contractRow, deliveryRow, jobRow, payloadRow } from "./rows.ts";

export function describeWriting(contract: StoreContract): void {
  describe("insert", () => {
    const at = eachStore(contract);

    it("says of each row whether it went in, and changes nothing where it did not", async () => {
      const first = deliveryRow("wh-1", { payloadId: "e-1", attempts: 1 });
      expect(await at.insert("deliveries", [first])).toEqual([true]);
      const again = deliveryRow("wh-1", { contentKey: sha256("other"), attempts: 9 });
      const sameContent = deliveryRow("wh-2", { contentKey: first.contentKey });
      const samePayload = deliveryRow("wh-3", { payloadId: "e-1" });
      const free = deliveryRow("wh-4");
      const twin = deliveryRow("wh-4", { contentKey: sha256("twin") });
      expect(await at.insert("deliveries", [again, sameContent, samePayload, free, twin])).toEqual([
        false,
        false,
        false,
        true,
        false,
      ]);
      const stored = await at.store.read((reader) => reader.find("deliveries", { orderBy: ["id"] }));
      expect(stored.map(({ id, attempts }) => [id, attempts])).toEqual([
        ["wh-1", 1],
        ["wh-4", 1],
      ]);
    });

    it("takes any number of nulls in a unique field or in a key", async () => {
      expect(await at.insert("deliveries", [deliveryRow("wh-1"), deliveryRow("wh-2")])).toEqual([true, true]);
      const anomaly = {
        contractId: null,
        position: null,
        kind: "unknown-event",
        milestoneId: null,
        webhookId: null,
        detail: "",
        at: "",
      } as const;
      expect(await at.insert("anomalies", [anomaly, anomaly, { ...anomaly, contractId: "CNT-1" }])).toEqual([
        true,
        true,
        true,
      ]);
      expect(await at.all("anomalies")).toHaveLength(3);
    });

    it("holds each table's key", async () => {
      const job = jobRow();
      expect(await at.insert("jobs", [job, { ...job, jobKey: "l" }, { ...job, handler: "g" }, job])).toEqual([
        true,
        true,
        true,
        false,
      ]);
      const snapshot = {
        kind: "snapshot" as const,
        contractId: "C",
        digest: sha256("s"),
        receivedAt: "",
        facts: {} as never,
      };
      expect(await at.insert("inputs", [snapshot, { ...snapshot, contractId: "D" }, snapshot])).toEqual([
        true,
        true,
        false,
      ]);
    });

    it("numbers rows in the order in which they went in", async () => {
      await at.insert("deliveries", [deliveryRow("z"), deliveryRow("a")]);
      await at.insert("deliveries", [deliveryRow("m")]);
      const rows = await at.store.read((reader) => reader.find("deliveries", { orderBy: ["seq"] }));
      expect(rows.map(({ id }) => id)).toEqual(["z", "a", "m"]);
      expect(new Set(rows.map(({ seq }) => seq)).size).toBe(3);
    });

    it("of nothing is nothing", async () => {
      expect(await at.insert("deliveries", [])).toEqual([]);
    });
  });

  describe("upsert", () => {
    const at = eachStore(contract);

    it("inserts, or replaces the whole row of its key", async () => {
      await at.store.transaction((tx) =>
        tx.upsert("contracts", [contractRow("A", { title: "old", notes: "n" }), contractRow("B")]),
      );
      await at.store.transaction((tx) => tx.upsert("contracts", [contractRow("A", { title: "new" })]));
      const rows = await at.store.read((reader) => reader.find("contracts", { orderBy: ["contractId"] }));
      expect(rows).toMatchObject([{ contractId: "A", title: "new", notes: null }, { contractId: "B" }]);
    });

    it("replaces by a key of two fields, and keeps the row's number", async () => {
      const anomaly = {
        contractId: "C",
        kind: "gap",
        milestoneId: null,
        webhookId: null,
        at: "",
      } as const;
      await at.store.transaction((tx) =>
        tx.upsert("anomalies", [
          { ...anomaly, position: 1, detail: "old" },
          { ...anomaly, position: 2, detail: "two" },
        ]),
      );
      const [before] = await at.store.read((reader) => reader.find("anomalies", { orderBy: ["seq"] }));
      await at.store.transaction((tx) =>
        tx.upsert("anomalies", [{ ...anomaly, position: 1, detail: "new" }]),
      );
      const rows = await at.store.read((reader) => reader.find("anomalies", { orderBy: ["seq"] }));
      expect(rows.map(({ detail }) => detail)).toEqual(["new", "two"]);
      expect(rows[0]?.seq).toBe(before?.seq);
    });

    it("of payloads tells rows apart by both fields of the key", async () => {
      const later = payloadRow({ receivedAt: "2026-05-14T14:30:00.000Z" });
      await at.insert("payloads", [payloadRow(), later]);
      const changed = payloadRow({ body: Buffer.from("changed") });
      await at.store.transaction((tx) => tx.upsert("payloads", [changed]));
      const rows = await at.store.read((reader) => reader.find("payloads", { orderBy: ["receivedAt"] }));
      expect(rows.map(({ body }) => Buffer.from(body).toString())).toEqual(["changed", "x"]);
    });

    it("takes one key twice in one call: the last wins", async () => {
      await at.store.transaction((tx) =>
        tx.upsert("contracts", [contractRow("A", { title: "1" }), contractRow("A", { title: "2" })]),
      );
      expect(await at.all("contracts")).toMatchObject([{ title: "2" }]);
    });
  });

  describe("upsert of deliveries", () => {
    const at = eachStore(contract);

    it("inserts, or replaces the whole row of its id, of two the last", async () => {
      await at.insert("deliveries", [deliveryRow("wh-1", { payloadId: "e-1", reason: "not-json" })]);
      await at.store.transaction((tx) =>
        tx.upsert("deliveries", [
          deliveryRow("wh-1", { payloadId: "e-2", attempts: 2 }),
          deliveryRow("wh-2", { contentKey: sha256("first") }),
          deliveryRow("wh-2", { contentKey: sha256("last"), attempts: 3 }),
        ]),
      );
      const rows = await at.store.read((reader) => reader.find("deliveries", { orderBy: ["id"] }));
      expect(rows).toMatchObject([
        { id: "wh-1", payloadId: "e-2", attempts: 2, reason: null },
        { id: "wh-2", contentKey: sha256("last"), attempts: 3 },
      ]);
      expect(await at.insert("deliveries", [deliveryRow("wh-3", { payloadId: "e-1" })])).toEqual([true]);
      expect(await at.insert("deliveries", [deliveryRow("wh-4", { payloadId: "e-2" })])).toEqual([false]);
    });

    it("of another's content or payload id rejects, and changes nothing", async () => {
      const first = deliveryRow("wh-1", { payloadId: "e-1" });
      await at.insert("deliveries", [first, deliveryRow("wh-2")]);
      for (const row of [
        deliveryRow("wh-3", { contentKey: first.contentKey }),
        deliveryRow("wh-3", { payloadId: "e-1" }),
        deliveryRow("wh-2", { payloadId: "e-1" }),
      ])
        await expect(at.store.transaction((tx) => tx.upsert("deliveries", [row]))).rejects.toThrow();
      expect((await at.all("deliveries")).map(({ id }) => id).sort()).toEqual(["wh-1", "wh-2"]);
    });
  });

  describe("changing rows", () => {
    const at = eachStore(contract);

    it("updateEach sets the given fields of the rows that it names, and no others", async () => {
      await at.insert("deliveries", [
        deliveryRow("wh-1", { secretId: "s" }),
        deliveryRow("wh-2"),
        deliveryRow("wh-3"),
      ]);
      await at.store.transaction(async (tx) => {
        await tx.updateEach("deliveries", "id", [
          { id: "wh-1", attempts: 5, reason: "not-json", facts: { reference: "b" } },
          { id: "wh-2", attempts: 6, reason: null, facts: {} },
        ]);
        await tx.updateEach("deliveries", "id", []);
      });
      const rows = await at.store.read((reader) => reader.find("deliveries", { orderBy: ["id"] }));
      expect(rows).toMatchObject([
        { id: "wh-1", attempts: 5, reason: "not-json", facts: { reference: "b" }, secretId: "s" },
        { id: "wh-2", attempts: 6, reason: null, facts: {} },
        { id: "wh-3", attempts: 1, reason: null, facts: null },
      ]);
    });

    it("updateEach of a row that is not there rejects, and changes nothing", async () => {
      await at.insert("deliveries", [deliveryRow("wh-1")]);
      const rows = ["wh-1", "wh-9"].map((id) => ({ id, attempts: 7 }));
      await expect(
        at.store.transaction((tx) => tx.updateEach("deliveries", "id", rows)),
      ).rejects.toMatchObject({
        code: "store-unavailable",
      });
      expect(await at.all("deliveries")).toMatchObject([{ id: "wh-1", attempts: 1 }]);
    });

    it("remove deletes what meets all conditions, and nothing else", async () => {
      await at.insert("contracts", [
        contractRow("A"),
        contractRow("B"),
        contractRow("C", { status: "Released" }),
      ]);
      const where = [
        { field: "status", op: "=", value: "Escrow" },
        { field: "contractId", op: "in", value: ["A", "C"] },
      ] as const;
      await at.store.transaction((tx) => tx.remove("contracts", where));
      expect((await at.all("contracts")).map(({ contractId }) => contractId).sort()).toEqual(["B", "C"]);
    });
  });
}
