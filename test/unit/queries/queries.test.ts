import { describe, expect, it } from "vitest";
import type { Mirror } from "../../../src/mirror/create-mirror.ts";
import type { Page, PageRequest } from "../../../src/queries/page.ts";
import { at, delivery, eventBody, noonMs, signed } from "../../support/delivery.ts";
import { openMirror, storeKinds, testClock } from "../../support/mirror.ts";

const create = (mirror: Mirror, contractId: string, shape: object = {}) =>
  mirror.receive(delivery("contract.created", { id: `c-${contractId}`, seconds: 0, contractId, ...shape }));

async function pagesOf<Item>(
  list: (page: PageRequest) => Promise<Page<Item>>,
  limit: number,
): Promise<Item[][]> {
  const pages: Item[][] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await list({ limit, cursor });
    pages.push(page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return pages;
}

const manyNames = (count: number) => Array.from({ length: count }, (_, index) => `S${index}`);

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

const idsOf = (items: { contractId: string }[]) => items.map(({ contractId }) => contractId);

describe.each(storeKinds)("on %s", (_, openStore) => {
  const open = () => openMirror({ store: openStore() });
  const openSome = async () => {
    const clock = testClock();
    const mirror = await openMirror({ store: openStore(), clock });
    await create(mirror, "A", { reference: "R-1", metadata: { metadata1: "x" } });
    await create(mirror, "B", {
      status: "Escrow",
      reference: "R-2",
      metadata: { metadata1: "x", metadata4: "y" },
    });
    clock.advance(60_000);
    await create(mirror, "C", { status: "Dispute" });
    await create(mirror, "D", { status: "Frozen" });
    return mirror;
  };
  const openRefunds = async () => {
    const clock = testClock(noonMs + 3_600_000);
    const mirror = await openMirror({ store: openStore(), clock });
    await mirror.receive(
      delivery("refund.full-initiated", { id: "1", seconds: 0, contractId: "A", transactionId: 1 }),
    );
    await mirror.receive(
      delivery("refund.full-initiated", { id: "2", seconds: 3000, contractId: "A", transactionId: 2 }),
    );
    await mirror.receive(
      delivery("refund.full-succeeded", { id: "3", seconds: 10, contractId: "B", transactionId: 3 }),
    );
    return mirror;
  };

  describe("contracts.get", () => {
    it("gives the contract with all that is known of it", async () => {
      const clock = testClock(noonMs + 1_000_000);
      const mirror = await openMirror({ store: openStore(), clock });
      await create(mirror, "CNT-1", {
        amount: "600.00",
        reference: "R",
        metadata: { metadata1: "m1", metadata3: "m3" },
      });
      await mirror.receive(
        delivery("milestone.payment.completed", { id: "m2", seconds: 20, milestoneId: 10, paymentId: "P" }),
      );
      await mirror.receive(
        delivery("milestone.payment.completed", { id: "m1", seconds: 21, milestoneId: 9, paymentId: "P" }),
      );
      await mirror.receive(
        delivery("milestone.refund.full-initiated", {
          id: "r",
          seconds: 30,
          milestoneId: 9,
          transactionId: 77,
          amount: 5,
          previousStatus: "Escrow",
        }),
      );
      expect(await mirror.contracts.get("CNT-1")).toEqual({
        contractId: "CNT-1",
        reference: "R",
        status: "RefundInProgress",
        statusSince: at(30),
        previousStatus: "pending",
        title: null,
        description: null,
        notes: null,
        businessName: null,
        serviceType: null,
        amountMinor: 60000,
        currency: "SAR",
        metadata: { metadata1: "m1", metadata3: "m3" },
        buyer: null,
        seller: null,
        milestones: [
          {
            contractId: "CNT-1",
            milestoneId: "9",
            name: null,
            description: null,
            status: "RefundInProgress",
            statusSince: at(30),
            previousStatus: "Escrow",
            amountMinor: null,
            dueDate: null,
          },
          {
            contractId: "CNT-1",
            milestoneId: "10",
            name: null,
            description: null,
            status: "Escrow",
            statusSince: at(20),
            previousStatus: null,
            amountMinor: null,
            dueDate: null,
          },
        ],
        refunds: [
          {
            contractId: "CNT-1",
            refundId: "77",
            milestoneId: "9",
            scope: "milestone",
            kind: "full",
            state: "initiated",
            inferred: false,
            amountMinor: 500,
            currency: "SAR",
            requestedAt: null,
            initiatedAt: at(30),
            succeededAt: null,
          },
        ],
        createdAt: at(0),
        updatedAt: at(30),
        changedAt: at(1000),
        syncedAt: null,
      });
    });

    it("gives undefined for a contract that nothing told of", async () => {
      expect(await (await open()).contracts.get("CNT-404")).toBeUndefined();
    });

    it("finds a GUID in any case and braces, and other ids only as they are", async () => {
      const mirror = await open();
      const guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
      await create(mirror, guid.toUpperCase());
      expect(await mirror.contracts.get(`{${guid}}`)).toMatchObject({ contractId: guid });
      await create(mirror, "abC");
      expect(await mirror.contracts.get("abc")).toBeUndefined();
    });

    it("shows a contract that only milestones told of as unknown", async () => {
      const mirror = await open();
      await mirror.receive(delivery("milestone.released", { seconds: 0, milestoneId: 1 }));
      expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "unknown" });
      expect(idsOf((await mirror.contracts.list({ status: "unknown" })).items)).toEqual(["CNT-1"]);
    });

    it("refuses an id that is no text", async () => {
      await expect(async () => (await open()).contracts.get(7 as unknown as string)).rejects.toMatchObject({
        code: "invalid-argument",
      });
    });
  });

  describe("contracts.list", () => {
    it.each([
      [{ status: "Escrow" }, ["B"]],
      [{ status: "ESCROW" }, ["B"]],
      [{ status: ["Escrow", "Dispute"] }, ["B", "C"]],
      [{ status: "Frozen" }, ["D"]],
      [{ status: [] }, []],
      [{ reference: "R-1" }, ["A"]],
      [{ metadata1: "x" }, ["A", "B"]],
      [{ metadata1: "x", metadata4: "y" }, ["B"]],
      [{ changedSince: at(60) }, ["C", "D"]],
      [{ changedSince: new Date(noonMs + 60_000) }, ["C", "D"]],
      [{ changedSince: at(61) }, []],
      [{ status: "pending", reference: "R-2" }, []],
      [{}, ["A", "B", "C", "D"]],
    ])("filters by %j", async (filter, ids) => {
      expect(idsOf((await (await openSome()).contracts.list(filter)).items)).toEqual(ids);
    });

    it("refuses a time that is none", async () => {
      const mirror = await open();
      await expect(mirror.contracts.list({ changedSince: "yesterday" })).rejects.toMatchObject({
        code: "invalid-argument",
      });
      await expect(mirror.contracts.list({ changedSince: new Date(Number.NaN) })).rejects.toMatchObject({
        code: "invalid-argument",
      });
    });

    it("takes 100 names of statuses, and no more", async () => {
      const mirror = await openSome();
      expect(idsOf((await mirror.contracts.list({ status: [...manyNames(99), "Escrow"] })).items)).toEqual([
        "B",
      ]);
      for (const count of [101, 40_000])
        await expect(mirror.contracts.list({ status: manyNames(count) })).rejects.toMatchObject({
          code: "invalid-argument",
        });
    });

    it("gives children of each contract to it alone", async () => {
      const mirror = await open();
      for (const contractId of ["A", "B"])
        await mirror.receive(
          delivery("milestone.released", {
            id: contractId,
            seconds: 0,
            contractId,
            milestoneId: contractId === "A" ? 1 : 2,
          }),
        );
      const { items } = await mirror.contracts.list();
      expect(items.map(({ milestones }) => milestones.map(({ milestoneId }) => milestoneId))).toEqual([
        ["1"],
        ["2"],
      ]);
    });
  });

  it("contracts.count counts by status", async () => {
    const mirror = await open();
    await create(mirror, "A");
    await create(mirror, "B");
    await create(mirror, "C", { status: "Escrow" });
    await mirror.receive(delivery("milestone.released", { seconds: 0, contractId: "D", milestoneId: 1 }));
    expect(await mirror.contracts.count()).toEqual({
      total: 4,
      byStatus: { pending: 2, Escrow: 1, unknown: 1 },
    });
  });

  it("contracts.history is in key order, whatever the order of arrival, and empty for a stranger", async () => {
    const mirror = await open();
    await mirror.receive(delivery("contract.released", { id: "3", seconds: 30 }));
    await mirror.receive(delivery("contract.created", { id: "1", seconds: 10 }, { webhookId: "wh-1" }));
    await mirror.receive(delivery("milestone.released", { id: "2", seconds: 20, milestoneId: 4 }));
    const history = await mirror.contracts.history("CNT-1");
    expect(history.map(({ to, occurredAt }) => [to, occurredAt])).toEqual([
      ["pending", at(10)],
      ["Released", at(20)],
      ["Released", at(30)],
    ]);
    expect(history[0]).toEqual({
      contractId: "CNT-1",
      milestoneId: null,
      entity: "contract",
      from: null,
      to: "pending",
      event: "contract.created",
      webhookId: "wh-1",
      occurredAt: at(10),
      moved: true,
      derived: false,
      source: "spec",
      anomaly: null,
    });
    expect(await mirror.contracts.history("CNT-404")).toEqual([]);
  });

  it("history and anomalies get shorter when a late event explains them", async () => {
    const mirror = await open();
    await create(mirror, "CNT-1");
    await mirror.receive(
      delivery("payment.completed", { id: "p", seconds: 20, previousStatus: "Approved", paymentId: "P" }),
    );
    expect((await mirror.anomalies.list()).items.map(({ kind }) => kind)).toEqual(["gap"]);
    await mirror.receive(delivery("contract.approved", { id: "a", seconds: 10, previousStatus: "pending" }));
    expect((await mirror.anomalies.list()).items).toEqual([]);
    expect((await mirror.contracts.history("CNT-1")).map(({ anomaly }) => anomaly)).toEqual([
      null,
      null,
      null,
    ]);
  });

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
              /^("(stauts|Limit|undefined)" is no filter of this|a) list.*limit, cursor$/,
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
      const mirror = await openSome();
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
      const mirror = await openSome();
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
      const mirror = await openSome();
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

  describe("deliveries", () => {
    it("are not asked for by what is no text", async () => {
      const mirror = await open();
      for (const id of [undefined, null, 5])
        await expect(mirror.deliveries.get(id as never)).rejects.toMatchObject({ code: "invalid-argument" });
    });

    it("that were all set aside under one webhook id are found as the first of them", async () => {
      const mirror = await open();
      for (const body of ["not json", "nor this"]) await mirror.receive(signed(body, { webhookId: "wh-1" }));
      const [last, first] = (await mirror.quarantine.list()).items;
      expect(first?.id).not.toBe(last?.id);
      expect((await mirror.deliveries.get("wh-1"))?.id).toBe(first?.id);
    });

    it("are found by webhook id, or by the row id of one that is set aside", async () => {
      const mirror = await open();
      await mirror.receive(delivery("contract.created", { id: "e-1", seconds: 0 }, { webhookId: "wh-1" }));
      await mirror.receive(delivery("contract.approved", { id: "e-2", seconds: 1 }, { webhookId: "wh-1" }));
      const [aside] = (await mirror.quarantine.list()).items;
      expect(await mirror.deliveries.get("wh-1")).toMatchObject({
        event: "contract.created",
        payloadId: "e-1",
        contractId: "CNT-1",
        secretId: "default",
        occurredAt: at(0),
      });
      expect(await mirror.deliveries.get(aside?.id ?? "")).toMatchObject({
        event: "contract.approved",
        outcome: "quarantined",
      });
      await mirror.receive(signed("not json", { webhookId: "wh-9" }));
      expect(await mirror.deliveries.get("wh-9")).toMatchObject({
        outcome: "quarantined",
        reason: "not-json",
      });
      expect(await mirror.deliveries.get("wh-404")).toBeUndefined();
    });

    it.each([
      [{ contractId: "A" }, 2],
      [{ event: "contract.created" }, 2],
      [{ event: "contract.approved", contractId: "B" }, 0],
      [{ outcome: "quarantined" }, 1],
      [{ outcome: "applied" }, 3],
      [{ since: at(60) }, 2],
    ] as const)("are filtered by %j", async (filter, count) => {
      const clock = testClock();
      const mirror = await openMirror({ store: openStore(), clock });
      await create(mirror, "A");
      await create(mirror, "B");
      clock.advance(60_000);
      await mirror.receive(delivery("contract.approved", { id: "a", seconds: 1, contractId: "A" }));
      await mirror.receive(signed("not json"));
      expect((await mirror.deliveries.list(filter)).items).toHaveLength(count);
    });
  });

  it("quarantine lists ids, reasons, headers and bytes, newest first", async () => {
    const mirror = await open();
    await mirror.receive(signed("first"));
    await mirror.receive(
      signed("second", { headers: { "User-Agent": "t", Cookie: "c", Authorization: "a" } }),
    );
    const { items } = await mirror.quarantine.list();
    expect(
      await Promise.all(items.map(async (each) => Buffer.from((await each.body()) ?? "").toString())),
    ).toEqual(["second", "first"]);
    expect(items[0]?.headers).toMatchObject({ "user-agent": "t" });
    expect(Object.keys(items[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(["x-service-signature"]));
    expect(JSON.stringify(items[0]?.headers)).not.toMatch(/cookie|authorization/i);
  });

  it("anomalies are filtered by contract and kind", async () => {
    const mirror = await open();
    await mirror.receive(
      delivery("contract.teleported", { id: "1", seconds: 0, contractId: "A", amount: "1.234" }),
    );
    await mirror.receive(delivery("contract.teleported", { id: "2", seconds: 0, contractId: "B" }));
    const kinds = async (filter: object) =>
      (await mirror.anomalies.list(filter)).items
        .map(({ contractId, kind }) => `${contractId} ${kind}`)
        .sort();
    expect(await kinds({ contractId: "A" })).toEqual(["A amount-precision", "A unknown-event"]);
    expect(await kinds({ kind: "unknown-event" })).toEqual(["A unknown-event", "B unknown-event"]);
    expect(await kinds({ kind: "gap" })).toEqual([]);
    expect((await mirror.anomalies.list({ contractId: "B" })).items).toEqual([
      {
        kind: "unknown-event",
        contractId: "B",
        milestoneId: null,
        webhookId: expect.any(String) as string,
        detail: "contract.teleported",
        at: at(0),
      },
    ]);
  });

  describe("refunds", () => {
    it.each([
      [{ state: "initiated" }, ["1", "2"]],
      [{ state: "succeeded" }, ["3"]],
      [{ contractId: "A" }, ["1", "2"]],
      [{ state: "initiated", olderThan: 1_800_000 }, ["1"]],
      [{ olderThan: 7_200_000 }, []],
      [{}, ["1", "2", "3"]],
    ] as const)("are listed by %j", async (filter, ids) => {
      expect(
        (await (await openRefunds()).refunds.list(filter)).items.map(({ refundId }) => refundId),
      ).toEqual(ids);
    });

    it("are found by id, with the contract where two share it", async () => {
      const mirror = await openRefunds();
      expect(await mirror.refunds.get("3")).toMatchObject({ contractId: "B" });
      expect(await mirror.refunds.get("404")).toBeUndefined();
      await mirror.receive(
        delivery("refund.full-initiated", { id: "4", seconds: 0, contractId: "C", transactionId: 3 }),
      );
      await expect(mirror.refunds.get("3")).rejects.toMatchObject({ code: "invalid-argument" });
      expect(await mirror.refunds.get("3", { contractId: "C" })).toMatchObject({ state: "initiated" });
    });

    it("are not looked for with an option that there is not", async () => {
      const mirror = await openRefunds();
      for (const options of [{ contractID: "B" }, "B", null, new Map([["contractId", "B"]])])
        await expect(mirror.refunds.get("1", options as never)).rejects.toMatchObject({
          code: "invalid-argument",
          message: expect.stringMatching(/refunds\.get.* contractId$/) as string,
        });
    });

    it("with one id on two contracts flag both, once", async () => {
      const mirror = await open();
      const shared = (contractId: string, id: string) =>
        mirror.receive(delivery("refund.full-initiated", { id, seconds: 0, contractId, transactionId: 7 }));
      await shared("A", "1");
      await shared("B", "2");
      await mirror.receive(
        delivery("refund.full-succeeded", { id: "3", seconds: 9, contractId: "A", transactionId: 7 }),
      );
      const flagged = (await mirror.anomalies.list({ kind: "refund-id-shared" })).items;
      expect(flagged.map(({ contractId }) => contractId)).toEqual(expect.arrayContaining(["A", "B"]));
      await shared("C", "4");
      expect((await mirror.anomalies.list({ kind: "refund-id-shared" })).items).toHaveLength(3);
    });

    it("with one id on two contracts flag both in one commit too", async () => {
      const mirror = await open();
      await Promise.all(
        ["A", "B"].map((contractId) =>
          mirror.receive(
            delivery("refund.full-initiated", { id: contractId, seconds: 0, contractId, transactionId: 7 }),
          ),
        ),
      );
      expect((await mirror.anomalies.list({ kind: "refund-id-shared" })).items).toHaveLength(2);
    });
  });

  it("payments and disputes are listed, by contract too, without our own keys", async () => {
    const mirror = await open();
    await mirror.receive(
      delivery("payment.completed", { id: "1", seconds: 0, contractId: "A", paymentId: "P", amount: 1 }),
    );
    await mirror.receive(
      signed(eventBody("milestone.disputed", { id: "2", seconds: 5, contractId: "B", milestoneId: 1 })),
    );
    expect((await mirror.payments.list()).items).toEqual([
      {
        paymentId: "P",
        contractId: "A",
        milestoneId: null,
        transactionId: null,
        invoiceId: null,
        amountMinor: 100,
        currency: "SAR",
        completedAt: at(0),
      },
    ]);
    expect((await mirror.disputes.list({ contractId: "B" })).items).toEqual([
      { disputeId: null, contractId: "B", milestoneId: "1", raisedAt: at(5) },
    ]);
    expect((await mirror.disputes.list({ contractId: "A" })).items).toEqual([]);
  });
});
