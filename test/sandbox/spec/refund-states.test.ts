import { describe, expect, it } from "vitest";

import type { ContractAction } from "../../../src/sandbox.ts";
import { at, connect, createContract, milestones, refund, startSandbox } from "../support.ts";

/** §3 and §4.4: in which statuses of contract and milestone a refund is accepted, and what is answered in the others. */
type Step = ContractAction | "refund" | "settle";

interface Row {
  status: string;
  steps: Step[];
  answer: number;
  key: string;
}

const accepted = { answer: 200, key: "RefundCreatedSuccessfully" };
const wrongContract = { answer: 400, key: "InvalidContractStatus" };
const wrongMilestone = { answer: 400, key: "InvalidMilestoneStatus" };
const active = { answer: 400, key: "ActiveRefundAlreadyExists" };

const ofContract: Row[] = [
  { status: "pending", steps: [], ...wrongContract },
  { status: "Approved", steps: ["approve"], ...wrongContract },
  { status: "Rejected", steps: ["reject"], ...wrongContract },
  { status: "Cancelled", steps: ["cancel"], ...wrongContract },
  { status: "Escrow", steps: ["pay"], ...accepted },
  { status: "Dispute", steps: ["pay", "dispute"], ...accepted },
  { status: "Released", steps: ["pay", "release"], ...wrongContract },
  { status: "Completed", steps: ["pay", "release", "complete"], ...wrongContract },
  { status: "RefundInProgress", steps: ["pay", "refund"], ...active },
  { status: "Refunded", steps: ["pay", "refund", "settle"], ...wrongContract },
];

/** Steps happen to milestone 1, but for the payment of the whole. */
const ofMilestone: Row[] = [
  { status: "Pending", steps: [], ...wrongContract },
  { status: "Escrow", steps: ["pay"], ...accepted },
  { status: "Disputed", steps: ["pay", "dispute"], ...wrongMilestone },
  { status: "Released", steps: ["pay", "release"], ...wrongMilestone },
  { status: "Completed", steps: ["pay", "release", "complete"], ...wrongMilestone },
  { status: "RefundInProgress", steps: ["pay", "refund"], ...active },
  { status: "Refunded", steps: ["pay", "refund", "settle"], ...wrongContract },
];

async function play(steps: Step[], milestoneId?: number) {
  const sandbox = await startSandbox();
  const api = await connect(sandbox);
  const id = await createContract(api, milestoneId === undefined ? {} : { Milestones: milestones });
  const on = milestoneId === undefined ? {} : { milestoneId };
  for (const step of steps) {
    if (step === "refund") await sandbox.requestRefund(id, { ...on, reason: "Late" });
    else if (step === "settle") await sandbox.settleRefund("4521");
    else await sandbox.act(id, step, step === "pay" ? {} : on);
  }
  const before = await sandbox.contracts.get(id);
  const answer = await refund(api, id, on);
  return { before, after: await sandbox.contracts.get(id), answer };
}

describe("§4.4, a refund of a contract that is", () => {
  it.each(ofContract)("$status is answered $answer $key", async ({ status, steps, answer, key }) => {
    const seen = await play(steps);
    expect([seen.before?.status, seen.answer.status, at(seen.answer.body, "message")]).toEqual([
      status,
      answer,
      key,
    ]);
    if (answer === 200) expect(seen.after?.status).toBe("RefundInProgress");
    else expect(seen.after).toEqual(seen.before);
  });
});

describe("§4.4, a refund of a milestone that is", () => {
  it.each(ofMilestone)("$status is answered $answer $key", async ({ status, steps, answer, key }) => {
    const seen = await play(steps, 1);
    const { status: before } = seen.before?.milestones[0] ?? {};
    expect([before, seen.answer.status, at(seen.answer.body, "message")]).toEqual([status, answer, key]);
    if (answer !== 200) expect(seen.after).toEqual(seen.before);
    else
      expect([seen.after?.status, seen.after?.milestones[0]?.status]).toEqual([
        "RefundInProgress",
        "RefundInProgress",
      ]);
  });

  it("Escrow in a contract in Dispute is accepted", async () => {
    const sandbox = await startSandbox();
    const { contractId } = await sandbox.createContract();
    await sandbox.act(contractId, "pay");
    await sandbox.act(contractId, "dispute");
    const made = await refund(await connect(sandbox), contractId, { milestoneId: 1 });
    expect(made.status).toBe(200);
  });
});
