import { describe, expect, it } from "vitest";
import type { Mirror } from "../../../src/mirror/create-mirror.ts";
import type { PageRequest } from "../../../src/queries/page.ts";
import { delivery, noonMs } from "../../support/delivery.ts";
import { openMirror, storeKinds } from "../../support/mirror.ts";
import { create, idsOf, openSome, pagesOf } from "./given.ts";

/** Values that can't be written out as JSON, or not even as text. */
const circular = (): object => {
  const self: { self?: object } = {};
  return Object.assign(self, { self });
};

const unspeakable = {
  toJSON: () => {
    throw new Error("no JSON");
  },
  toString: () => {
    throw new Error("no text");
  },
};

/** Every list of a mirror that comes in pages. */
const listsOf = (mirror: Mirror) => [
  (page: PageRequest) => mirror.contracts.list(page),
  (page: PageRequest) => mirror.refunds.list(page),
  (page: PageRequest) => mirror.payments.list(page),
  (page: PageRequest) => mirror.disputes.list(page),
  (page: PageRequest) => mirror.deliveries.list(page),
  (page: PageRequest) => mirror.quarantine.list(page),
  (page: PageRequest) => mirror.anomalies.list(page),
];

describe.each(storeKinds)("on %s", (_, openStore) => {
  const open = () => openMirror({ store: openStore() });

  describe("a page", () => {
    it("follows the one before, and the last has no cursor", async () => {
      const mirror = await open();
      for (const id of ["E", "A", "C", "B", "D"]) await create(mirror, id);
      expect((await pagesOf((page) => mirror.contracts.list(page), 2)).map(idsOf)).toEqual([
        ["A", "B"],
        ["C", "D"],
        ["E"],
      ]);
      expect((await pagesOf((page) => mirror.contracts.list(page), 5)).map(idsOf)).toEqual([
        ["A", "B", "C", "D", "E"],
      ]);
    });

    it("skips and repeats nothing when rows come and change between pages", async () => {
      const mirror = await open();
      for (const id of ["B", "D", "F"]) await create(mirror, id);
      const first = await mirror.contracts.list({ limit: 2 });
      await create(mirror, "A");
      await create(mirror, "E");
      await mirror.receive(delivery("contract.approved", { id: "x", seconds: 9, contractId: "B" }));
      const second = await mirror.contracts.list({ limit: 2, cursor: first.nextCursor });
      expect([idsOf(first.items), idsOf(second.items), second.nextCursor]).toEqual([
        ["B", "D"],
        ["E", "F"],
        null,
      ]);
    });

    it("of deliveries is newest first, and steady while new ones come", async () => {
      const mirror = await open();
      for (const id of ["1", "2", "3", "4"]) await create(mirror, id);
      const first = await mirror.deliveries.list({ limit: 2 });
      await create(mirror, "5");
      const second = await mirror.deliveries.list({ limit: 2, cursor: first.nextCursor });
      expect([...first.items, ...second.items].map(({ contractId }) => contractId)).toEqual([
        "4",
        "3",
        "2",
        "1",
      ]);
    });

    it("of refunds, whose key has two fields, skips none at a page's edge", async () => {
      const mirror = await open();
      const keys = ["A", "B"].flatMap((contractId) =>
        ["1", "2", "3"].map((transactionId) => ({ contractId, transactionId })),
      );
      for (const key of keys)
        await mirror.receive(
          delivery("refund.full-initiated", { id: key.contractId + key.transactionId, seconds: 0, ...key }),
        );
      for (const limit of [1, 2, 4]) {
        const pages = await pagesOf((page) => mirror.refunds.list(page), limit);
        expect(pages.flat().map(({ contractId, refundId }) => contractId + refundId)).toEqual([
          "A1",
          "A2",
          "A3",
          "B1",
          "B2",
          "B3",
        ]);
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      }
    });

    it.each([0, -1, 501, 1.5, Number.NaN, "10"])("has no limit of %j", async (limit) => {
      const mirror = await open();
      for (const list of listsOf(mirror))
        await expect(list({ limit: limit as number })).rejects.toMatchObject({ code: "invalid-argument" });
    });

    it.each([{ stauts: "Escrow" }, { Limit: 1 }, { undefined: undefined }, "CNT-1", null, 7])(
      "takes no filter that it does not know: %j",
      async (filter) => {
        const mirror = await open();
        for (const list of listsOf(mirror))
          await expect(list(filter as never)).rejects.toMatchObject({
            code: "invalid-argument",
            message: expect.stringMatching(
              /^("(stauts|Limit|undefined)" is not a filter of this|a) list.*limit, cursor$/,
            ),
          });
      },
    );

    it.each<[string, object]>([
      ["URLSearchParams", new URLSearchParams("contractId=CNT-9")],
      ["a Map", new Map([["contractId", "CNT-9"]])],
      ["an array", []],
      ["a Date", new Date(noonMs)],
      [
        "an instance of a class",
        new (class {
          readonly #contractId = "CNT-9";
          get contractId() {
            return this.#contractId;
          }
        })(),
      ],
      ["a name on a prototype", Object.create({ contractid: "CNT-9" }) as object],
      ["a name that is not enumerable", Object.defineProperty({}, "contractid", { value: "CNT-9" })],
      ["a symbol", { [Symbol("contractId")]: "CNT-9" }],
      ["a function", () => ({ contractId: "CNT-9" })],
    ])("takes no filter that holds its names elsewhere: %s", async (__, filter) => {
      const mirror = await open();
      for (const list of listsOf(mirror))
        await expect(list(filter)).rejects.toMatchObject({ code: "invalid-argument" });
    });

    it("takes filters without a prototype, or with an empty one, as frameworks parse queries", async () => {
      const mirror = await openSome(openStore());
      const bare = Object.create(null) as object;
      for (const parsed of [bare, Object.create(bare) as object])
        expect(
          idsOf((await mirror.contracts.list(Object.assign(parsed, { reference: "R-1" }))).items),
        ).toEqual(["A"]);
    });

    it("holds 50 unless told, and 500 at most", async () => {
      const mirror = await open();
      await Promise.all(Array.from({ length: 60 }, (__, index) => create(mirror, `C${index}`)));
      expect((await mirror.contracts.list()).items).toHaveLength(50);
      expect((await mirror.contracts.list({ limit: 500 })).items).toHaveLength(60);
    });

    it.each([
      "",
      "x",
      "bm9uc2Vuc2U",
      "W10",
      "WzEsMiwzXQ",
      "eyJhIjoxfQ",
      "W251bGxd",
      "WzEuNV0",
      "WzFlOTk5XQ",
      "💥",
    ])("follows no cursor %j that it never gave", async (cursor) => {
      const mirror = await open();
      for (const list of listsOf(mirror))
        await expect(list({ cursor })).rejects.toMatchObject({ code: "invalid-argument" });
    });

    it.each<[string, (mirror: Mirror) => Promise<unknown>]>([
      ["state", (mirror) => mirror.refunds.list({ state: "done" as never })],
      ["kind", (mirror) => mirror.anomalies.list({ kind: "gapp" as never })],
      ["outcome", (mirror) => mirror.deliveries.list({ outcome: "failed" as never })],
      ["olderThan", (mirror) => mirror.refunds.list({ olderThan: "1d" as never })],
      ["olderThan", (mirror) => mirror.refunds.list({ olderThan: -1 })],
      ["olderThan", (mirror) => mirror.refunds.list({ olderThan: Number.NaN })],
      ["olderThan", (mirror) => mirror.refunds.list({ olderThan: 1e300 })],
    ])("refuses a %s that does not exist", async (field, list) => {
      const asking = list(await open());
      await expect(asking).rejects.toMatchObject({ code: "invalid-argument" });
      await expect(asking).rejects.toThrow(field);
    });

    it.each<[string, (mirror: Mirror, odd: never) => Promise<unknown>]>([
      ["status", (mirror, status) => mirror.contracts.list({ status })],
      ["status", (mirror, status) => mirror.contracts.list({ status: ["Escrow", status] })],
      ["reference", (mirror, reference) => mirror.contracts.list({ reference })],
      ["metadata1", (mirror, metadata1) => mirror.contracts.list({ metadata1 })],
      ["metadata4", (mirror, metadata4) => mirror.contracts.list({ metadata4 })],
      ["changedSince", (mirror, changedSince) => mirror.contracts.list({ changedSince })],
      ["event", (mirror, event) => mirror.deliveries.list({ event })],
      ["outcome", (mirror, outcome) => mirror.deliveries.list({ outcome })],
      ["since", (mirror, since) => mirror.deliveries.list({ since })],
      ["kind", (mirror, kind) => mirror.anomalies.list({ kind })],
      ["state", (mirror, state) => mirror.refunds.list({ state })],
      ["olderThan", (mirror, olderThan) => mirror.refunds.list({ olderThan })],
      ["limit", (mirror, limit) => mirror.payments.list({ limit })],
      ["cursor", (mirror, cursor) => mirror.deliveries.list({ cursor })],
      ["id", (mirror, contractId) => mirror.disputes.list({ contractId })],
      ["id", (mirror, id) => mirror.quarantine.release(id)],
      ["refunds.get", (mirror, options) => mirror.refunds.get("77", options)],
    ])("refuses a %s of any odd type, and says so", async (field, ask) => {
      const mirror = await openSome(openStore());
      const odd = [true, -5, 5n, Symbol("x"), () => "x", ["x", ["y"]], new Map(), circular(), unspeakable];
      for (const value of odd) {
        const asking = ask(mirror, value as never);
        await expect(asking).rejects.toMatchObject({ code: "invalid-argument" });
        await expect(asking).rejects.toThrow(field);
      }
    });

    it.each([
      new Date(Date.UTC(10_000, 0)),
      new Date(noonMs * 1000),
      new Date(8.64e15),
      new Date(Date.UTC(-1, 0)),
    ])("refuses a time of a year that text does not order: %j", async (time) => {
      const mirror = await openSome(openStore());
      for (const list of [
        mirror.contracts.list({ changedSince: time }),
        mirror.deliveries.list({ since: time }),
      ])
        await expect(list).rejects.toMatchObject({ code: "invalid-argument" });
      const last = new Date(Date.UTC(9999, 11, 31));
      expect((await mirror.deliveries.list({ since: last })).items).toEqual([]);
    });

    it("follows no cursor of another list", async () => {
      const mirror = await open();
      for (const id of ["1", "2"]) await create(mirror, id);
      const { nextCursor: ofDeliveries } = await mirror.deliveries.list({ limit: 1 });
      const { nextCursor: ofContracts } = await mirror.contracts.list({ limit: 1 });
      await expect(mirror.contracts.list({ cursor: ofDeliveries })).rejects.toMatchObject({
        code: "invalid-argument",
      });
      await expect(mirror.deliveries.list({ cursor: ofContracts })).rejects.toMatchObject({
        code: "invalid-argument",
      });
    });
  });
});
