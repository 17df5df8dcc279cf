import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContractInput, RefundInput } from "../../../src/client.ts";
import { openClient, startScript } from "../support.ts";
import type { Script } from "../support.ts";
import { valuesOf } from "./arbitrary.ts";
import { faultOf, operationOf, operations } from "./document.ts";

/** The client against openapi.json: what it sends, and what it reads. */

const seed = Number(process.env["SEED"] ?? Date.now() % 2 ** 31);
const origin = "https://shop.test";

const phone = fc.stringMatching(/^\+?[1-9]\d{7,14}$/);
const text = fc.string({ minLength: 1, maxLength: 30 }).filter((value) => value.trim() !== "");
const anyText = fc.option(fc.string({ maxLength: 30 }), { nil: undefined });
const account = fc.stringMatching(/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/);
const identity = fc.stringMatching(/^[12]\d{9}$/);
const time = fc
  .date({ noInvalidDate: true, min: new Date("1900-01-01"), max: new Date("2100-01-01") })
  .map((date) => date.toISOString());
const amountOf = (halalas: number) =>
  fc.constantFrom<number | string>(
    halalas / 100,
    `${Math.trunc(halalas / 100)}.${String(halalas % 100).padStart(2, "0")}`,
  );

const party = fc.oneof(
  fc.record({ platformRefId: text }),
  fc.record(
    {
      phoneNumber: phone,
      firstName: text,
      lastName: fc.string({ maxLength: 10 }),
      kyc: fc.record({
        identity,
        ibanNumber: account,
        bicCode: fc.option(text, { nil: null }),
        dateOfBirth: fc.option(time, { nil: undefined }),
      }),
    },
    { requiredKeys: ["phoneNumber", "firstName", "lastName"] },
  ),
);

const contracts: fc.Arbitrary<ContractInput> = fc
  .array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 2, maxLength: 5 })
  .chain((parts) =>
    fc.record({
      title: text,
      contractServiceType: fc.constantFrom("Product", "Service"),
      buyerParty: party,
      sellerParty: party,
      amount: amountOf(parts.reduce((sum, part) => sum + part, 0)),
      milestones: fc.option(
        fc.tuple(
          ...parts.map((part) =>
            fc.record({ name: text, description: anyText, amount: amountOf(part), dueDate: time }),
          ),
        ),
        { nil: null },
      ),
      reference: anyText,
      description: anyText,
      notes: anyText,
      metaData: fc.option(fc.record({ metadata1: anyText, metadata2: anyText }), { nil: undefined }),
      callbackUrl: fc.option(
        fc.webPath().map((path) => `${origin}${path}`),
        { nil: undefined },
      ),
    }),
  );

const refunds: fc.Arbitrary<RefundInput> = fc.record(
  {
    reason: text,
    milestoneId: fc.oneof(fc.integer({ min: 1 }), fc.integer({ min: 1 }).map(String), fc.constant(null)),
    type: fc.constantFrom("FULL" as const, null),
  },
  { requiredKeys: ["reason"] },
);

/** The operation that a request is of, and what is wrong with it by the document. */
function lastFault({ heard }: Script): string | undefined {
  const { method = "", path = "", body = "" } = heard.at(-1) ?? {};
  const pathOnly = path.split("?")[0] ?? "";
  const operation = operations.find(
    (one) =>
      one.method === method &&
      new RegExp(`^${one.path.replace("{externalContractId}", "CNT-[^/]+")}$`).test(pathOnly),
  );
  if (operation === undefined) return `the document has no ${method} ${path}`;
  return operation.body === undefined ? undefined : faultOf(operation.body.schema, JSON.parse(body));
}

describe("what the client sends", () => {
  it("for any input that it takes is in the document", async () => {
    console.log(`SEED=${seed}`);
    const script = await startScript({ status: 400 });
    const client = openClient(script.url, { retries: 0 });
    const sent = async (work: Promise<unknown>): Promise<void> => {
      const before = script.heard.length;
      await expect(work).rejects.toMatchObject({ code: "error-response" });
      expect([script.heard.length - before, lastFault(script)]).toEqual([1, undefined]);
    };
    const inputs = fc.record({
      contract: contracts,
      refund: refunds,
      buyerPhoneNumber: phone,
      phoneNumber: phone,
    });
    await fc.assert(
      fc.asyncProperty(inputs, async ({ contract, refund, buyerPhoneNumber, phoneNumber }) => {
        await sent(client.contracts.create(contract));
        await sent(client.contracts.refund("CNT-2601-00100003", refund));
        await sent(client.contracts.renewCheckout("CNT-2601-00100003", { buyerPhoneNumber }));
        await sent(client.users.create({ phoneNumber, firstName: "A", lastName: "" }));
        await sent(client.users.onboarding({ phoneNumber }));
      }),
      { seed, numRuns: 100 },
    );
  });

  it("covers every operation of the document", async () => {
    const script = await startScript({ status: 400 });
    const { contracts: calls, webhooks, users } = openClient(script.url, { retries: 0 });
    const phoneNumber = "+966500000001";
    const party1 = { phoneNumber, firstName: "A", lastName: "" };
    await Promise.allSettled([
      calls.create({
        title: "t",
        contractServiceType: "Product",
        buyerParty: party1,
        sellerParty: party1,
        amount: 1,
      }),
      calls.get("CNT-2601-00100003"),
      calls.renewCheckout("CNT-2601-00100003", { buyerPhoneNumber: phoneNumber }),
      calls.refund("CNT-2601-00100003", { reason: "x" }),
      webhooks.test(),
      webhooks.logs({ page: 2 }),
      webhooks.get(),
      webhooks.update({ webhookUrl: "https://shop.test/hook" }),
      webhooks.regenerateSecret(),
      webhooks.delete(),
      users.onboarding({ phoneNumber }),
      users.create(party1),
    ]);
    const sent = script.heard.map(
      ({ method, path }) =>
        `${method} ${path.split("?")[0]?.replace("CNT-2601-00100003", "{externalContractId}")}`,
    );
    const known = operations
      .filter(({ id }) => id !== "createToken")
      .map(({ method, path }) => `${method} ${path}`);
    expect(sent.sort()).toEqual(known.sort());
  });
});

describe("what the client reads", () => {
  const calls: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
    createContract: (url) =>
      openClient(url).contracts.create({
        title: "t",
        contractServiceType: "Product",
        buyerParty: { platformRefId: "a" },
        sellerParty: { platformRefId: "b" },
        amount: 1,
      }),
    getContract: (url) => openClient(url).contracts.get("CNT-2601-00100003"),
    renewCheckout: (url) =>
      openClient(url).contracts.renewCheckout("CNT-2601-00100003", { buyerPhoneNumber: "+966500000001" }),
    createRefund: (url) => openClient(url).contracts.refund("CNT-2601-00100003", { reason: "x" }),
    sendTestWebhook: (url) => openClient(url).webhooks.test(),
    getWebhookLogs: (url) => openClient(url).webhooks.logs(),
    saveWebhook: (url) => openClient(url).webhooks.update({ webhookUrl: "https://shop.test/hook" }),
    getWebhook: (url) => openClient(url).webhooks.get(),
    regenerateSecret: (url) => openClient(url).webhooks.regenerateSecret(),
    deleteWebhook: (url) => openClient(url).webhooks.delete(),
    getOnboarding: (url) => openClient(url).users.onboarding({ phoneNumber: "+966500000001" }),
    createUser: (url) =>
      openClient(url).users.create({ phoneNumber: "+966500000001", firstName: "A", lastName: "" }),
  };

  it.each(Object.keys(calls))(
    "%s: any answer that the document allows, and nothing of it is lost",
    async (id) => {
      let body: unknown;
      const script = await startScript(() => ({ body }));
      const schema = operationOf(id).responses["200"]?.content?.["application/json"]?.schema ?? {};
      await fc.assert(
        fc.asyncProperty(valuesOf(schema, origin).filter(isUsable), async (answer) => {
          body = answer;
          const data = await calls[id]?.(script.url);
          // Names are given in our casing.
          expect(lowerNames(data)).toEqual(lowerNames((answer as { data: unknown }).data));
        }),
        { seed, numRuns: 30 },
      );
    },
  );
});

/** The document allows a secret or an id of spaces alone. The client can do nothing with one, and says so. */
function isUsable(answer: unknown): boolean {
  return !/"(secretKey|platformRefId)":"\s+"/i.test(JSON.stringify(answer));
}

function lowerNames(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).map(([name, field]) => [name.toLowerCase(), field]))
      : inner,
  );
}
