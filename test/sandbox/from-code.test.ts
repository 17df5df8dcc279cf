import { describe, expect, it } from "vitest";

import type { ContractInput as ClientContract } from "../../src/client/input/contract-input.ts";
import type { ContractInput, RefundInput, Sandbox } from "../../src/sandbox.ts";
import { at, call, connect, createContract, refund, startReceiver, startSandbox } from "./support.ts";

/** `sandbox.createContract` and `sandbox.requestRefund`: what the API does, from code and over `/_sandbox/`. */
const input: ContractInput = {
  title: "Website",
  contractServiceType: "Product",
  amount: 1000,
  reference: "order-77",
  metaData: { metadata1: "one" },
  buyerParty: { phoneNumber: "+966500000001", firstName: "Alia", lastName: "Hassan" },
  sellerParty: { phoneNumber: "+966500000002", firstName: "Badr", lastName: "" },
  milestones: [
    { name: "Design", amount: 600, dueDate: "2026-03-01T00:00:00Z" },
    { name: "Build", amount: 400, dueDate: "2026-04-01T00:00:00Z" },
  ],
};
const json = { "Content-Type": "application/json" };

function postControl({ controlUrl }: Sandbox, path: string, body: unknown) {
  return call(`${controlUrl}${path}`, { method: "POST", headers: json, body: JSON.stringify(body) });
}

describe("createContract", () => {
  it("creates what the API creates: contract, users, text message, webhook and payment page", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    const made = await sandbox.createContract(input);
    expect(made).toMatchObject({
      contractId: "CNT-2601-00100001",
      status: "pending",
      reference: "order-77",
      amountMinor: 100_000,
      metadata: { metadata1: "one" },
      milestones: [{ name: "Design", amountMinor: 60_000 }, { name: "Build" }],
    });
    expect((await call(made.checkoutUrl ?? "")).status).toBe(200);
    expect(await sandbox.sms.list()).toMatchObject([{ to: "+966500000002", kind: "kyc" }]);
    await sandbox.deliveries.idle();
    expect(receiver.events()).toEqual(["contract.created"]);
    const read = await (await connect(sandbox)).get(`/apps/api/contracts/${made.contractId}`);
    expect([read.status, at(read.body, "data.title")]).toEqual([200, "Website"]);
  });

  it("without input makes an example that can be paid and refunded", async () => {
    const sandbox = await startSandbox();
    const { contractId, milestones } = await sandbox.createContract();
    await sandbox.act(contractId, "pay");
    const milestoneId = milestones[0]?.milestoneId ?? "";
    const made = await sandbox.requestRefund(contractId, { milestoneId, reason: "Late" });
    expect(await sandbox.settleRefund(made.refundId)).toMatchObject({ state: "succeeded" });
    expect((await sandbox.contracts.get(contractId))?.checkoutUrl).toBe(null);
  });

  it("takes decimal text for amounts, as the client does", async () => {
    const sandbox = await startSandbox({ partialRefunds: true });
    const milestones = [
      { name: "Design", amount: "600.10", dueDate: "2026-03-01T00:00:00Z" },
      { name: "Build", amount: 399.9, dueDate: "2026-04-01T00:00:00Z" },
    ];
    const made = await sandbox.createContract({ ...input, amount: "1000.00", milestones });
    expect([made.amountMinor, ...made.milestones.map(({ amountMinor }) => amountMinor)]).toEqual([
      100_000, 60_010, 39_990,
    ]);
    await sandbox.act(made.contractId, "pay");
    const { milestoneId = "" } = made.milestones[0] ?? {};
    const partial = { milestoneId, type: "PARTIAL", amount: "0.10", reason: "Late" } as const;
    expect(await sandbox.requestRefund(made.contractId, partial)).toMatchObject({ amountMinor: 10 });
  });

  it("takes the same contract as the client of this package", async () => {
    const shared: ClientContract = input;
    const sandbox = await startSandbox();
    expect(await sandbox.createContract(shared)).toMatchObject({ title: "Website" });
  });

  it("is POST /_sandbox/contracts for other languages", async () => {
    const sandbox = await startSandbox();
    const { contractId } = await sandbox.createContract(input);
    const made = await postControl(sandbox, "contracts", input);
    expect([made.status, at(made.body, "data.contractId")]).toEqual([200, "CNT-2601-00100002"]);
    expect((await sandbox.contracts.list()).map((one) => one.contractId)).toEqual([
      contractId,
      "CNT-2601-00100002",
    ]);
  });

  const wrong: [what: string, change: Record<string, unknown>, field: string][] = [
    ["nothing", { title: undefined }, "title"],
    ["an amount that is no decimal", { amount: "ten" }, "amount"],
    ["an amount that is no number", { amount: Number.NaN }, "amount"],
    ["milestones that miss the sum", { amount: 999 }, "Milestones"],
    ["a party without name", { buyerParty: { phoneNumber: "+966500000001" } }, "BuyerParty.firstName"],
    ["a party that is not known", { buyerParty: { platformRefId: "x" } }, "BuyerParty.platformRefId"],
  ];
  it.each(wrong)("refuses %s and names the field", async (_what, change, field) => {
    const sandbox = await startSandbox();
    const bad = { ...input, ...change };
    await expect(sandbox.createContract(bad)).rejects.toMatchObject({
      code: "invalid-argument",
      messageKey: "ValidationFailed",
      message: expect.stringContaining(field),
    });
    expect(await sandbox.contracts.list()).toEqual([]);
  });

  it.each([{ value: null }, { value: [] }, { value: "x" }, { value: 5 }])(
    "refuses $value",
    async ({ value }) => {
      const sandbox = await startSandbox();
      const bad: unknown = value;
      await expect(sandbox.createContract(bad as ContractInput)).rejects.toMatchObject({
        code: "invalid-argument",
      });
    },
  );
});

async function paid(sandbox: Sandbox, change: Partial<ContractInput> = {}): Promise<string> {
  const { contractId } = await sandbox.createContract({ ...input, milestones: [], ...change });
  await sandbox.act(contractId, "pay");
  return contractId;
}

describe("requestRefund", () => {
  it("does what the API does", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    const contractId = await paid(sandbox);
    expect(await sandbox.requestRefund(contractId, { reason: "Late" })).toMatchObject({
      refundId: "4521",
      contractId,
      milestoneId: null,
      kind: "full",
      state: "initiated",
      amountMinor: 100_000,
    });
    await sandbox.deliveries.idle();
    expect(receiver.events().at(-1)).toBe("refund.full-initiated");
  });

  it("acts in the name of the contract's own client", async () => {
    const other = { clientId: "other", clientSecret: "secret" };
    const sandbox = await startSandbox({ clients: [other] });
    const id = await createContract(await connect(sandbox, other.clientId, other.clientSecret));
    await sandbox.act(id, "pay");
    expect(await sandbox.requestRefund(id, { reason: "Late" })).toMatchObject({ contractId: id });
  });

  interface Refusal {
    what: string;
    code: string;
    messageKey: string;
    refuse: (sandbox: Sandbox) => Promise<unknown>;
  }
  const reason = "Late";
  const lacking = (change: object): Refusal["refuse"] => {
    return async (sandbox) => {
      const id = await paid(sandbox);
      await sandbox.users.set((await sandbox.contracts.get(id))?.buyer ?? "", change);
      return sandbox.requestRefund(id, { reason });
    };
  };
  const refusals: Refusal[] = [
    {
      what: "a status",
      code: "action-forbidden",
      messageKey: "InvalidContractStatus",
      refuse: async (sandbox) => {
        const { contractId } = await sandbox.createContract({ ...input, milestones: [] });
        return sandbox.requestRefund(contractId, { reason });
      },
    },
    {
      what: "an active refund",
      code: "action-forbidden",
      messageKey: "ActiveRefundAlreadyExists",
      refuse: async (sandbox) => {
        const id = await paid(sandbox);
        await sandbox.requestRefund(id, { reason });
        return sandbox.requestRefund(id, { reason });
      },
    },
    {
      what: "a buyer without authorization",
      code: "action-forbidden",
      messageKey: "BuyerNotAuthorized",
      refuse: lacking({ authorized: false }),
    },
    {
      what: "a buyer without bank account",
      code: "action-forbidden",
      messageKey: "BuyerBankAccountNotVerified",
      refuse: lacking({ bankVerified: false }),
    },
    {
      what: "a buyer without IBAN",
      code: "action-forbidden",
      messageKey: "FailedToResolveIban",
      refuse: lacking({ ibanResolves: false }),
    },
    {
      what: "a buyer who is not known",
      code: "not-found",
      messageKey: "ExternalUserNotFound",
      refuse: lacking({ known: false }),
    },
    {
      what: "no reason",
      code: "invalid-argument",
      messageKey: "ValidationFailed",
      refuse: async (sandbox) => sandbox.requestRefund(await paid(sandbox), {} as RefundInput),
    },
    {
      what: "no input",
      code: "invalid-argument",
      messageKey: "ValidationFailed",
      refuse: async (sandbox) => {
        const nothing: unknown = undefined;
        return sandbox.requestRefund(await paid(sandbox), nothing as RefundInput);
      },
    },
    {
      what: "no milestone",
      code: "invalid-argument",
      messageKey: "ValidationFailed",
      refuse: async (sandbox) => {
        const id = await paid(sandbox, input);
        return sandbox.requestRefund(id, { reason });
      },
    },
    {
      what: "a milestone that there is not",
      code: "not-found",
      messageKey: "MilestoneNotFound",
      refuse: async (sandbox) =>
        sandbox.requestRefund(await paid(sandbox, input), { reason, milestoneId: 99 }),
    },
    {
      what: "a contract that there is not",
      code: "not-found",
      messageKey: "ContractNotFound",
      refuse: (sandbox) => sandbox.requestRefund("CNT-2601-00999999", { reason }),
    },
    {
      what: "an id that is none",
      code: "invalid-argument",
      messageKey: "InvalidContractId",
      refuse: (sandbox) => sandbox.requestRefund("77", { reason }),
    },
  ];
  it.each(refusals)("rejects for $what: $code", async ({ code, messageKey, refuse }) => {
    await expect(refuse(await startSandbox())).rejects.toMatchObject({
      name: "SandboxError",
      code,
      messageKey,
    });
  });
});

describe("the reason of a refund", () => {
  it("can be read back from code, over the control interface and on the control page, after it has settled too", async () => {
    const sandbox = await startSandbox();
    const id = await paid(sandbox);
    const reason = "Arrived late, and 'broken' <again>";
    const made = await refund(await connect(sandbox), id, { reason });
    const refundId = String(at(made.body, "data.refundId"));
    const seen = async () => [
      (await sandbox.refunds.list())[0]?.reason,
      (await sandbox.contracts.get(id))?.refunds[0]?.reason,
      at((await call(`${sandbox.controlUrl}refunds`)).body, "data.0.reason"),
      at((await call(`${sandbox.controlUrl}contracts/${id}`)).body, "data.refunds.0.reason"),
    ];
    expect(await seen()).toEqual([reason, reason, reason, reason]);
    await sandbox.settleRefund(refundId);
    expect(await seen()).toEqual([reason, reason, reason, reason]);
    const page = (await call(sandbox.controlUrl)).text;
    expect(page).toContain("Arrived late, and &#39;broken&#39; &lt;again&gt;");
    expect(Object.keys(at(made.body, "data") ?? {})).not.toContain("reason");
  });
});
