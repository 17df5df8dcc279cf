/** Stretches of indexes on every store: the plain maps are the model, and a few are written out. */
import * as fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { Condition, Picking, Stretch } from "../../src/store/store.ts";
import type { ContractRow } from "../../src/store/tables/contracts.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { eachStore, opening, type StoreContract } from "./each-store.ts";
import { contractRow } from "./rows.ts";

export function describeWalk(contract: StoreContract): void {
  describe("walk", () => {
    const at = eachStore(contract);
    const model = createMemoryStore();
    const insert = async (...rows: ContractRow[]) => {
      await at.insert("contracts", rows);
    };
    const walk = async (stretch: Stretch<ContractRow>, picking?: Picking<ContractRow>) => {
      const rows = await at.store.read((reader) => reader.walk("contracts", stretch, picking));
      return rows.map(({ contractId }) => contractId);
    };
    const count = (stretch: Stretch<ContractRow>) =>
      at.store.read((reader) => reader.count("contracts", stretch));
    const by = ["contractId"] as const;
    const rowsMax = 10;

    describe("along contracts of several statuses", () => {
      beforeEach(() =>
        insert(
          contractRow("A", { status: "Escrow", changedAt: "3" }),
          contractRow("B", { status: "Released", changedAt: "2" }),
          contractRow("C", { status: "Escrow", changedAt: "2" }),
          contractRow("D", { status: null, changedAt: "1" }),
          contractRow("E", { status: "Escrow", changedAt: "1", reference: "x" }),
          contractRow("F", { status: null, changedAt: "0" }),
        ),
      );

      it("gives the rows of one value, null too, in the order of the other fields, up or down", async () => {
        expect(await walk({ of: ofStatus("Escrow"), by, rowsMax })).toEqual(["A", "C", "E"]);
        expect(await walk({ of: ofStatus("Escrow"), by, rowsMax, descending: true })).toEqual([
          "E",
          "C",
          "A",
        ]);
        expect(await walk({ of: ofStatus(null), by, rowsMax })).toEqual(["D", "F"]);
        expect(await walk({ of: ofStatus("Refunded"), by, rowsMax })).toEqual([]);
      });

      it("begins behind a row, or behind all that begin as it does", async () => {
        expect(await walk({ of: ofStatus("Escrow"), by, rowsMax, after: ["A"] })).toEqual(["C", "E"]);
        expect(await walk({ of: ofStatus("Escrow"), by, rowsMax, after: ["C"], descending: true })).toEqual([
          "A",
        ]);
        expect(await walk({ of: ofStatus(null), by, rowsMax, after: ["D"] })).toEqual(["F"]);
        const byChange = ["changedAt", "contractId"] as const;
        expect(await walk({ by: byChange, rowsMax, after: ["2", "B"] })).toEqual(["C", "A"]);
        expect(await walk({ by: byChange, rowsMax, after: ["1"] })).toEqual(["B", "C", "A"]);
        expect(await walk({ by: byChange, rowsMax, after: ["2"], descending: true })).toEqual([
          "E",
          "D",
          "F",
        ]);
      });

      it("keeps within bounds of the first field, the least one with them and the last one without", async () => {
        const byChange = ["changedAt", "contractId"] as const;
        expect(await walk({ by: byChange, rowsMax, from: "1", until: "3" })).toEqual(["D", "E", "B", "C"]);
        expect(await walk({ by: byChange, rowsMax, from: "2", descending: true })).toEqual(["A", "C", "B"]);
        const behind = { by: byChange, rowsMax, from: "1", after: ["1", "E"], until: "3" } as const;
        expect(await walk(behind)).toEqual(["B", "C"]);
      });

      it("looks at no more rows than it may, and picks among those alone", async () => {
        expect(await walk({ by, rowsMax: 2 })).toEqual(["A", "B"]);
        expect(await walk({ by, rowsMax: 2, skip: 3 })).toEqual(["D", "E"]);
        const where = [{ field: "status", op: "=", value: "Escrow" }] as const;
        expect(await walk({ by, rowsMax: 4 }, { where })).toEqual(["A", "C"]);
        expect(await walk({ by, rowsMax: 4 }, { where, limit: 1 })).toEqual(["A"]);
        const none = [{ field: "status", op: "in", value: [] }] as const;
        expect(await walk({ by, rowsMax: 4 }, { where: none })).toEqual([]);
        const some = [{ field: "status", op: "in", value: ["Released", null] }] as const;
        expect(await walk({ by, rowsMax: 10 }, { where: some })).toEqual(["B", "D", "F"]);
      });

      it("counts as far as it may", async () => {
        expect(await count({ of: ofStatus("Escrow"), by, rowsMax })).toBe(3);
        expect(await count({ of: ofStatus("Escrow"), by, rowsMax: 2 })).toBe(2);
        expect(await count({ of: ofStatus("Refunded"), by, rowsMax })).toBe(0);
      });
    });

    it("tells long texts apart, however alike they are, and finds each", async () => {
      // So that no database makes it shorter.
      const long = Array.from({ length: 4000 }, (_, index) =>
        String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)),
      ).join("");
      const texts = ["", "x", "x\u0000", "ref\ud800", long, `${long}a`, `${long}b`, `a${long}`];
      await insert(
        ...texts.map((reference, index) => contractRow(`C${index}`, { reference, metadata4: reference })),
      );
      for (const field of ["reference", "metadata4"] as const)
        for (const [index, value] of texts.entries())
          expect(await walk({ of: { field, value }, by, present: [field], rowsMax })).toEqual([`C${index}`]);
    });

    it("is that of the plain maps, for any rows, any stretch and any places", async () => {
      await model.open(opening);
      const check = async (rows: readonly ContractRow[], asked: readonly Asked[]): Promise<void> => {
        for (const each of [model, at.store])
          await each.transaction(async (tx) => {
            await tx.remove("contracts", []);
            await tx.insert("contracts", rows);
          });
        for (const { stretch, picking } of asked) {
          const [expected, given] = await Promise.all(
            [model, at.store].map((each) =>
              each.read((reader) => reader.walk("contracts", stretch, picking)),
            ),
          );
          expect(given, JSON.stringify({ stretch, picking })).toEqual(expected);
        }
      };
      await fc.assert(
        fc.asyncProperty(someContracts, fc.array(asked, { minLength: 10, maxLength: 10 }), check),
        { numRuns: 15 },
      );
      await model.close();
    });
  });
}

const ofStatus = (value: string | null) => ({ field: "status", value }) as const;

interface Asked {
  readonly stretch: Stretch<ContractRow>;
  readonly picking: Picking<ContractRow>;
}

/** Few texts, so that they meet; some that no database stores as they are. */
const text = fc.constantFrom(
  "",
  "a",
  "A",
  "b",
  "ä",
  "\uffff",
  "🎉",
  "a\u0000",
  "a\u0001",
  "\ud800",
  "a\u0010",
);

const someContracts = fc
  .uniqueArray(
    fc.record({
      contractId: text.chain((start) => fc.nat(3).map((end) => start + end)),
      status: fc.option(text),
      reference: fc.option(text),
      changedAt: text,
    }),
    { selector: ({ contractId }) => contractId, maxLength: 20 },
  )
  .map((rows) => rows.map(({ contractId, ...shape }) => contractRow(contractId, shape)));

const asked: fc.Arbitrary<Asked> = fc
  .record({
    path: fc.constantFrom<Pick<Stretch<ContractRow>, "by" | "present"> & { of?: "status" | "reference" }>(
      { by: ["contractId"] },
      { by: ["changedAt", "contractId"] },
      { of: "status", by: ["contractId"] },
      { of: "reference", by: ["contractId"], present: ["reference"] },
    ),
    value: fc.option(text),
    descending: fc.boolean(),
    after: fc.option(fc.array(text, { minLength: 1, maxLength: 2 })),
    from: fc.option(text),
    until: fc.option(text),
    rowsMax: fc.integer({ min: 1, max: 20 }),
    skip: fc.nat(3),
    where: fc.constantFrom<readonly Condition<ContractRow>[]>(
      [],
      [{ field: "reference", op: "not-null" }],
      [{ field: "status", op: "in", value: ["a", null, "🎉"] }],
      [{ field: "changedAt", op: ">=", value: "b" }],
    ),
    limit: fc.integer({ min: 1, max: 20 }),
  })
  .map(({ path: { of, by, present }, value, after, from, until, where, limit, ...rest }) => ({
    stretch: {
      ...rest,
      by,
      present,
      of: of && { field: of, value: of === "reference" ? (value ?? "a") : value },
      after: after?.slice(0, by.length),
      from: from ?? undefined,
      until: until ?? undefined,
    },
    picking: { where, limit },
  }));
