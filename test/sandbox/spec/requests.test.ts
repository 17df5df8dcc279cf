import { describe, expect, it } from "vitest";

import type { SandboxOptions } from "../../../src/sandbox.ts";
import {
  at,
  buyer,
  connect,
  contractBody,
  createContract,
  milestones,
  seller,
  startSandbox,
} from "../support.ts";
import type { Api } from "../support.ts";

/**
 * What the spec allows in a request is taken, and what it forbids is refused by name: §2.2, §4.2, §4.4, §4.6, and the
 * supplement's users. The other tables of rules are in resources.test.ts and times.test.ts.
 */
const kyc = seller.KYC;
const due = "2026-03-01T00:00:00Z";
const parts = (...amounts: number[]) => amounts.map((Amount) => ({ Name: "m", Amount, DueDate: due }));
const sellerWith = (KYC: unknown) => ({ SellerParty: { ...seller, KYC } });
const buyerWith = (KYC: unknown) => ({ BuyerParty: { ...buyer, KYC } });

const taken: [row: string, change: Record<string, unknown>][] = [
  ["contractServiceType Product", { contractServiceType: "Product" }],
  ["contractServiceType Service", { contractServiceType: "Service" }],
  ["nothing optional", { reference: undefined, metaData: undefined }],
  ["every optional field null", { description: null, notes: null, reference: null, metaData: null }],
  ["callbackUrl and Milestones null", { callbackUrl: null, Milestones: null }],
  ["every optional text empty", { description: "", notes: "", reference: "", callbackUrl: "" }],
  [
    "metadata1 to metadata4",
    { metaData: { metadata1: "1", metadata2: "2", metadata3: "3", metadata4: "4" } },
  ],
  ["empty metadata", { metaData: { metadata1: "", metadata2: "", metadata3: "", metadata4: "" } }],
  ["metaData without any", { metaData: {} }],
  ["a field that the spec does not have", { colour: "red", metaData: { metadata5: "5" } }],
  [
    "lastName empty, of both",
    { BuyerParty: { ...buyer, lastName: "" }, SellerParty: { ...seller, lastName: "" } },
  ],
  ["KYC null", sellerWith(null)],
  ["no KYC", sellerWith(undefined)],
  ["KYC of the buyer without IBAN", buyerWith({ identity: "2012345678" })],
  ["KYC of the buyer, all of it", buyerWith(kyc)],
  ["KYC without dateOfBirth", sellerWith({ ...kyc, dateOfBirth: undefined })],
  ["KYC with bICCode", sellerWith({ ...kyc, bICCode: "RIBLSARI" })],
  [
    "kyc and iBANNumber as documented",
    {
      SellerParty: { ...seller, KYC: undefined, kyc: { identity: kyc.identity, iBANNumber: kyc.IBANNumber } },
    },
  ],
  ["callbackurl as sampled", { callbackurl: "https://shop.example/back?order=7" }],
  [
    "every name in camel case",
    { BuyerParty: undefined, SellerParty: undefined, buyerParty: buyer, sellerParty: seller, milestones },
  ],
  ["an amount of one halala", { amount: 0.01 }],
  ["an amount of two decimals", { amount: 0.29 }],
  ["no milestones", { Milestones: [] }],
  ["milestones whose floats miss the sum", { amount: 0.3, Milestones: parts(0.1, 0.2) }],
  ["three milestones", { amount: 100.01, Milestones: parts(33.33, 33.33, 33.35) }],
  ["a milestone one halala below the contract", { amount: 1000, Milestones: parts(999.99, 0.01) }],
  ["a milestone without Description", { Milestones: parts(600, 400) }],
  [
    "a milestone with an empty Description",
    { Milestones: [{ ...milestones[0], Description: "" }, milestones[1]] },
  ],
  [
    "a DueDate in the past",
    { Milestones: [{ ...milestones[0], DueDate: "2001-01-01T00:00:00Z" }, milestones[1]] },
  ],
  ["buyer and seller with one phone", { SellerParty: { ...seller, phoneNumber: buyer.phoneNumber } }],
  ["a phone without plus, with spaces", { BuyerParty: { ...buyer, phoneNumber: "966 50 000 0001" } }],
  ["text in Arabic", { title: "متجر", description: "تصميم", notes: "ملاحظة", reference: "طلب" }],
];

const refusedRows: [row: string, change: Record<string, unknown>, field: string][] = [
  ["title blank", { title: "  " }, "title"],
  ["title null", { title: null }, "title"],
  ["contractServiceType missing", { contractServiceType: undefined }, "contractServiceType"],
  ["contractServiceType in lower case", { contractServiceType: "product" }, "contractServiceType"],
  ["amount null", { amount: null }, "amount"],
  ["amount below zero", { amount: -1 }, "amount"],
  ["callbackUrl relative", { callbackUrl: "/back" }, "callbackUrl"],
  ["platformRefId of another type", { BuyerParty: { platformRefId: 5 } }, "BuyerParty.platformRefId"],
  [
    "phoneNumber of another type",
    { BuyerParty: { ...buyer, phoneNumber: 966500000001 } },
    "BuyerParty.phoneNumber",
  ],
  ["firstName empty", { SellerParty: { ...seller, firstName: "" } }, "SellerParty.firstName"],
  ["lastName null", { SellerParty: { ...seller, lastName: null } }, "SellerParty.lastName"],
  ["lastName of another type", { SellerParty: { ...seller, lastName: 5 } }, "SellerParty.lastName"],
  ["KYC of another type", sellerWith("x"), "SellerParty.KYC"],
  ["KYC of the buyer without identity", buyerWith({}), "BuyerParty.KYC.identity"],
  ["identity that is none", sellerWith({ ...kyc, identity: "3012345678" }), "SellerParty.KYC.identity"],
  ["IBAN that is none", sellerWith({ ...kyc, IBANNumber: "SA" }), "SellerParty.KYC.IBANNumber"],
  ["bICCode of another type", sellerWith({ ...kyc, bICCode: 5 }), "SellerParty.KYC.bICCode"],
  ["a milestone that is text", { Milestones: ["m"] }, "Milestones[0]"],
  [
    "a milestone without Amount",
    { Milestones: [{ Name: "m", DueDate: due }, ...parts(400)] },
    "Milestones[0].Amount",
  ],
  ["a milestone below zero", { Milestones: parts(1200, -200) }, "Milestones[0].Amount"],
  ["milestones above the sum", { Milestones: parts(600, 400.01) }, "Milestones"],
  ["one milestone alone", { Milestones: parts(999.99) }, "Milestones"],
  [
    "Description of another type",
    { Milestones: [{ ...milestones[0], Description: 5 }, milestones[1]] },
    "Milestones[0].Description",
  ],
];

describe("§2.2, a creation request", () => {
  it.each(taken)("is taken: %s", async (_row, change) => {
    const sandbox = await startSandbox();
    const answer = await (await connect(sandbox)).post("/apps/api/contracts", contractBody(change));
    expect([answer.status, at(answer.body, "validationErrors")]).toEqual([200, []]);
  });

  it.each(refusedRows)("is refused: %s", async (_row, change, field) => {
    const sandbox = await startSandbox();
    const answer = await (await connect(sandbox)).post("/apps/api/contracts", contractBody(change));
    expect([answer.status, at(answer.body, "validationErrors.0.field")]).toEqual([400, field]);
    expect([await sandbox.contracts.list(), await sandbox.users.list()]).toEqual([[], []]);
  });

  it("names every wrong field in one answer", async () => {
    const sandbox = await startSandbox();
    const answer = await (await connect(sandbox)).post("/apps/api/contracts", {});
    const errors = at(answer.body, "validationErrors");
    const fields = Array.isArray(errors) ? errors.map((error) => String(at(error, "field"))) : [];
    expect(new Set(fields)).toEqual(
      new Set(["title", "contractServiceType", "amount", "BuyerParty", "SellerParty"]),
    );
  });
});

const user = { phoneNumber: "+966511111111", firstName: "Dana", lastName: "Omar" };
const userRows: [row: string, change: Record<string, unknown>, status: number][] = [
  ["lastName", {}, 200],
  ["lastName empty, as a party's", { lastName: "" }, 200],
  ["lastName missing", { lastName: undefined }, 400],
  ["lastName of another type", { lastName: 5 }, 400],
  ["firstName empty", { firstName: "" }, 400],
  [
    "everything",
    {
      nationalId: "1012345678",
      iBAN: "SA0380000000608010167519",
      bIC: "RIBLSARI",
      dateOfBirth: "1990-01-01T00:00:00Z",
    },
    200,
  ],
  ["everything optional null", { nationalId: null, iBAN: null, bIC: null, dateOfBirth: null }, 200],
  ["bIC of another type", { bIC: 5 }, 400],
  ["a national id of nine digits", { nationalId: "101234567" }, 400],
  ["a phone that is known", { phoneNumber: buyer.phoneNumber }, 200],
];

describe("the supplement's user request is answered as it should be", () => {
  it.each(userRows)("with %s", async (_row, change, status) => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    await createContract(api);
    expect((await api.post("/apps/api/user", { ...user, ...change })).status).toBe(status);
  });
});

interface RefundRow {
  row: string;
  change: Record<string, unknown>;
  status: number;
  milestones?: true;
  options?: SandboxOptions;
}

const refundRows: RefundRow[] = [
  { row: "a reason", change: {}, status: 200 },
  { row: "a reason of 500 characters", change: { reason: "ش".repeat(500) }, status: 200 },
  { row: "a reason of 501 characters", change: { reason: "ش".repeat(501) }, status: 400 },
  { row: "a blank reason", change: { reason: " " }, status: 400 },
  { row: "a reason of another type", change: { reason: 5 }, status: 400 },
  { row: "milestoneId null", change: { milestoneId: null }, status: 200 },
  { row: "milestoneId of a contract without milestones", change: { milestoneId: 1 }, status: 404 },
  { row: "milestoneId", change: { milestoneId: 1 }, status: 200, milestones: true },
  { row: "no milestoneId", change: {}, status: 400, milestones: true },
  { row: "milestoneId as text", change: { milestoneId: "1" }, status: 400, milestones: true },
  { row: "milestoneId with a fraction", change: { milestoneId: 1.5 }, status: 400, milestones: true },
  { row: "type FULL", change: { type: "FULL" }, status: 200 },
  { row: "type of another value", change: { type: "HALF" }, status: 400 },
  { row: "type PARTIAL, not offered", change: { type: "PARTIAL", amount: 5 }, status: 400 },
  {
    row: "type PARTIAL, offered",
    change: { type: "PARTIAL", amount: 5 },
    status: 200,
    options: { partialRefunds: true },
  },
  {
    row: "type PARTIAL of the whole",
    change: { type: "PARTIAL", amount: 1000 },
    status: 400,
    options: { partialRefunds: true },
  },
  {
    row: "type PARTIAL without amount",
    change: { type: "PARTIAL" },
    status: 400,
    options: { partialRefunds: true },
  },
];

async function paidContract(
  api: Api,
  act: (id: string) => Promise<unknown>,
  row: RefundRow,
): Promise<string> {
  const id = await createContract(api, row.milestones === true ? { Milestones: milestones } : {});
  await act(id);
  return id;
}

describe("§4.4, a refund request", () => {
  it.each(refundRows)("with $row is answered $status", async (row) => {
    const sandbox = await startSandbox(row.options);
    const api = await connect(sandbox);
    const id = await paidContract(api, (one) => sandbox.act(one, "pay"), row);
    const body = { reason: "Not as described", ...row.change };
    const answer = await api.post(`/apps/api/contracts/${id}/refund`, body);
    expect(answer.status).toBe(row.status);
    expect(await sandbox.refunds.list()).toHaveLength(row.status === 200 ? 1 : 0);
  });

  it("checks the buyer's authorization before the bank account, and that before the IBAN", async () => {
    const sandbox = await startSandbox({
      newUsers: { authorized: false, bankVerified: false, ibanResolves: false },
    });
    const api = await connect(sandbox);
    const id = await createContract(api, { SellerParty: { ...seller, KYC: undefined } });
    await sandbox.act(id, "pay");
    const who = (await sandbox.contracts.get(id))?.buyer ?? "";
    const keys = [];
    for (const change of [{}, { authorized: true }, { bankVerified: true }, { ibanResolves: true }]) {
      await sandbox.users.set(who, change);
      const answer = await api.post(`/apps/api/contracts/${id}/refund`, { reason: "Late" });
      keys.push(at(answer.body, "message"));
    }
    expect(keys).toEqual([
      "BuyerNotAuthorized",
      "BuyerBankAccountNotVerified",
      "FailedToResolveIban",
      "RefundCreatedSuccessfully",
    ]);
    const onboarding = (await sandbox.sms.list()).filter(({ kind }) => kind === "onboarding");
    expect(onboarding.map(({ to }) => to)).toEqual([buyer.phoneNumber, buyer.phoneNumber]);
  });
});

describe("§4.6, a log request", () => {
  const queries: [query: string, status: number][] = [
    ["", 200],
    ["page=1&pageSize=1", 200],
    ["pageSize=100", 200],
    ["page=999999999", 200],
    ["page=", 400],
    ["page=1.0", 400],
    ["page=-1", 400],
    ["page=+1", 400],
    ["pageSize=", 400],
    ["pageSize=1e2", 400],
  ];
  it.each(queries)("with %j is answered %i", async (query, status) => {
    const sandbox = await startSandbox();
    expect((await (await connect(sandbox)).get(`/apps/api/webhooks/logs?${query}`)).status).toBe(status);
  });

  it("above the maximum is taken as the maximum where pageSizeAboveMax says clamp", async () => {
    const sandbox = await startSandbox({ pageSizeAboveMax: "clamp" });
    const answer = await (await connect(sandbox)).get("/apps/api/webhooks/logs?pageSize=500");
    expect([answer.status, at(answer.body, "data.pageSize")]).toEqual([200, 100]);
  });
});
