import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createClient } from "../../src/client.ts";
import type { Client } from "../../src/client.ts";
import { createSandbox, manualClock } from "../../src/sandbox.ts";
import type { Sandbox } from "../../src/sandbox.ts";
import { contract, rejection } from "./support.ts";

/** Every method, against the sandbox over HTTP. */

let sandbox: Sandbox;
let client: Client;

beforeEach(async () => {
  sandbox = await createSandbox({ clock: manualClock(), seed: 1 });
  onTestFinished(() => sandbox.close());
  client = createClient(sandbox);
});

const milestones = [
  { name: "Design", description: "First", amount: "600.10", dueDate: "2026-03-01T00:00:00Z" },
  { name: "Build", amount: 399.9, dueDate: "2026-04-01T00:00:00.5Z" },
];

async function createPaid(split = false): Promise<string> {
  const { contractId } = await client.contracts.create({ ...contract, ...(split ? { milestones } : {}) });
  await sandbox.act(contractId, "pay");
  return contractId;
}

describe("contracts", () => {
  it("create sends every field, exactly", async () => {
    const kyc = {
      identity: "1012345678",
      ibanNumber: "SA03 8000 0000 6080 1016 7519",
      dateOfBirth: "1990-01-31",
    };
    const made = await client.contracts.create({
      ...contract,
      sellerParty: { ...contract.sellerParty, kyc },
      milestones,
      description: "A description",
      notes: "Some notes",
      metaData: { metadata1: "one", metadata4: "" },
      callbackUrl: "https://shop.test/back",
    });
    expect(made).toMatchObject({
      status: "pending",
      reference: "order-77",
      metaData: { metadata1: "one", metadata4: "" },
    });
    expect(made.checkoutUrl).toContain(`/checkout/${made.contractId}?token=`);
    expect(made.milestones?.map(({ name, amount }) => [name, amount])).toEqual([
      ["Design", 686.36],
      ["Build", 457.39],
    ]);
    const got = await client.contracts.get(made.contractId);
    expect(got).toMatchObject({ title: "Website", description: "A description", notes: "Some notes" });
    const users = await sandbox.users.list();
    expect(users[1]).toMatchObject({
      nationalId: "1012345678",
      iban: "SA0380000000608010167519",
      dateOfBirth: "1990-01-31T00:00:00Z",
    });
  });

  it("get reads a contract, its parties, milestones and prices", async () => {
    const contractId = await createPaid(true);
    const got = await client.contracts.get(contractId);
    expect(got).toMatchObject({
      contractId,
      status: "escrow",
      amount: 1000,
      title: "Website",
      contractServiceType: "service",
    });
    expect(got.buyerParty).toMatchObject({ phoneNumber: "+966500000001", firstName: "Alia" });
    expect(got.milestones?.map(({ status }) => status)).toEqual(["escrow", "escrow"]);
    expect(got.pricingLineItems?.[0]).toMatchObject({ lineType: "contractAmount", amount: 1000, order: 1 });
  });

  it("get of none is a 404 with the service's key, and of no id sends nothing", async () => {
    expect(await rejection(client.contracts.get("CNT-2601-99999999"))).toMatchObject({
      code: "error-response",
      status: 404,
      messageKey: "ContractNotFound",
    });
    expect(await rejection(client.contracts.get("../webhooks"))).toMatchObject({
      code: "invalid-argument",
      status: null,
    });
  });

  it("renewCheckout gives another payment page", async () => {
    const made = await client.contracts.create(contract);
    const renewed = await client.contracts.renewCheckout(made.contractId, {
      buyerPhoneNumber: "+966 50 000 0001",
    });
    expect(renewed.checkoutUrl).toContain(`/checkout/${made.contractId}?token=`);
    expect(renewed.checkoutUrl).not.toBe(made.checkoutUrl);
  });

  it("refund gives a contract's money back", async () => {
    const contractId = await createPaid();
    const refund = await client.contracts.refund(contractId, { reason: "Not as described" });
    expect(refund).toMatchObject({
      refundedAmount: 1000,
      type: "FullRefund",
      milestoneId: null,
      externalContractId: contractId,
    });
    expect(await sandbox.refunds.list()).toHaveLength(1);
    expect(await rejection(client.contracts.refund(contractId, { reason: "Again" }))).toMatchObject({
      status: 400,
      messageKey: "ActiveRefundAlreadyExists",
      retryable: false,
    });
  });

  it.each(["number", "text"])("refund of a milestone takes its id as a %s", async (kind) => {
    const contractId = await createPaid(true);
    const id = (await client.contracts.get(contractId)).milestones?.[1]?.id ?? 0;
    const milestoneId = kind === "text" ? String(id) : id;
    expect(await client.contracts.refund(contractId, { milestoneId, reason: "x" })).toMatchObject({
      milestoneId: id,
      refundedAmount: 399.9,
    });
  });

  it("a refund that the service refuses says why", async () => {
    const contractId = await createPaid();
    const buyer = (await client.contracts.get(contractId)).buyerParty?.platformRefId ?? "";
    await sandbox.users.set(buyer, { authorized: false });
    expect(await rejection(client.contracts.refund(contractId, { reason: "x" }))).toMatchObject({
      messageKey: "BuyerNotAuthorized",
    });
    await sandbox.users.set(buyer, { authorized: true, ibanResolves: false });
    const unresolved = await rejection(client.contracts.refund(contractId, { reason: "x" }));
    expect(unresolved).toMatchObject({
      code: "error-response",
      status: 500,
      messageKey: "FailedToResolveIban",
    });
    expect(await sandbox.refunds.list()).toHaveLength(0);
  });

  it("a partial refund is for services that have them", async () => {
    const contractId = await createPaid();
    const partial = { type: "PARTIAL", amount: "400.00", reason: "Half" } as const;
    expect(await rejection(client.contracts.refund(contractId, partial))).toMatchObject({
      messageKey: "ValidationFailed",
    });
    const earlier = await createSandbox({ clock: manualClock(), edition: "earlier" });
    onTestFinished(() => earlier.close());
    const { contracts } = createClient(earlier);
    const { contractId: other } = await contracts.create(contract);
    await earlier.act(other, "pay");
    expect(await contracts.refund(other, partial)).toMatchObject({
      type: "PartialRefund",
      refundedAmount: 400,
      releasedToSellerAmount: 600,
    });
  });
});

describe("webhooks", () => {
  const webhookUrl = "http://127.0.0.1:9/webhooks";

  it("update subscribes, get reads it, regenerateSecret changes its secret, delete removes it", async () => {
    expect(await rejection(client.webhooks.get())).toMatchObject({
      status: 404,
      messageKey: "WebhookNotFound",
    });
    const made = await client.webhooks.update({ webhookUrl });
    expect(made).toMatchObject({ webhookUrl, isActive: true, consecutiveFailures: 0 });
    expect(await client.webhooks.get()).toEqual(made);
    const { secretKey } = await client.webhooks.regenerateSecret();
    expect(secretKey).not.toBe(made.secretKey);
    expect(await client.webhooks.get()).toMatchObject({ secretKey });
    expect(await client.webhooks.delete()).toBe(true);
    expect(await rejection(client.webhooks.delete())).toMatchObject({ status: 404 });
  });

  it("test asks for a delivery, and logs shows its attempts", async () => {
    await client.webhooks.update({ webhookUrl });
    const test = await client.webhooks.test();
    expect(test.webhookId).toMatch(/^[0-9a-f-]{36}$/);
    await sandbox.deliveries.idle();
    const { logs, totalCount, page, pageSize } = await client.webhooks.logs();
    expect([totalCount, page, pageSize]).toEqual([1, 1, 20]);
    expect(logs[0]).toMatchObject({
      eventType: "webhook.test",
      isSuccess: false,
      httpStatusCode: null,
      attemptNumber: 1,
    });
  });

  it("allLogs walks every page, once each entry", async () => {
    await client.webhooks.update({ webhookUrl });
    for (let index = 0; index < 7; index++) await client.webhooks.test();
    await sandbox.deliveries.idle();
    const ids: string[] = [];
    for await (const { id } of client.webhooks.allLogs({ pageSize: 3 })) {
      ids.push(id);
      // Another entry, which pushes the others on.
      if (ids.length === 3) {
        await client.webhooks.test();
        await sandbox.deliveries.idle();
      }
    }
    expect([ids.length, new Set(ids).size]).toEqual([7, 7]);
  });

  it("an empty log has no entries", async () => {
    const entries = [];
    for await (const entry of client.webhooks.allLogs()) entries.push(entry);
    expect(entries).toEqual([]);
  });
});

describe("users", () => {
  it("create makes a user, and onboarding finds it", async () => {
    const phoneNumber = "+966500000009";
    expect(await rejection(client.users.onboarding({ phoneNumber }))).toMatchObject({
      status: 404,
      messageKey: "UserNotFound",
    });
    const user = {
      phoneNumber,
      firstName: "Zain",
      lastName: "Ali",
      nationalId: "2012345678",
      bic: "SAMBSARI",
    };
    const made = await client.users.create({
      ...user,
      iban: "SA0380000000608010167519",
      dateOfBirth: "1990-01-31",
    });
    expect(made.kycUrl).toContain(made.platformRefId);
    expect(await client.users.onboarding({ phoneNumber: "966 50 000 0009" })).toMatchObject({
      platformRefId: made.platformRefId,
      onboardingCompleted: true,
      kycCompleted: true,
    });
  });

  it("a party may name the user by its id", async () => {
    const { platformRefId } = await client.users.create({
      phoneNumber: "+966500000009",
      firstName: "Zain",
      lastName: "Ali",
    });
    const made = await client.contracts.create({ ...contract, buyerParty: { platformRefId } });
    expect(made.buyerParty).toMatchObject({ platformRefId, firstName: "Zain" });
  });
});

it("every sandbox option of shape and casing is understood", async () => {
  const odd = await createSandbox({
    clock: manualClock(),
    milestoneCasing: "pascal",
    lineDescriptionCasing: "pascal",
    milestoneIdInGet: "guid",
    getShape: "table",
    statusCasing: "pascal",
    amountStyle: "shortest",
  });
  onTestFinished(() => odd.close());
  const { contracts } = createClient(odd);
  const made = await contracts.create({ ...contract, milestones });
  expect(made.milestones?.[0]).toMatchObject({ id: 1, name: "Design", amount: 686.36 });
  const got = await contracts.get(made.contractId);
  expect(got).toMatchObject({ contractId: made.contractId, status: "Pending" });
  expect(got.milestones?.[0]).toMatchObject({ name: "Design", status: "Pending" });
  expect(got.milestones?.[0]?.pricingLineItems?.[0]).toMatchObject({ lineType: "contractAmount" });
});

it("tokens that the sandbox revokes or lets expire are renewed", async () => {
  const { contractId } = await client.contracts.create(contract);
  sandbox.tokens.revoke();
  expect((await client.contracts.get(contractId)).status).toBe("pending");
  await sandbox.clock.advance(25 * 3_600_000);
  expect((await client.contracts.get(contractId)).status).toBe("pending");
});

it("under faults of the sandbox each create is one contract, or its outcome is unknown", async () => {
  sandbox.faults.set({ apiErrors: 0.2, cutConnection: 0.2 }, { seed: 7 });
  const { contracts } = createClient({ ...pick(sandbox), backoffMs: 1, retries: 10 });
  const outcomes: string[] = [];
  for (let index = 0; index < 40; index++) {
    const reference = `order-${index}`;
    const work = contracts.create({ ...contract, reference });
    outcomes.push(
      await work.then(
        () => reference,
        (error: Error & { code: string }) => error.code,
      ),
    );
  }
  const truth = (await sandbox.contracts.list()).map(({ reference }) => reference ?? "");
  expect(new Set(truth).size).toBe(truth.length);
  const known = outcomes.filter((outcome) => outcome.startsWith("order-"));
  expect(truth).toEqual(expect.arrayContaining(known));
  expect(new Set(outcomes.filter((outcome) => !outcome.startsWith("order-")))).toEqual(
    new Set(["outcome-unknown"]),
  );
  expect(sandbox.faults.counts().cutConnection).toBeGreaterThan(0);
});

function pick({ baseUrl, authUrl, clientId, clientSecret }: Sandbox) {
  return { baseUrl, authUrl, clientId, clientSecret };
}
