import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMirror, type Mirror } from "../../../src/mirror/create-mirror.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import { secret } from "../../support/delivery.ts";
import { fillStatements, filledContractId, filledTime, sqliteBytes } from "../../support/fill.ts";
import { testClock } from "../../support/mirror.ts";
import { pagesOf } from "./given.ts";

const contracts = 12_000;
/** Behind the last of them. */
const clock = testClock(Date.parse("2026-06-01T00:00:00Z"));

const numbersWhere = (isOne: (number: number) => boolean): number[] =>
  Array.from({ length: contracts }, (_, number) => number).filter(isOne);
const numberOf = ({ contractId }: { contractId: string | null }): number =>
  Number(contractId?.slice(filledContractId(0).length - 8)) - 10_000_000;

describe(`lists of ${contracts} contracts`, () => {
  const database = new Database(":memory:");
  let mirror: Mirror;

  beforeAll(async () => {
    mirror = await createMirror({ store: sqlite({ database }), webhook: { secrets: secret }, clock });
    for (const sql of fillStatements((table) => `escrow_${table}`, sqliteBytes, contracts))
      database.exec(sql);
  });
  afterAll(() => mirror.close());

  it("by several statuses are in one order over all pages, whichever comes first in the filter", async () => {
    const expected = numbersWhere((n) => n % 10 === 9 && n % 1000 !== 999);
    const withUnknown = numbersWhere((n) => n % 10 === 9);
    for (const [status, numbers] of [
      [["Dispute"], expected],
      [["unknown", "Dispute", "Refunded"], withUnknown],
      [["Dispute", "unknown", "Dispute"], withUnknown],
    ] as const) {
      const pages = await pagesOf((page) => mirror.contracts.list({ ...page, status }), 100);
      expect(pages.flat().map(numberOf)).toEqual(numbers);
      expect(pages.slice(0, -1).every((page) => page.length === 100)).toBe(true);
    }
  });

  it("by changedSince are in the order of change, and contracts that change meanwhile come again at the end", async () => {
    const from = contracts - 120;
    const first = await mirror.contracts.list({ changedSince: filledTime(from), limit: 50 });
    database
      .prepare("update escrow_contracts set changed_at = ? where contract_id = ?")
      .run("2026-05-01T00:00:00.000Z", filledContractId(from + 1));
    const { nextCursor: cursor } = first;
    const rest = await mirror.contracts.list({ changedSince: filledTime(from), limit: 500, cursor });
    const numbers = [...first.items, ...rest.items].map(numberOf);
    expect(numbers).toEqual([...numbersWhere((n) => n >= from), from + 1]);
    database
      .prepare("update escrow_contracts set changed_at = ? where contract_id = ?")
      .run(filledTime(from + 1), filledContractId(from + 1));
  });

  it.each([
    [
      { status: "Dispute", metadata1: "tenant-9" },
      (n: number) => n % 10 === 9 && n % 1000 !== 999 && n % 50 === 9,
    ],
    [{ status: ["unknown"], changedSince: filledTime(5) }, (n: number) => n >= 5 && n % 1000 === 999],
    [{ reference: "order-7", metadata2: "gold" }, () => false],
    [{ status: "Released", metadata2: "gold", metadata1: "tenant-0" }, () => false],
    [{ status: "nothing", changedSince: filledTime(0) }, () => false],
  ])(
    "by %j hold what meets all of it, in pages that end after what they may look at",
    async (filter, isOne) => {
      const pages = await pagesOf((page) => mirror.contracts.list({ ...page, ...filter }), 500);
      expect(pages.flat().map(numberOf)).toEqual(numbersWhere(isOne));
      expect(pages.length).toBeLessThan(contracts / 5000 + 2);
    },
  );

  it("of deliveries that are applied pass over those that are not", async () => {
    const pages = await pagesOf((page) => mirror.deliveries.list({ ...page, outcome: "applied" }), 500);
    expect(pages.flat().map(numberOf)).toEqual(numbersWhere((n) => n % 100 !== 7).reverse());
  });

  it.each([
    [{ event: "contract.disputed" }, (n: number) => n % 10 >= 8],
    [{ event: "contract.disputed", since: filledTime(11_000) }, (n: number) => n % 10 >= 8 && n >= 11_000],
    [{ outcome: "quarantined" }, (n: number) => n % 100 === 7],
    [{ outcome: "quarantined", since: filledTime(6007) }, (n: number) => n % 100 === 7 && n >= 6007],
    [{ since: filledTime(11_990) }, (n: number) => n >= 11_990],
    [{ contractId: filledContractId(77), since: filledTime(78) }, () => false],
  ] as const)("of deliveries by %j come newest first", async (filter, isOne) => {
    const pages = await pagesOf((page) => mirror.deliveries.list({ ...page, ...filter }), 333);
    expect(pages.flat().map(numberOf)).toEqual(numbersWhere(isOne).reverse());
  });

  it.each([
    [{ state: "requested" }, (n: number) => n % 10 === 4],
    [{ state: "initiated", olderThan: 0 }, (n: number) => n % 10 < 4],
    [{ olderThan: 0 }, (n: number) => n % 10 !== 4],
    [{ olderThan: clock.now() - Date.parse(filledTime(6000)) }, (n: number) => n % 10 !== 4 && n < 6000],
    [{ changedSince: filledTime(11_000) }, (n: number) => n >= 11_000],
    [{ changedSince: filledTime(11_000), state: "succeeded" }, (n: number) => n >= 11_000 && n % 10 > 4],
    [{ contractId: filledContractId(4), state: "requested" }, (n: number) => n === 4],
    [{ contractId: filledContractId(4), olderThan: 0 }, () => false],
  ] as const)("of refunds by %j come in the order of time", async (filter, isOne) => {
    const pages = await pagesOf((page) => mirror.refunds.list({ ...page, ...filter }), 400);
    expect(pages.flat().map(numberOf)).toEqual(numbersWhere(isOne));
  });

  it("follow no cursor of the same list by another filter, and none that was made up leads out of the filter", async () => {
    const { nextCursor: byId } = await mirror.contracts.list({ limit: 1 });
    const { nextCursor: byChange } = await mirror.contracts.list({ limit: 1, changedSince: filledTime(0) });
    for (const [filter, cursor] of [
      [{ changedSince: filledTime(0) }, byId],
      [{}, byChange],
      [{ status: "Escrow" }, byId],
    ] as const)
      await expect(mirror.contracts.list({ ...filter, cursor })).rejects.toMatchObject({
        code: "invalid-argument",
      });
    const changedSince = filledTime(contracts - 5);
    const { items } = await mirror.contracts.list({ changedSince, cursor: byChange });
    expect(items.map(numberOf)).toEqual(numbersWhere((n) => n >= contracts - 5));
  });

  it("count every contract once", async () => {
    const unknown = numbersWhere((n) => n % 1000 === 999).length;
    expect(await mirror.contracts.count()).toEqual({
      total: contracts,
      byStatus: {
        unknown,
        Dispute: contracts / 10 - unknown,
        Escrow: contracts / 2,
        Released: contracts * 0.4,
      },
    });
  });
});

describe("what goes over many rows lets other work run meanwhile", () => {
  const database = new Database(":memory:");
  let mirror: Mirror;

  beforeAll(async () => {
    mirror = await createMirror({ store: sqlite({ database }), webhook: { secrets: secret } });
    const [contractsAlone = ""] = fillStatements((table) => `escrow_${table}`, sqliteBytes, 90_000);
    database.exec(contractsAlone);
    database.exec(`insert into escrow_transitions
      (contract_id, position, entity, to_status, event, moved, derived, source)
      select '${filledContractId(0)}', row_number() over (), 'contract', 'Escrow', 'payment.completed', 1, 0, 'spec'
      from escrow_contracts limit 3000`);
  });
  afterAll(() => mirror.close());

  it.each<[string, (mirror: Mirror) => Promise<unknown>]>([
    ["contracts.count", (of) => of.contracts.count()],
    ["contracts.history", (of) => of.contracts.history(filledContractId(0))],
    ["contracts.list", (of) => of.contracts.list({ status: ["Escrow", "Released", "Dispute"], limit: 500 })],
  ])("%s", async (_, ask) => {
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    await ask(mirror);
    isOver = true;
    expect(turns).toBeGreaterThan(1);
  });
});
