import { beforeAll, describe, expect, it } from "vitest";

import { createSandbox } from "../../../src/sandbox.ts";
import type { Sandbox } from "../../../src/sandbox.ts";
import { at, connect, contractBody, isGuid, isUtc, milestones, openSandbox, refund } from "../support.ts";
import type { Answered, Api } from "../support.ts";

/** §2, row by row: every field of every table, in what the running sandbox answers. */
interface Seen {
  created: Answered;
  plain: Answered;
  got: Answered;
  gotTable: Answered;
  milestoneRefund: Answered;
  contractRefund: Answered;
  partialRefund: Answered;
  log: Answered;
  failed: Answered;
}

let seen: Seen;

beforeAll(async () => {
  const sandbox = await openSandbox({ webhookUrl: "http://127.0.0.1:9/" });
  const earlier = await openSandbox({ edition: "earlier", getShape: "table" });
  seen = await look(sandbox, await connect(sandbox), earlier, await connect(earlier));
  await sandbox.close();
  await earlier.close();
});

async function look(sandbox: Sandbox, api: Api, earlier: Sandbox, earlierApi: Api): Promise<Seen> {
  const full = {
    Milestones: milestones,
    description: "D",
    notes: "N",
    callbackUrl: "https://shop.example/back",
  };
  const created = await api.post("/apps/api/contracts", contractBody(full));
  const plain = await api.post(
    "/apps/api/contracts",
    contractBody({ amount: 600, reference: null, metaData: null }),
  );
  const [id, plainId] = [created, plain].map(({ body }) => String(at(body, "data.contractId")));
  for (const contractId of [id, plainId]) await sandbox.act(String(contractId), "pay");
  await sandbox.deliveries.idle();
  const earlierMade = await earlierApi.post("/apps/api/contracts", contractBody());
  const earlierId = String(at(earlierMade.body, "data.contractId"));
  await earlier.act(earlierId, "pay");
  return {
    created,
    plain,
    got: await api.get(`/apps/api/contracts/${id}`),
    gotTable: await earlierApi.get(`/apps/api/contracts/${earlierId}`),
    milestoneRefund: await refund(api, String(id), { milestoneId: at(created.body, "data.milestones.0.id") }),
    contractRefund: await refund(api, String(plainId)),
    partialRefund: await refund(earlierApi, earlierId, { type: "PARTIAL", amount: 250.5 }),
    log: await api.get("/apps/api/webhooks/logs"),
    failed: await api.post("/apps/api/contracts", {}),
  };
}

type Row = [section: string, field: string, holds: (seen: Seen) => unknown, right?: unknown];

const created = (path: string) => (all: Seen) => at(all.created.body, `data.${path}`);
const got = (path: string) => (all: Seen) => at(all.got.body, `data.${path}`);
const entry = (path: string) => (all: Seen) => at(all.log.body, `data.logs.0.${path}`);
const text = (read: (all: Seen) => unknown) => (all: Seen) => typeof read(all) === "string";

const rows: Row[] = [
  ["2.1", "data", (all) => typeof at(all.created.body, "data")],
  ["2.1", "message", (all) => at(all.created.body, "message"), "Contract created successfully."],
  ["2.1", "status mirrors the HTTP status", (all) => at(all.failed.body, "status"), 400],
  ["2.1", "validationErrors, empty on success", (all) => at(all.created.body, "validationErrors"), []],
  [
    "2.1",
    "succeeded",
    (all) => [at(all.created.body, "succeeded"), at(all.failed.body, "succeeded")],
    [true, false],
  ],
  [
    "2.1",
    "errors",
    (all) => [at(all.got.body, "errors"), at(all.failed.body, "errors")],
    [[], ["ValidationFailed"]],
  ],
  [
    "2.3",
    "contractId, prefixed CNT-",
    (all) => /^CNT-2601-\d{8}$/.test(String(created("contractId")(all))),
    true,
  ],
  ["2.3", "status: pending", created("status"), "pending"],
  ["2.3", "contractServiceType in lower case", created("contractServiceType"), "product"],
  [
    "2.3",
    "checkoutUrl with a token",
    (all) => /\?token=\w+$/.test(String(created("checkoutUrl")(all))),
    true,
  ],
  ["2.3", "buyerParty", created("buyerParty.firstName"), "Alia"],
  ["2.3", "sellerParty", created("sellerParty.firstName"), "Badr"],
  ["2.3", "reference", created("reference"), "order-77"],
  ["2.3", "reference, nullable", (all) => at(all.plain.body, "data.reference"), null],
  ["2.3", "metaData", created("metaData"), { metadata1: "one", metadata2: "" }],
  ["2.3", "metaData, nullable", (all) => at(all.plain.body, "data.metaData"), null],
  ["2.3", "milestones", created("milestones.1.name"), "Build"],
  ["2.3", "pricingLineItems", created("pricingLineItems.5.order"), 6],
  ["2.3", "createdDate", (all) => isUtc(created("createdDate")(all)), true],
  [
    "2.4",
    "platformRefId, generated for a party without",
    (all) => isGuid(created("buyerParty.platformRefId")(all)),
    true,
  ],
  ["2.4", "firstName", got("buyerParty.firstName"), "Alia"],
  ["2.4", "lastName, may be empty", got("sellerParty.lastName"), ""],
  ["2.4", "phoneNumber with country code", got("buyerParty.phoneNumber"), "+966500000001"],
  ["2.5", "id, a number on creation", created("milestones.0.id"), 1],
  ["2.5", "name", got("milestones.0.name"), "Design"],
  [
    "2.5",
    "description, optional",
    (all) => [got("milestones.0.description")(all), got("milestones.1.description")(all)],
    ["First half", null],
  ],
  ["2.5", "amount: a base of 600 returns 686.25", created("milestones.0.amount"), 686.25],
  [
    "2.5",
    "amount: a base of 400 returns 457.50, printed so",
    (all) => all.created.text.includes('"amount":457.50,'),
    true,
  ],
  ["2.5", "dueDate", got("milestones.0.dueDate"), "2026-03-01T00:00:00Z"],
  ["2.5", "status in the get response", got("milestones.0.status"), "escrow"],
  ["2.5", "pricingLineItems", got("milestones.0.pricingLineItems.0.amount"), 600],
  [
    "2.6",
    "id, a GUID in the get response only",
    (all) => [isGuid(got("pricingLineItems.0.id")(all)), created("pricingLineItems.0.id")(all)],
    [true, undefined],
  ],
  [
    "2.6",
    "lineType, in the order of the document",
    (all) => [0, 1, 2, 3, 4, 5].map((index) => created(`pricingLineItems.${index}.lineType`)(all)),
    [
      "contractAmount",
      "escrowFee",
      "escrowFeeTax",
      "externalPlatformFee",
      "externalPlatformFeeTax",
      "netEscrowAmountToSeller",
    ],
  ],
  ["2.6", "LineTypeDescription", text(created("pricingLineItems.0.LineTypeDescription")), true],
  [
    "2.6",
    "role",
    (all) => [0, 1, 2, 3, 4, 5].map((index) => created(`milestones.0.pricingLineItems.${index}.role`)(all)),
    ["buyer", "thirdParty", "thirdParty", "buyer", "buyer", "seller"],
  ],
  ["2.6", "RoleDescription", text(created("pricingLineItems.0.RoleDescription")), true],
  [
    "2.6",
    "amount",
    (all) => [0, 1, 2, 3, 4, 5].map((index) => created(`milestones.0.pricingLineItems.${index}.amount`)(all)),
    [600, 15, 2.25, 60, 9, 600],
  ],
  ["2.6", "description, null", created("pricingLineItems.0.description"), null],
  ["2.6", "order, from 1", created("pricingLineItems.0.order"), 1],
  ["2.7", "contractId (sample)", (all) => got("contractId")(all) === created("contractId")(all), true],
  ["2.7", "id, a GUID (table)", (all) => isGuid(at(all.gotTable.body, "data.id")), true],
  ["2.7", "reference", got("reference"), "order-77"],
  ["2.7", "title", got("title"), "Website"],
  ["2.7", "description", got("description"), "D"],
  ["2.7", "notes", got("notes"), "N"],
  ["2.7", "amount", got("amount"), 1000],
  ["2.7", "status", got("status"), "escrow"],
  ["2.7", "contractServiceType", got("contractServiceType"), "product"],
  ["2.7", "buyerParty, sellerParty", (all) => isGuid(got("sellerParty.platformRefId")(all)), true],
  ["2.7", "businessName", got("businessName"), "Sandbox Business"],
  ["2.7", "createdDate", (all) => isUtc(got("createdDate")(all)), true],
  ["2.7", "updatedDate", (all) => isUtc(got("updatedDate")(all)), true],
  ["2.7", "metaData", got("metaData"), { metadata1: "one", metadata2: "" }],
  ["2.7", "milestones", got("milestones.1.name"), "Build"],
  ["2.7", "pricingLineItems", got("pricingLineItems.0.amount"), 1000],
  ["2.7", "transactions, empty in the sample", got("transactions"), []],
  ["2.8", "refundId, an integer", (all) => at(all.milestoneRefund.body, "data.refundId"), 4521],
  [
    "2.8",
    "settlementId, null for a full refund",
    (all) => at(all.contractRefund.body, "data.settlementId"),
    null,
  ],
  ["2.8", "settlementId of a partial refund", (all) => at(all.partialRefund.body, "data.settlementId"), 901],
  [
    "2.8",
    "milestoneId",
    (all) => [
      at(all.milestoneRefund.body, "data.milestoneId"),
      at(all.contractRefund.body, "data.milestoneId"),
    ],
    [1, null],
  ],
  [
    "2.8",
    "refundedAmount",
    (all) => [
      at(all.milestoneRefund.body, "data.refundedAmount"),
      at(all.partialRefund.body, "data.refundedAmount"),
    ],
    [600, 250.5],
  ],
  [
    "2.8",
    "releasedToSellerAmount, partial refunds only",
    (all) => [
      at(all.contractRefund.body, "data.releasedToSellerAmount"),
      at(all.partialRefund.body, "data.releasedToSellerAmount"),
    ],
    [null, 749.5],
  ],
  [
    "2.8",
    "type",
    (all) => [at(all.contractRefund.body, "data.type"), at(all.partialRefund.body, "data.type")],
    ["FullRefund", "PartialRefund"],
  ],
  [
    "2.8",
    "externalContractId",
    (all) => at(all.milestoneRefund.body, "data.externalContractId") === created("contractId")(all),
    true,
  ],
  ["2.9", "id, a GUID", (all) => isGuid(entry("id")(all)), true],
  ["2.9", "eventType", text(entry("eventType")), true],
  ["2.9", "externalContractId", text(entry("externalContractId")), true],
  ["2.9", "contractId, an integer", (all) => Number.isInteger(entry("contractId")(all)), true],
  ["2.9", "httpStatusCode, null without an answer (supplement)", entry("httpStatusCode"), null],
  ["2.9", "isSuccess", entry("isSuccess"), false],
  ["2.9", "attemptNumber", entry("attemptNumber"), 1],
  [
    "2.9",
    "errorMessage names the address tried",
    (all) => String(entry("errorMessage")(all)).includes("127.0.0.1:9"),
    true,
  ],
  ["2.9", "durationMs, an integer", (all) => Number.isInteger(entry("durationMs")(all)), true],
  ["2.9", "createdAt", (all) => isUtc(entry("createdAt")(all)), true],
];

describe("§2, each field of each table", () => {
  it.each(rows)("§%s %s", (_section, _field, holds, right = "object") => {
    expect(holds(seen)).toEqual(right);
  });
});

/** §2.2: what is wrong with a request, and the field that the answer must name. */
const faults: [what: string, change: Record<string, unknown>, field: string][] = [
  ["title missing", { title: undefined }, "title"],
  ["title of another type", { title: 7 }, "title"],
  ["contractServiceType not of the two", { contractServiceType: "Rent" }, "contractServiceType"],
  ["BuyerParty missing", { BuyerParty: undefined }, "BuyerParty"],
  ["BuyerParty of another type", { BuyerParty: "Alia" }, "BuyerParty"],
  ["SellerParty missing", { SellerParty: null }, "SellerParty"],
  ["amount missing", { amount: undefined }, "amount"],
  ["amount as text", { amount: "1000" }, "amount"],
  ["amount zero", { amount: 0 }, "amount"],
  ["amount with three decimals", { amount: 10.005 }, "amount"],
  ["description of another type", { description: {} }, "description"],
  ["notes of another type", { notes: [] }, "notes"],
  ["reference of another type", { reference: 5 }, "reference"],
  ["metaData of another type", { metaData: "x" }, "metaData"],
  ["metadata3 of another type", { metaData: { metadata3: 3 } }, "metaData.metadata3"],
  ["callbackUrl that is none", { callbackUrl: "javascript:alert(1)" }, "callbackUrl"],
  [
    "a platformRefId that names nobody",
    { BuyerParty: { platformRefId: "nobody" } },
    "BuyerParty.platformRefId",
  ],
  [
    "no phoneNumber and no platformRefId",
    { BuyerParty: { firstName: "A", lastName: "" } },
    "BuyerParty.phoneNumber",
  ],
  [
    "a phone without country code",
    { BuyerParty: { phoneNumber: "0500", firstName: "A", lastName: "" } },
    "BuyerParty.phoneNumber",
  ],
  ["no firstName", { BuyerParty: { phoneNumber: "+966500000009", lastName: "" } }, "BuyerParty.firstName"],
  ["no lastName", { BuyerParty: { phoneNumber: "+966500000009", firstName: "A" } }, "BuyerParty.lastName"],
  [
    "KYC without identity",
    {
      SellerParty: {
        phoneNumber: "+966500000009",
        firstName: "A",
        lastName: "",
        KYC: { IBANNumber: "SA0380000000608010167519" },
      },
    },
    "SellerParty.KYC.identity",
  ],
  [
    "seller's KYC without IBAN",
    {
      SellerParty: {
        phoneNumber: "+966500000009",
        firstName: "A",
        lastName: "",
        kyc: { identity: "1012345678" },
      },
    },
    "SellerParty.KYC.IBANNumber",
  ],
  [
    "dateOfBirth that is no date",
    {
      SellerParty: {
        phoneNumber: "+966500000009",
        firstName: "A",
        lastName: "",
        kyc: { identity: "1012345678", iBANNumber: "SA0380000000608010167519", dateOfBirth: "soon" },
      },
    },
    "SellerParty.KYC.dateOfBirth",
  ],
  ["Milestones of another type", { Milestones: {} }, "Milestones"],
  [
    "milestone without Name",
    { Milestones: [{ ...milestones[0], Name: undefined }, milestones[1]] },
    "Milestones[0].Name",
  ],
  [
    "milestone of amount 0",
    { Milestones: [{ ...milestones[0], Amount: 0 }, milestones[1]] },
    "Milestones[0].Amount",
  ],
  [
    "milestone as large as the contract",
    { Milestones: [{ ...milestones[0], Amount: 1000 }] },
    "Milestones[0].Amount",
  ],
  [
    "milestones that miss the sum",
    { Milestones: [{ ...milestones[0], Amount: 599.99 }, milestones[1]] },
    "Milestones",
  ],
  [
    "DueDate missing",
    { Milestones: [milestones[0], { ...milestones[1], DueDate: undefined }] },
    "Milestones[1].DueDate",
  ],
  [
    "DueDate without Z",
    { Milestones: [milestones[0], { ...milestones[1], DueDate: "2026-03-01T00:00:00+03:00" }] },
    "Milestones[1].DueDate",
  ],
];

describe("§2.2, each rule of the creation request", () => {
  it.each(faults)("names the field: %s", async (_what, change, field) => {
    const sandbox = await createSandbox();
    const answer = await (await connect(sandbox)).post("/apps/api/contracts", contractBody(change));
    await sandbox.close();
    expect([answer.status, at(answer.body, "status"), at(answer.body, "data")]).toEqual([400, 400, null]);
    expect(at(answer.body, "validationErrors.0.field")).toBe(field);
    expect(String(at(answer.body, "validationErrors.0.message"))).toContain(field);
  });

  it("accepts an empty lastName, either spelling of callbackUrl and KYC, and a known platformRefId", async () => {
    const sandbox = await createSandbox();
    const api = await connect(sandbox);
    const first = await api.post(
      "/apps/api/contracts",
      contractBody({ callbackurl: "https://shop.example/" }),
    );
    const platformRefId = at(first.body, "data.buyerParty.platformRefId");
    const again = await api.post(
      "/apps/api/contracts",
      contractBody({ buyerParty: { platformRefId }, BuyerParty: undefined }),
    );
    const samePhone = await api.post("/apps/api/contracts", contractBody());
    await sandbox.close();
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(at(again.body, "data.buyerParty.phoneNumber")).toBe("+966500000001");
    expect(at(samePhone.body, "data.buyerParty.platformRefId")).toBe(platformRefId);
  });
});
