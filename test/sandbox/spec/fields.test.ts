import { beforeAll, describe, expect, it } from "vitest";

import {
  at,
  connect,
  contractBody,
  createContract,
  isGuid,
  milestones,
  openReceiver,
  openSandbox,
  refund,
} from "../support.ts";
import type { Answered } from "../support.ts";

/** §2 and §6.3: the exact fields of every answer, log entry and payload, with their types; nothing missing, nothing more. */
const answers = new Map<string, Answered>();
const payloads = new Map<string, unknown>();

beforeAll(async () => {
  const receiver = await openReceiver(
    (response, _one, count) => void response.writeHead(count === 1 ? 500 : 200).end(),
  );
  const sandbox = await openSandbox({ webhookUrl: receiver.url });
  const api = await connect(sandbox);
  const keep = async (name: string, answer: Promise<Answered>): Promise<string> => {
    answers.set(name, await answer);
    return String(at(answers.get(name)?.body, "data.contractId"));
  };
  await keep("test", api.post("/apps/api/webhooks/test"));
  await sandbox.clock.advance(10_000);
  await keep("testLog", api.get("/apps/api/webhooks/logs"));
  const whole = await keep(
    "created",
    api.post("/apps/api/contracts", contractBody({ Milestones: milestones, description: "D", notes: "N" })),
  );
  const ids: string[] = [];
  for (let count = 0; count < 6; count++)
    ids.push(
      await createContract(api, count > 3 ? { Milestones: milestones } : { reference: null, metaData: null }),
    );
  const [rejected = "", cancelled = "", refunded = "", completed = "", split = "", disputed = ""] = ids;
  await sandbox.act(rejected, "reject");
  await sandbox.act(cancelled, "cancel");
  for (const id of [whole, refunded, completed, split, disputed]) await sandbox.act(id, "pay");
  await keep("got", api.get(`/apps/api/contracts/${whole}`));
  await keep("refunded", refund(api, refunded));
  await sandbox.settleRefund(String(at(answers.get("refunded")?.body, "data.refundId")));
  await sandbox.act(completed, "release");
  await sandbox.act(completed, "complete");
  await keep("milestoneRefunded", refund(api, split, { milestoneId: 3 }));
  await sandbox.settleRefund(String(at(answers.get("milestoneRefunded")?.body, "data.refundId")));
  await sandbox.act(disputed, "dispute", { milestoneId: 5 });
  await sandbox.act(disputed, "dispute");
  await sandbox.act(whole, "release");
  await sandbox.act(whole, "complete");
  await sandbox.deliveries.idle();
  await keep("log", api.get("/apps/api/webhooks/logs?pageSize=100"));
  await keep("subscription", api.get("/apps/api/webhooks"));
  await keep(
    "user",
    api.post("/apps/api/user", { phoneNumber: "+966511111111", firstName: "Dana", lastName: "" }),
  );
  await keep("onboarding", api.get("/apps/api/user/onboarding?phoneNumber=966511111111"));
  await keep("refusedCreate", api.post("/apps/api/contracts", {}));
  await keep("refusedRefund", refund(api, refunded));
  await keep(
    "unauthorized",
    api.send("GET", `/apps/api/contracts/${whole}`, { headers: { Authorization: "Bearer x" } }),
  );
  await sandbox.close();
  receiver.close();
  for (const { payload } of receiver.received) payloads.set(String(at(payload, "event")), payload);
});

const names = (value: unknown): string[] =>
  Object.keys(typeof value === "object" && value !== null ? value : {});
const envelope = ["data", "message", "status", "validationErrors", "succeeded", "errors"];
const lineOnCreation = [
  "lineType",
  "LineTypeDescription",
  "role",
  "RoleDescription",
  "amount",
  "description",
  "order",
];
const lineOnRead = ["id", "lineType", "role", "amount", "description", "order"];
const party = ["platformRefId", "firstName", "lastName", "phoneNumber"];
const milestone = ["id", "name", "description", "amount", "dueDate"];
const logEntry = [
  "id",
  "eventType",
  "externalContractId",
  "contractId",
  "httpStatusCode",
  "isSuccess",
  "attemptNumber",
  "errorMessage",
  "durationMs",
  "createdAt",
];
const refundRecord = [
  "refundId",
  "settlementId",
  "milestoneId",
  "refundedAmount",
  "releasedToSellerAmount",
  "type",
  "externalContractId",
];

const shapes: [row: string, answer: string, path: string, fields: string[]][] = [
  ...["created", "got", "refunded", "test", "log", "refusedCreate", "refusedRefund", "unauthorized"].map(
    (answer): [string, string, string, string[]] => ["§2.1 envelope", answer, "", envelope],
  ),
  [
    "§2.3 creation",
    "created",
    "data",
    [
      "contractId",
      "status",
      "contractServiceType",
      "checkoutUrl",
      "buyerParty",
      "sellerParty",
      "reference",
      "metaData",
      "milestones",
      "pricingLineItems",
      "createdDate",
    ],
  ],
  ["§2.4 party", "created", "data.buyerParty", party],
  ["§2.4 party", "got", "data.sellerParty", party],
  [
    "§2.5 milestone on creation, without status",
    "created",
    "data.milestones.0",
    [...milestone, "pricingLineItems"],
  ],
  [
    "§2.5 milestone in the get response",
    "got",
    "data.milestones.0",
    [...milestone, "status", "pricingLineItems"],
  ],
  ["§2.6 line of the contract on creation", "created", "data.pricingLineItems.5", lineOnCreation],
  ["§2.6 line of a milestone on creation", "created", "data.milestones.1.pricingLineItems.0", lineOnCreation],
  ["§2.6 line in the get response", "got", "data.pricingLineItems.0", lineOnRead],
  ["§2.6 line of a milestone in the get response", "got", "data.milestones.1.pricingLineItems.5", lineOnRead],
  [
    "§2.7 get",
    "got",
    "data",
    [
      "contractId",
      "reference",
      "title",
      "description",
      "notes",
      "amount",
      "status",
      "contractServiceType",
      "buyerParty",
      "sellerParty",
      "businessName",
      "createdDate",
      "updatedDate",
      "metaData",
      "milestones",
      "pricingLineItems",
      "transactions",
    ],
  ],
  ["§2.8 refund of a contract", "refunded", "data", refundRecord],
  ["§2.8 refund of a milestone", "milestoneRefunded", "data", refundRecord],
  ["§2.9 log entry", "log", "data.logs.0", logEntry],
  ["§2.9 log entry of webhook.test", "testLog", "data.logs.0", logEntry],
  ["§4.5 test", "test", "data", ["webhookId", "message"]],
  ["§4.6 log page", "log", "data", ["logs", "totalCount", "page", "pageSize"]],
  [
    "supplement, subscription",
    "subscription",
    "data",
    [
      "id",
      "webhookUrl",
      "secretKey",
      "isActive",
      "consecutiveFailures",
      "lastSuccessAt",
      "lastFailureAt",
      "createdAt",
    ],
  ],
  ["supplement, user", "user", "data", ["platformRefId", "kycUrl"]],
  [
    "supplement, onboarding",
    "onboarding",
    "data",
    ["platformRefId", "onboardingUrl", "onboardingCompleted", "isVerified", "kycCompleted"],
  ],
];

describe("§2, the fields of an answer", () => {
  it.each(shapes)("%s: %s %s", (_row, answer, path, fields) => {
    const body = answers.get(answer)?.body;
    expect(names(path === "" ? body : at(body, path)).sort()).toEqual([...fields].sort());
  });

  it.each(["refusedCreate", "refusedRefund", "unauthorized"])("§7 an error has both lists: %s", (answer) => {
    const body = answers.get(answer)?.body;
    expect([at(body, "status"), at(body, "succeeded")]).toEqual([answers.get(answer)?.status, false]);
    for (const list of ["validationErrors", "errors"]) expect(Array.isArray(at(body, list))).toBe(true);
    expect(at(body, "errors.0")).toEqual(expect.any(String));
  });

  it("§2.6 lines of the contract and of each milestone stand in one order, numbered from 1", () => {
    for (const answer of ["created", "got"]) {
      for (const owner of ["data", "data.milestones.0", "data.milestones.1"]) {
        const lines = [0, 1, 2, 3, 4, 5].map((index) =>
          at(answers.get(answer)?.body, `${owner}.pricingLineItems.${index}`),
        );
        expect(lines.map((line) => [at(line, "lineType"), at(line, "role"), at(line, "order")])).toEqual([
          ["contractAmount", "buyer", 1],
          ["escrowFee", "thirdParty", 2],
          ["escrowFeeTax", "thirdParty", 3],
          ["externalPlatformFee", "buyer", 4],
          ["externalPlatformFeeTax", "buyer", 5],
          ["netEscrowAmountToSeller", "seller", 6],
        ]);
      }
    }
  });

  it("§2.5 a milestone's amount is its base with all fees and taxes", () => {
    for (const answer of ["created", "got"]) {
      const one = at(answers.get(answer)?.body, "data.milestones.0");
      const amounts = [0, 1, 2, 3, 4].map((index) => Number(at(one, `pricingLineItems.${index}.amount`)));
      expect([at(one, "amount"), amounts.reduce((sum, amount) => sum + amount, 0)]).toEqual([686.25, 686.25]);
    }
  });
});

describe("§2.9, a log entry's types", () => {
  const types: [field: string, holds: (value: unknown) => boolean][] = [
    ["id", isGuid],
    ["eventType", (value) => typeof value === "string"],
    ["externalContractId", (value) => typeof value === "string"],
    ["contractId", Number.isInteger],
    ["httpStatusCode", Number.isInteger],
    ["isSuccess", (value) => typeof value === "boolean"],
    ["attemptNumber", Number.isInteger],
    ["errorMessage", (value) => value === null || typeof value === "string"],
    ["durationMs", Number.isInteger],
    ["createdAt", (value) => typeof value === "string"],
  ];

  it.each(types)("%s holds for every event, webhook.test included", (field, holds) => {
    for (const name of ["testLog", "log"]) {
      const logs = at(answers.get(name)?.body, "data.logs");
      const wrong = (Array.isArray(logs) ? logs : [undefined]).filter((entry) => !holds(at(entry, field)));
      expect(wrong).toEqual([]);
    }
  });

  it("webhook.test names no contract, and each of its attempts is an entry", () => {
    const logs = at(answers.get("testLog")?.body, "data.logs");
    expect(logs).toMatchObject([
      {
        eventType: "webhook.test",
        externalContractId: "",
        contractId: 0,
        isSuccess: true,
        attemptNumber: 2,
        errorMessage: null,
      },
      {
        eventType: "webhook.test",
        externalContractId: "",
        contractId: 0,
        isSuccess: false,
        attemptNumber: 1,
        httpStatusCode: 500,
      },
    ]);
  });
});

/** Beside the fields of every event. */
const of = {
  contract: [],
  milestone: ["milestoneId"],
  payment: ["paymentId", "transactionId", "invoiceId"],
  milestonePayment: ["milestoneId", "paymentId", "transactionId", "invoiceId"],
  refund: ["transactionId"],
  milestoneRefund: ["milestoneId", "transactionId"],
} as const;

const events: [event: string, own: readonly string[]][] = [
  ["contract.created", of.contract],
  ["contract.approved", of.contract],
  ["contract.rejected", of.contract],
  ["contract.cancelled", of.contract],
  ["payment.completed", of.payment],
  ["contract.released", of.contract],
  ["contract.disputed", ["disputeId"]],
  ["contract.refunded", of.contract],
  ["refund.full-initiated", of.refund],
  ["refund.full-succeeded", of.refund],
  ["contract.completed", of.contract],
  ["milestone.payment.completed", of.milestonePayment],
  ["milestone.released", of.milestone],
  ["milestone.disputed", ["milestoneId", "disputeId"]],
  ["milestone.completed", of.milestone],
  ["milestone.refund.full-initiated", of.milestoneRefund],
  ["milestone.refund.full-succeeded", of.milestoneRefund],
];
const optional = ["milestoneId", "disputeId", "paymentId", "transactionId", "invoiceId"];
const always = ["contractId", "status", "amount", "currency", "timestamp", "metadata"];

describe("§6.3, the fields of a payload", () => {
  it.each(events)("%s has %j beside those of every event", (event, own) => {
    const payload = payloads.get(event);
    const data = names(at(payload, "data"));
    expect(names(payload)).toEqual(["id", "event", "createdAt", "data"]);
    expect(optional.filter((name) => data.includes(name)).sort()).toEqual([...own].sort());
    expect(always.filter((name) => !data.includes(name))).toEqual([]);
    expect(data.includes("previousStatus")).toBe(event !== "contract.created");
    expect([at(payload, "data.currency"), typeof at(payload, "data.amount")]).toEqual(["SAR", "number"]);
    expect(at(payload, "data.metadata.milestoneId")).toBe(
      own.includes("milestoneId") ? String(at(payload, "data.milestoneId")) : undefined,
    );
  });

  it("has no reference where none was given, in data or in metadata", () => {
    const payload = payloads.get("contract.rejected");
    expect([names(at(payload, "data")).includes("reference"), at(payload, "data.metadata")]).toEqual([
      false,
      {},
    ]);
  });

  it("of webhook.test speaks of no contract", () => {
    const payload = payloads.get("webhook.test");
    expect([names(payload), names(at(payload, "data"))]).toEqual([
      ["id", "event", "createdAt", "data"],
      ["message", "timestamp", "metadata"],
    ]);
  });
});
