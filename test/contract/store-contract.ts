/** What every store does, whatever it is made of: one suite, given a way to make an empty store. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EventFacts } from "../../src/events/event.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import type { Condition, NewRow, Query, Store } from "../../src/store/store.ts";
import type { TableName, Tables } from "../../src/store/tables.ts";
import type { ContractRow } from "../../src/store/tables/contracts.ts";
import type { PayloadRow } from "../../src/store/tables/deliveries.ts";
import { tables } from "../../src/store/tables.ts";
import { factsOf, sha256 } from "../support/delivery.ts";
import { settle, testClock } from "../support/mirror.ts";
import { contractRow, deliveryRow, jobRow, payloadRow } from "./rows.ts";
import { describeWalk } from "./walk-contract.ts";

const amount = (op: "=" | "<" | "<=" | ">" | ">=", value: number) =>
  ({ field: "amountMinor", op, value }) as const;

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

export interface StoreContract {
  readonly name: string;
  /** A store of its own, not yet open. */
  create(): Store;
}

const opening = { migrate: "auto", logger: silentLogger, clock: testClock() } as const;

const isEscaped = (text: string): boolean => text.includes("\u0000") || text.includes("\u0001");

const hostileTexts: readonly (readonly [string, string])[] = [
  ["NUL", "a\u0000b"],
  ["a lone high surrogate", "a\ud800b"],
  ["a lone low surrogate", "\udfff"],
  ["surrogates the wrong way round", "\udc00\ud800"],
  ["U+0010, our own escape", "\u0010"],
  ["U+0010 before digits", "\u00100041"],
  ["an emoji", "🎉👩‍👩‍👧"],
  ["right-to-left text", "دفعة ١٢٣"],
  ["a quote, a percent sign and a backslash", `'"%_\\;--`],
  ["line breaks", "a\r\nb\u2028c"],
  ["nothing", ""],
  ["spaces at both ends", "  a  "],
  ["a number's digits", "007"],
  ["a long text", "x".repeat(100_000)],
];

export function describeStore(contract: StoreContract): void {
  describe(`the store: ${contract.name}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = contract.create();
      await store.open(opening);
    });
    afterEach(() => store.close());

    const insert = <Name extends TableName>(table: Name, rows: readonly NewRow<Name>[]) =>
      store.transaction((tx) => tx.insert(table, rows));
    const all = <Name extends TableName>(table: Name): Promise<Tables[Name][]> =>
      store.read((reader) => reader.find(table));
    const idsOf = async (query: Query<ContractRow>) =>
      (await store.read((reader) => reader.find("contracts", query))).map(({ contractId }) => contractId);
    const lookup = (field: "id" | "contentKey" | "contractId", values: string[]) =>
      store.transaction(async (tx) =>
        (await tx.lookup("deliveries", field, values)).map(({ id }) => id).sort(),
      );
    const contractsWhere = async (...where: Condition<ContractRow>[]) => {
      const rows = await store.read((reader) => reader.find("contracts", { where, orderBy: ["contractId"] }));
      return rows.map(({ contractId }) => contractId);
    };

    describe("find", () => {
      beforeEach(async () => {
        await insert("contracts", [
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
        const rows = await store.read((reader) =>
          reader.find("contracts", { where, orderBy: ["amountMinor"] }),
        );
        expect(rows.map(({ amountMinor }) => amountMinor)).toEqual([1, 2, 10]);
      });

      it("gives fields that are not asked for as null", async () => {
        await insert("deliveries", [deliveryRow("wh-1", { facts: {}, event: "x" })]);
        const without = ["facts", "event"] as const;
        const [found] = await store.read((reader) => reader.find("deliveries", { without }));
        expect(found).toMatchObject({ id: "wh-1", facts: null, event: null, secretId: "default" });
      });

      it("compares text by its bytes, not by a locale, its case or UTF-16", async () => {
        const ids = ["Z", "a", "B", "ä", "\uffff", "🎉", "10", "9", "Á", "", "a b", "a\u0000", "a\u0001"];
        await insert(
          "secrets",
          ids.map((fingerprint) => ({ fingerprint, secretId: "s", verifiedAt: "" })),
        );
        const rows = await store.read((reader) => reader.find("secrets", { orderBy: ["fingerprint"] }));
        const plain = rows.map(({ fingerprint }) => fingerprint).filter((id) => !isEscaped(id));
        expect(plain).toEqual(ids.filter((id) => !isEscaped(id)).sort(byBytes));
        // What no database stores as it is sorts by how it is written, the same on every store.
        expect(rows.map(({ fingerprint }) => fingerprint).filter((id) => isEscaped(id))).toEqual([
          "a\u0001",
          "a\u0000",
        ]);
        const where = [{ field: "fingerprint", op: ">", value: "\uffff" }] as const;
        const above = await store.read((reader) => reader.find("secrets", { where }));
        expect(above.map(({ fingerprint }) => fingerprint)).toEqual(["🎉"]);
      });
    });

    describeWalk(contract);

    describe("lookup", () => {
      it("gives the rows of any of the values, by text or by digest", async () => {
        await insert("deliveries", [
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
        await insert("deliveries", holders);
        for (const [limitEach, contractIds] of [
          [1, "A,B,C"],
          [2, "A,A,B,C,C"],
          [9, "A,A,A,B,C,C"],
        ] as const) {
          const found = await store.read((reader) =>
            reader.lookup("deliveries", "contractId", ["A", "B", "C", "D"], [], limitEach),
          );
          expect(String(found.map(({ contractId }) => String(contractId)).sort())).toBe(contractIds);
        }
      });

      it("gives fields that are not asked for as null", async () => {
        await insert("payloads", [payloadRow({ headers: { a: "b" } })]);
        const [row] = await store.read((reader) =>
          reader.lookup("payloads", "contentKey", [sha256("payload")], ["body"]),
        );
        expect(row).toMatchObject({ contentKey: sha256("payload"), headers: { a: "b" }, body: null });
      });

      it("sees the transaction's own writes", async () => {
        const found = await store.transaction(async (tx) => {
          await tx.insert("deliveries", [deliveryRow("wh-1")]);
          return tx.lookup("deliveries", "id", ["wh-1"]);
        });
        expect(found).toHaveLength(1);
      });
    });

    describe("lookupKeys", () => {
      it("gives the rows of the same keys, by all fields of them", async () => {
        const rows = ["A", "B"].flatMap((receivedAt) =>
          ["one", "two"].map((name) => payloadRow({ contentKey: sha256(name), receivedAt })),
        );
        await insert("payloads", rows);
        const asked = [rows[0], rows[3], payloadRow({ contentKey: sha256("one"), receivedAt: "C" })];
        const found = await store.read((reader) =>
          reader.lookupKeys("payloads", asked as PayloadRow[], ["body"]),
        );
        const places = found.map(({ contentKey, receivedAt, body }) => [receivedAt, contentKey, body].join());
        expect(places.toSorted(byBytes)).toEqual([`A,${sha256("one")},`, `B,${sha256("two")},`]);
        expect(await store.read((reader) => reader.lookupKeys("payloads", []))).toEqual([]);
      });

      it("finds no row by a key with a null in it", async () => {
        const anomaly = { contractId: "CNT-1", position: null };
        expect(await store.read((reader) => reader.lookupKeys("anomalies", [anomaly]))).toEqual([]);
      });

      it("sees the transaction's own writes", async () => {
        const found = await store.transaction(async (tx) => {
          await tx.upsert("contracts", [contractRow("A", { title: "t" })]);
          return tx.lookupKeys("contracts", [{ contractId: "A" }]);
        });
        expect(found).toMatchObject([{ title: "t" }]);
      });
    });

    describe("insert", () => {
      it("says of each row whether it went in, and changes nothing where it did not", async () => {
        const first = deliveryRow("wh-1", { payloadId: "e-1", attempts: 1 });
        expect(await insert("deliveries", [first])).toEqual([true]);
        const again = deliveryRow("wh-1", { contentKey: sha256("other"), attempts: 9 });
        const sameContent = deliveryRow("wh-2", { contentKey: first.contentKey });
        const samePayload = deliveryRow("wh-3", { payloadId: "e-1" });
        const free = deliveryRow("wh-4");
        const twin = deliveryRow("wh-4", { contentKey: sha256("twin") });
        expect(await insert("deliveries", [again, sameContent, samePayload, free, twin])).toEqual([
          false,
          false,
          false,
          true,
          false,
        ]);
        const stored = await store.read((reader) => reader.find("deliveries", { orderBy: ["id"] }));
        expect(stored.map(({ id, attempts }) => [id, attempts])).toEqual([
          ["wh-1", 1],
          ["wh-4", 1],
        ]);
      });

      it("takes any number of nulls in a unique field or in a key", async () => {
        expect(await insert("deliveries", [deliveryRow("wh-1"), deliveryRow("wh-2")])).toEqual([true, true]);
        const anomaly = {
          contractId: null,
          position: null,
          kind: "unknown-event",
          milestoneId: null,
          webhookId: null,
          detail: "",
          at: "",
        } as const;
        expect(await insert("anomalies", [anomaly, anomaly, { ...anomaly, contractId: "CNT-1" }])).toEqual([
          true,
          true,
          true,
        ]);
        expect(await all("anomalies")).toHaveLength(3);
      });

      it("holds each table's key", async () => {
        const job = jobRow();
        expect(await insert("jobs", [job, { ...job, jobKey: "l" }, { ...job, handler: "g" }, job])).toEqual([
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
        expect(await insert("inputs", [snapshot, { ...snapshot, contractId: "D" }, snapshot])).toEqual([
          true,
          true,
          false,
        ]);
      });

      it("numbers rows in the order in which they went in", async () => {
        await insert("deliveries", [deliveryRow("z"), deliveryRow("a")]);
        await insert("deliveries", [deliveryRow("m")]);
        const rows = await store.read((reader) => reader.find("deliveries", { orderBy: ["seq"] }));
        expect(rows.map(({ id }) => id)).toEqual(["z", "a", "m"]);
        expect(new Set(rows.map(({ seq }) => seq)).size).toBe(3);
      });

      it("of nothing is nothing", async () => {
        expect(await insert("deliveries", [])).toEqual([]);
      });
    });

    describe("upsert", () => {
      it("inserts, or replaces the whole row of its key", async () => {
        await store.transaction((tx) =>
          tx.upsert("contracts", [contractRow("A", { title: "old", notes: "n" }), contractRow("B")]),
        );
        await store.transaction((tx) => tx.upsert("contracts", [contractRow("A", { title: "new" })]));
        const rows = await store.read((reader) => reader.find("contracts", { orderBy: ["contractId"] }));
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
        await store.transaction((tx) =>
          tx.upsert("anomalies", [
            { ...anomaly, position: 1, detail: "old" },
            { ...anomaly, position: 2, detail: "two" },
          ]),
        );
        const [before] = await store.read((reader) => reader.find("anomalies", { orderBy: ["seq"] }));
        await store.transaction((tx) => tx.upsert("anomalies", [{ ...anomaly, position: 1, detail: "new" }]));
        const rows = await store.read((reader) => reader.find("anomalies", { orderBy: ["seq"] }));
        expect(rows.map(({ detail }) => detail)).toEqual(["new", "two"]);
        expect(rows[0]?.seq).toBe(before?.seq);
      });

      it("of payloads tells rows apart by both fields of the key", async () => {
        const later = payloadRow({ receivedAt: "2026-05-14T14:30:00.000Z" });
        await insert("payloads", [payloadRow(), later]);
        const changed = payloadRow({ body: Buffer.from("changed") });
        await store.transaction((tx) => tx.upsert("payloads", [changed]));
        const rows = await store.read((reader) => reader.find("payloads", { orderBy: ["receivedAt"] }));
        expect(rows.map(({ body }) => Buffer.from(body).toString())).toEqual(["changed", "x"]);
      });

      it("takes one key twice in one call: the last wins", async () => {
        await store.transaction((tx) =>
          tx.upsert("contracts", [contractRow("A", { title: "1" }), contractRow("A", { title: "2" })]),
        );
        expect(await all("contracts")).toMatchObject([{ title: "2" }]);
      });
    });

    describe("upsert of deliveries", () => {
      it("inserts, or replaces the whole row of its id, of two the last", async () => {
        await insert("deliveries", [deliveryRow("wh-1", { payloadId: "e-1", reason: "not-json" })]);
        await store.transaction((tx) =>
          tx.upsert("deliveries", [
            deliveryRow("wh-1", { payloadId: "e-2", attempts: 2 }),
            deliveryRow("wh-2", { contentKey: sha256("first") }),
            deliveryRow("wh-2", { contentKey: sha256("last"), attempts: 3 }),
          ]),
        );
        const rows = await store.read((reader) => reader.find("deliveries", { orderBy: ["id"] }));
        expect(rows).toMatchObject([
          { id: "wh-1", payloadId: "e-2", attempts: 2, reason: null },
          { id: "wh-2", contentKey: sha256("last"), attempts: 3 },
        ]);
        expect(await insert("deliveries", [deliveryRow("wh-3", { payloadId: "e-1" })])).toEqual([true]);
        expect(await insert("deliveries", [deliveryRow("wh-4", { payloadId: "e-2" })])).toEqual([false]);
      });

      it("of another's content or payload id rejects, and changes nothing", async () => {
        const first = deliveryRow("wh-1", { payloadId: "e-1" });
        await insert("deliveries", [first, deliveryRow("wh-2")]);
        for (const row of [
          deliveryRow("wh-3", { contentKey: first.contentKey }),
          deliveryRow("wh-3", { payloadId: "e-1" }),
          deliveryRow("wh-2", { payloadId: "e-1" }),
        ])
          await expect(store.transaction((tx) => tx.upsert("deliveries", [row]))).rejects.toThrow();
        expect((await all("deliveries")).map(({ id }) => id).sort()).toEqual(["wh-1", "wh-2"]);
      });
    });

    it("updateEach sets the given fields of the rows that it names, and no others", async () => {
      await insert("deliveries", [
        deliveryRow("wh-1", { secretId: "s" }),
        deliveryRow("wh-2"),
        deliveryRow("wh-3"),
      ]);
      await store.transaction(async (tx) => {
        await tx.updateEach("deliveries", "id", [
          { id: "wh-1", attempts: 5, reason: "not-json", facts: { reference: "b" } },
          { id: "wh-2", attempts: 6, reason: null, facts: {} },
        ]);
        await tx.updateEach("deliveries", "id", []);
      });
      const rows = await store.read((reader) => reader.find("deliveries", { orderBy: ["id"] }));
      expect(rows).toMatchObject([
        { id: "wh-1", attempts: 5, reason: "not-json", facts: { reference: "b" }, secretId: "s" },
        { id: "wh-2", attempts: 6, reason: null, facts: {} },
        { id: "wh-3", attempts: 1, reason: null, facts: null },
      ]);
    });

    it("updateEach of a row that is not there rejects, and changes nothing", async () => {
      await insert("deliveries", [deliveryRow("wh-1")]);
      const rows = ["wh-1", "wh-9"].map((id) => ({ id, attempts: 7 }));
      await expect(store.transaction((tx) => tx.updateEach("deliveries", "id", rows))).rejects.toMatchObject({
        code: "store-unavailable",
      });
      expect(await all("deliveries")).toMatchObject([{ id: "wh-1", attempts: 1 }]);
    });

    it("remove deletes what meets all conditions, and nothing else", async () => {
      await insert("contracts", [
        contractRow("A"),
        contractRow("B"),
        contractRow("C", { status: "Released" }),
      ]);
      const where = [
        { field: "status", op: "=", value: "Escrow" },
        { field: "contractId", op: "in", value: ["A", "C"] },
      ] as const;
      await store.transaction((tx) => tx.remove("contracts", where));
      expect((await all("contracts")).map(({ contractId }) => contractId).sort()).toEqual(["B", "C"]);
    });

    describe("a transaction", () => {
      it("gives back what its work gives", async () => {
        expect(await store.transaction(async () => 7)).toBe(7);
      });

      it("that rejects leaves nothing, and rejects with the same error", async () => {
        const fault = new Error("fault");
        const work = store.transaction(async (tx) => {
          await tx.insert("contracts", [contractRow("A")]);
          await tx.upsert("contracts", [contractRow("B")]);
          throw fault;
        });
        await expect(work).rejects.toBe(fault);
        expect(await all("contracts")).toEqual([]);
        await insert("contracts", [contractRow("A")]);
        expect(await all("contracts")).toHaveLength(1);
      });

      it("runs alone: others wait their turn", async () => {
        const seen: string[] = [];
        const one = (who: string) =>
          store.transaction(async (tx) => {
            seen.push(`${who} begins`);
            const before = (await tx.find("contracts")).length;
            await settle(3);
            await tx.insert("contracts", [contractRow(`${who}${before}`)]);
            seen.push(`${who} ends`);
          });
        await Promise.all([one("a"), one("b"), one("c")]);
        expect(seen).toEqual(["a", "b", "c"].flatMap((each) => [`${each} begins`, `${each} ends`]));
        expect((await all("contracts")).map(({ contractId }) => contractId).sort()).toEqual([
          "a0",
          "b1",
          "c2",
        ]);
      });
    });

    describe("a savepoint", () => {
      it("that rejects undoes its own writes and lets the transaction go on", async () => {
        await store.transaction(async (tx) => {
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
        const rows = await store.read((reader) => reader.find("contracts", { orderBy: ["contractId"] }));
        expect(rows.map(({ contractId, title }) => [contractId, title])).toEqual([
          ["A", null],
          ["B", null],
          ["D", null],
        ]);
      });

      it("that resolves gives its result and keeps its writes", async () => {
        const result = await store.transaction((tx) =>
          tx.savepoint(async () => {
            await tx.insert("contracts", [contractRow("A")]);
            return 7;
          }),
        );
        expect(result).toBe(7);
        expect(await all("contracts")).toHaveLength(1);
      });

      it("nests: an inner one undoes the inner, an outer one both", async () => {
        await store.transaction(async (tx) => {
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
        expect((await all("contracts")).map(({ contractId }) => contractId)).toEqual(["outer"]);
      });

      it("goes with its transaction", async () => {
        const work = store.transaction(async (tx) => {
          await tx.savepoint(async () => {
            await tx.insert("contracts", [contractRow("A")]);
          });
          throw new Error("fault");
        });
        await expect(work).rejects.toThrow("fault");
        expect(await all("contracts")).toEqual([]);
      });
    });

    describe("a read", () => {
      it("never sees what is not committed", async () => {
        let seen: Promise<ContractRow[]> | undefined;
        await store.transaction(async (tx) => {
          await tx.insert("contracts", [contractRow("A")]);
          seen = all("contracts");
          await settle(3);
          await tx.remove("contracts", [{ field: "contractId", op: "=", value: "A" }]);
        });
        expect(await seen).toEqual([]);
      });

      it("sees what is committed", async () => {
        await insert("contracts", [contractRow("A")]);
        expect(await all("contracts")).toHaveLength(1);
      });

      it("keeps one view to its end, though others commit meanwhile", async () => {
        await insert("contracts", [contractRow("A")]);
        let committed: Promise<unknown> = Promise.resolve();
        const counts = await store.read(async (reader) => {
          const first = (await reader.find("contracts")).length;
          committed = insert("contracts", [contractRow("B")]);
          await settle();
          return [first, (await reader.find("contracts")).length];
        });
        await committed;
        expect(counts).toEqual([1, 1]);
        expect(await all("contracts")).toHaveLength(2);
      });

      it("that rejects rejects with the same error, and the next one works", async () => {
        const fault = new Error("fault");
        await expect(store.read(() => Promise.reject(fault))).rejects.toBe(fault);
        expect(await all("contracts")).toEqual([]);
      });
    });

    describe("a value comes back as it was:", () => {
      it.each(hostileTexts)("text with %s", async (_, text) => {
        await insert("contracts", [contractRow(text, { title: text, notes: `${text}${text}` })]);
        expect(await all("contracts")).toMatchObject([
          { contractId: text, title: text, notes: `${text}${text}` },
        ]);
        expect(await contractsWhere({ field: "title", op: "=", value: text })).toEqual([text]);
        const found = await store.transaction((tx) => tx.lookup("contracts", "contractId", [text]));
        expect(found).toHaveLength(1);
      });

      it.each([0, 1, -1, 2 ** 31, -(2 ** 31) - 1, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER])(
        "the integer %d",
        async (amountMinor) => {
          await insert("contracts", [contractRow("A", { amountMinor })]);
          expect(await all("contracts")).toMatchObject([{ amountMinor }]);
          expect(await contractsWhere({ field: "amountMinor", op: "=", value: amountMinor })).toEqual(["A"]);
        },
      );

      it.each([true, false])("the boolean %s", async (statusDerived) => {
        await insert("contracts", [contractRow("A", { statusDerived })]);
        expect((await all("contracts"))[0]?.statusDerived).toBe(statusDerived);
      });

      it.each([
        ["every byte", Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
        ["no byte", Buffer.alloc(0)],
        ["a megabyte", Buffer.alloc(1_048_576, 0xfe)],
      ])("bytes: %s", async (_, body) => {
        await insert("payloads", [payloadRow({ body })]);
        const [row] = await all("payloads");
        expect(row?.body).toBeInstanceOf(Uint8Array);
        expect(Buffer.compare(row?.body ?? Buffer.from("absent"), body)).toBe(0);
      });

      it("bytes of a view on a larger buffer", async () => {
        const whole = Buffer.from("before and after");
        await insert("payloads", [payloadRow({ body: whole.subarray(7, 10) })]);
        expect(Buffer.from((await all("payloads"))[0]?.body ?? "").toString()).toBe("and");
      });

      it.each([
        ["null", null],
        ["an array at the root", [1, null, "x", [], {}]],
        ["nested objects", { a: { b: [{ c: null }, [[]]] }, "": 0, __proto__x: 1 }],
        ["keys of any casing", { custom_fields: { field_ab: 1 }, PascalKey: 2, camelKey: 3, "0": 4 }],
        ["hostile text", { "k\u0000\ud800\u0010": "\u0000\udfff\u0010🎉" }],
        ["numbers", [0.1, 1e21, -0.5, Number.MAX_SAFE_INTEGER]],
        ["words that look like SQL", "null"],
      ])("JSON: %s", async (_, value) => {
        const facts = { value } as never;
        await insert("inputs", [
          { kind: "snapshot", contractId: "C", digest: sha256("s"), receivedAt: "", facts },
        ]);
        expect((await all("inputs"))[0]?.facts).toEqual({ value });
      });

      it("the facts of an event", async () => {
        const facts: EventFacts = factsOf("contract.created", {
          id: "e",
          seconds: 0,
          amount: 1.005,
          metadata: { metadata1: "é\u0010" },
        });
        await insert("deliveries", [deliveryRow("wh-1", { facts })]);
        expect((await all("deliveries"))[0]?.facts).toEqual(facts);
      });
    });

    it("has every table, empty", async () => {
      for (const table of Object.keys(tables) as TableName[]) expect(await all(table)).toEqual([]);
    });

    it("can be opened again without any change", async () => {
      await insert("contracts", [contractRow("A")]);
      await store.open(opening);
      await store.open({ ...opening, migrate: "check" });
      expect(await all("contracts")).toHaveLength(1);
    });

    it("rejects with closed once it is closed, and lets what runs finish first", async () => {
      let inserted: boolean[] = [];
      const running = store.transaction(async (tx) => {
        await settle(3);
        inserted = await tx.insert("contracts", [contractRow("A")]);
      });
      await Promise.all([running, store.close()]);
      expect(inserted).toEqual([true]);
      await expect(store.transaction(async () => undefined)).rejects.toMatchObject({
        code: "closed",
      });
      await expect(all("contracts")).rejects.toMatchObject({ code: "closed" });
      await store.close();
    });
  });
}
