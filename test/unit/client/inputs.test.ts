import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { contractSchema } from "../../../src/client/input/contract-input.ts";
import { contractId } from "../../../src/client/input/fields.ts";
import { secretsOf, writeJson } from "../../../src/client/input/json.ts";
import { refundSchema } from "../../../src/client/input/refund-input.ts";
import { phoneSchema, userSchema } from "../../../src/client/input/user-input.ts";
import { allLogsSchema, logsSchema, webhookSchema } from "../../../src/client/input/webhook-input.ts";

/** Paths of what is refused; none where the input is right. */
function faults(schema: z.ZodType, input: unknown): string[] {
  return schema.safeParse(input).error?.issues.map(({ path }) => path.join(".")) ?? [];
}

const buyer = { phoneNumber: "+966500000001", firstName: "Alia", lastName: "" };
const right = {
  title: "Website",
  contractServiceType: "Product",
  buyerParty: buyer,
  sellerParty: { platformRefId: "user-2" },
  amount: 1000,
};
const contract = (change: object): unknown => ({ ...right, ...change });
const milestone = (amount: unknown, change: object = {}) => ({
  name: "a",
  amount,
  dueDate: "2026-03-01T00:00:00Z",
  ...change,
});
const split = (...amounts: unknown[]) => contract({ milestones: amounts.map((amount) => milestone(amount)) });

/** Halalas as one writes them: as text or as a number. */
const write = (value: number) =>
  fc.constantFrom(`${Math.trunc(value / 100)}.${String(value % 100).padStart(2, "0")}`, value / 100);
const due = (dueDate: unknown) => contract({ milestones: [milestone(500, { dueDate }), milestone(500)] });

const party = (buyerParty: unknown) => faults(contractSchema, contract({ buyerParty }));
const seller = (sellerParty: unknown) => faults(contractSchema, contract({ sellerParty }));

describe("an amount", () => {
  it.each([1, 0.01, 600.1, "600.00", "1e3", "+5", 90071992547409.91, "90071992547409.91", "00012.50"])(
    "%s is one",
    (amount) => {
      expect(faults(contractSchema, contract({ amount }))).toEqual([]);
    },
  );

  it.each([
    0,
    -1,
    "0.00",
    "-0.01",
    Number.NaN,
    Infinity,
    0.001,
    "1.005",
    0.1 + 0.2,
    "1,000",
    "1 000",
    "",
    " ",
    "12 ",
    "٣",
    "0x10",
    "1e400",
    1e21,
    "90071992547409.92",
    null,
    undefined,
    true,
    [1],
    {},
    5n,
  ])("%s is none", (amount) => {
    expect(faults(contractSchema, contract({ amount }))).toEqual(["amount"]);
  });

  it.each([
    ["600.00", "600"],
    [600.1, "600.1"],
    ["90071992547409.91", "90071992547409.91"],
    ["1e3", "1000"],
    ["0.10", "0.1"],
  ])("%s is sent as the number %s", (amount, json) => {
    expect(writeJson(contractSchema.parse(contract({ amount })))).toContain(`"amount":${json}}`);
  });
});

describe("milestones", () => {
  it.each([
    ["two halves", split(500, 500)],
    ["text and numbers", split("600.10", 399.9)],
    ["a tenth and two", contract({ amount: "0.30", milestones: [milestone(0.1), milestone(0.2)] })],
    ["none", contract({ milestones: [] })],
    ["null", contract({ milestones: null })],
  ])("that are %s are right", (_, input) => {
    expect(faults(contractSchema, input)).toEqual([]);
  });

  it.each([
    ["too little", split(500, 499.99), ["milestones"]],
    ["too much", split(500, "500.01"), ["milestones"]],
    ["one that is all", split(1000), ["milestones.0.amount"]],
    ["one above all", split(1001, 1), ["milestones.0.amount", "milestones"]],
    ["one that is nothing", split(1000, 0), ["milestones.1.amount"]],
    ["no list", contract({ milestones: "two" }), ["milestones"]],
    [
      "without a name",
      contract({ milestones: [milestone(500, { name: " " }), milestone(500)] }),
      ["milestones.0.name"],
    ],
    [
      "with an unknown field",
      contract({ milestones: [milestone(500, { price: 1 }), milestone(500)] }),
      ["milestones.0"],
    ],
  ])("that are %s are refused", (_, input, paths) => {
    expect(faults(contractSchema, input)).toEqual(paths);
  });

  it("are right exactly when their halalas add up", () => {
    const cents = fc.integer({ min: 1, max: 2 ** 40 });
    const cases = fc
      .tuple(fc.array(cents, { minLength: 2, maxLength: 8 }), fc.integer({ min: -1, max: 1 }))
      .chain(([parts, off]) => {
        const total = parts.reduce((sum, part) => sum + part, 0) + off;
        return fc.record({
          total: write(total),
          parts: fc.tuple(...parts.map(write)),
          off: fc.constant(off),
          minor: fc.constant([total, ...parts] as const),
        });
      });
    fc.assert(
      fc.property(cases, ({ total, parts, off, minor: [whole, ...each] }) => {
        fc.pre(each.every((part) => part < whole));
        const found = faults(
          contractSchema,
          contract({ amount: total, milestones: parts.map((part) => milestone(part)) }),
        );
        expect(found).toEqual(off === 0 ? [] : ["milestones"]);
      }),
    );
  });
});

describe("a due date", () => {
  it.each([
    "2026-03-01T00:00:00Z",
    "2026-03-01T00:00Z",
    "2026-01-25T10:28:10.4874015Z",
    "2028-02-29T23:59:59Z",
  ])("%s is one", (text) => {
    expect(faults(contractSchema, due(text))).toEqual([]);
  });

  it.each([
    "2026-03-01",
    "2026-03-01T00:00:00",
    "2026-03-01T00:00:00+00:00",
    "2026-03-01T00:00:00z",
    "2026-03-01 00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-03-01T24:00:00Z",
    "2026-13-01T00:00:00Z",
    "soon",
    "",
    5,
    null,
    new Date(0),
  ])("%s is none", (value) => {
    expect(faults(contractSchema, due(value))).toEqual(["milestones.0.dueDate"]);
  });
});

describe("a party", () => {
  const kyc = { identity: "1012345678", ibanNumber: "SA0380000000608010167519" };

  it.each([
    ["an id", { platformRefId: "user-1" }],
    ["an id, and nothing else that is needed", { platformRefId: "user-1", firstName: "", phoneNumber: null }],
    ["phone and names", buyer],
    ["a phone with separators", { ...buyer, phoneNumber: "+966 (50) 000-0001" }],
    ["a phone without a plus", { ...buyer, phoneNumber: "966500000001" }],
    ["KYC without an account, as a buyer", { ...buyer, kyc: { identity: "2012345678" } }],
  ])("by %s is right", (_, value) => {
    expect(party(value)).toEqual([]);
  });

  it.each([
    ["nothing", {}, ["phoneNumber", "firstName", "lastName"]],
    ["an empty id", { platformRefId: "" }, ["platformRefId"]],
    ["a phone alone", { phoneNumber: "+966500000001" }, ["firstName", "lastName"]],
    ["a blank first name", { ...buyer, firstName: " " }, ["firstName"]],
    ["no last name", { phoneNumber: "+966500000001", firstName: "Alia" }, ["lastName"]],
    ["a phone without its country", { ...buyer, phoneNumber: "0500000001" }, ["phoneNumber"]],
    ["a short phone", { ...buyer, phoneNumber: "+96650" }, ["phoneNumber"]],
    ["a phone of letters", { ...buyer, phoneNumber: "+9665ALIA0001" }, ["phoneNumber"]],
    ["a misspelt field", { ...buyer, phone: "1" }, [""]],
  ])("by %s is refused", (_, value, paths) => {
    expect(party(value)).toEqual(paths.map((path) => ["buyerParty", path].filter(Boolean).join(".")));
  });

  it("that sells needs an account with its KYC", () => {
    expect(seller({ ...buyer, kyc })).toEqual([]);
    expect(seller({ ...buyer, kyc: { identity: "1012345678" } })).toEqual(["sellerParty.kyc.ibanNumber"]);
  });

  it.each(["3012345678", "101234567", "10123456789", "1O12345678", "", 1012345678])(
    "with the national id %s is refused",
    (identity) => {
      expect(party({ ...buyer, kyc: { identity } })).toEqual(["buyerParty.kyc.identity"]);
    },
  );

  it.each(["SA03", "0380000000608010167519", "SA0380000000608010167519!", "S40380000000608010167519", ""])(
    "with the account %s is refused",
    (ibanNumber) => {
      expect(party({ ...buyer, kyc: { ...kyc, ibanNumber } })).toEqual(["buyerParty.kyc.ibanNumber"]);
    },
  );

  it.each(["1990-01-31", "1990-01-31T00:00:00Z"])("born on %s is sent with a time", (dateOfBirth) => {
    const body = contractSchema.parse(contract({ buyerParty: { ...buyer, kyc: { ...kyc, dateOfBirth } } }));
    expect(writeJson(body)).toContain('"dateOfBirth":"1990-01-31T00:00:00Z"');
  });

  it.each(["1990-02-30", "1990-01-31T00:00:00+03:00", "31.1.1990", ""])(
    "born on %s is refused",
    (dateOfBirth) => {
      expect(party({ ...buyer, kyc: { ...kyc, dateOfBirth } })).toEqual(["buyerParty.kyc.dateOfBirth"]);
    },
  );
});

describe("a contract", () => {
  it("goes out under the wire's own names, without what is absent or null", () => {
    const full = contract({
      sellerParty: {
        ...buyer,
        kyc: { identity: "1012345678", ibanNumber: "sa03 8000 0000 6080 1016 7519", bicCode: "SAMB" },
      },
      milestones: [milestone("600.00"), milestone(400, { description: null })],
      metaData: { metadata1: "x", metadata2: "" },
      notes: null,
      description: undefined,
      callbackUrl: "https://shop.test/back",
    });
    expect(JSON.parse(writeJson(contractSchema.parse(full)))).toEqual({
      title: "Website",
      contractServiceType: "Product",
      amount: 1000,
      metaData: { metadata1: "x", metadata2: "" },
      callbackUrl: "https://shop.test/back",
      BuyerParty: buyer,
      SellerParty: {
        ...buyer,
        KYC: { identity: "1012345678", IBANNumber: "SA0380000000608010167519", bICCode: "SAMB" },
      },
      Milestones: [
        { Name: "a", Amount: 600, DueDate: "2026-03-01T00:00:00Z" },
        { Name: "a", Amount: 400, DueDate: "2026-03-01T00:00:00Z" },
      ],
    });
  });

  it("is taken in the casing of the service's samples too", () => {
    const { buyerParty, sellerParty, ...rest } = right;
    const sample = {
      ...rest,
      BuyerParty: buyerParty,
      SellerParty: {
        ...sellerParty,
        KYC: { identity: "1012345678", IBANNumber: "SA0380000000608010167519" },
      },
      callbackurl: "https://x.test",
      Milestones: [
        { Name: "a", Amount: 1, DueDate: "2026-03-01T00:00:00Z" },
        { Name: "b", Amount: 999, DueDate: "2026-03-01T00:00:00Z" },
      ],
    };
    expect(faults(contractSchema, sample)).toEqual([]);
  });

  it.each([
    ["two titles", { Title: "Other" }, "title"],
    ["an unknown field", { milestone: [] }, ""],
    ["a blank title", { title: " " }, "title"],
    ["another service type", { contractServiceType: "product" }, "contractServiceType"],
    ["no buyer", { buyerParty: undefined }, "buyerParty"],
    ["metadata that is no text", { metaData: { metadata1: 5 } }, "metaData.metadata1"],
    ["a fifth metadata", { metaData: { metadata5: "x" } }, "metaData"],
    ["a callback that is no URL", { callbackUrl: "/back" }, "callbackUrl"],
    ["a callback with a password", { callbackUrl: "https://a:b@x.test" }, "callbackUrl"],
    ["a callback of another scheme", { callbackUrl: "javascript:alert(1)" }, "callbackUrl"],
  ])("with %s is refused", (_, change, path) => {
    expect(faults(contractSchema, contract(change))).toEqual([path]);
  });

  it.each([undefined, null, "x", [], 5])("that is %s is refused", (value) => {
    expect(faults(contractSchema, value)).toEqual([""]);
  });
});

describe("a refund", () => {
  it.each([
    [{ reason: "x" }, '{"reason":"x"}'],
    [{ reason: "x", milestoneId: 13 }, '{"milestoneId":13,"reason":"x"}'],
    [{ reason: "x", milestoneId: "13" }, '{"milestoneId":13,"reason":"x"}'],
    [{ reason: "x", milestoneId: "9007199254740993" }, '{"milestoneId":9007199254740993,"reason":"x"}'],
    [{ reason: "x", milestoneId: "007" }, '{"milestoneId":"007","reason":"x"}'],
    [{ reason: "x", type: "PARTIAL", amount: "4.50" }, '{"reason":"x","type":"PARTIAL","amount":4.5}'],
    [{ reason: "x", type: "FULL", milestoneId: null }, '{"reason":"x","type":"FULL"}'],
  ])("%j is sent as %s", (input, json) => {
    expect(writeJson(refundSchema.parse(input))).toBe(json);
  });

  it.each([
    [{ reason: "" }, "reason"],
    [{ reason: "  " }, "reason"],
    [{}, "reason"],
    [{ reason: "x".repeat(501) }, "reason"],
    [{ reason: "x", amount: 5 }, "amount"],
    [{ reason: "x", type: "FULL", amount: 5 }, "amount"],
    [{ reason: "x", type: "PARTIAL" }, "amount"],
    [{ reason: "x", type: "PARTIAL", amount: "0.001" }, "amount"],
    [{ reason: "x", type: "partial", amount: 1 }, "type"],
    [{ reason: "x", milestoneId: 1.5 }, "milestoneId"],
    [{ reason: "x", milestoneId: -1 }, "milestoneId"],
    [{ reason: "x", milestoneId: 2 ** 53 }, "milestoneId"],
    [{ reason: "x", milestoneId: "" }, "milestoneId"],
    [{ reason: "x", milestone: 1 }, ""],
  ])("%j is refused", (input, path) => {
    expect(faults(refundSchema, input)).toEqual([path]);
  });

  it("may have a reason of 500 characters, as a person counts them", () => {
    expect(faults(refundSchema, { reason: "😀".repeat(500) })).toEqual([]);
    expect(faults(refundSchema, { reason: "😀".repeat(501) })).toEqual(["reason"]);
  });
});

describe("a contract id", () => {
  it.each(["CNT-2601-00100003", "0f8fad5b-d9cb-469f-a165-70867728950e", "a.b_c~d"])(
    "%s is safe in a path",
    (id) => {
      expect(faults(contractId, id)).toEqual([]);
    },
  );

  it.each([
    "",
    " ",
    ".",
    "..",
    "a/b",
    "../x",
    "a?b",
    "a#b",
    "a%2fb",
    "a b",
    "a\nb",
    "é",
    "a\\b",
    "x".repeat(256),
    5,
    null,
    undefined,
  ])("%s is refused", (id) => {
    expect(faults(contractId, id)).not.toEqual([]);
  });
});

it("other inputs are checked too", () => {
  expect(faults(phoneSchema, { phoneNumber: "12" })).toEqual(["phoneNumber"]);
  expect(faults(userSchema, { phoneNumber: "+966500000001", firstName: "A" })).toEqual(["lastName"]);
  expect(
    faults(userSchema, {
      phoneNumber: "+966500000001",
      firstName: "A",
      lastName: "",
      iBAN: "SA0380000000608010167519",
    }),
  ).toEqual([]);
  expect(faults(webhookSchema, { webhookUrl: "shop.test" })).toEqual(["webhookUrl"]);
  for (const page of [0, -1, 1.5, "1", Number.NaN]) expect(faults(logsSchema, { page })).toEqual(["page"]);
  for (const pageSize of [0, 101]) {
    expect(faults(logsSchema, { pageSize })).toEqual(["pageSize"]);
    expect(faults(allLogsSchema, { pageSize })).toEqual(["pageSize"]);
  }
});

it("what identifies a person is known as a secret, at any depth", () => {
  const kyc = { identity: "1012345678", ibanNumber: "SA0380000000608010167519" };
  const body = contractSchema.parse(
    contract({ sellerParty: { ...buyer, phoneNumber: "+966500000002", kyc } }),
  );
  expect([...secretsOf(body)].sort()).toEqual([
    "+966500000001",
    "+966500000002",
    "1012345678",
    "SA0380000000608010167519",
  ]);
});
