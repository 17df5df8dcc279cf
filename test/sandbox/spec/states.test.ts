import { describe, expect, it } from "vitest";

import type { ContractAction, Sandbox, SandboxOptions } from "../../../src/sandbox.ts";
import { at, connect, createContract, milestones, refund, startReceiver, startSandbox } from "../support.ts";
import type { Api, Receiver } from "../support.ts";

/** §3: every transition, the events that it fires and the statuses that they name. */
type Step = ContractAction | "refund" | "settle" | `${ContractAction | "refund"} 1`;

interface Story {
  name: string;
  options?: SandboxOptions;
  milestones?: true;
  steps: Step[];
  /** Contract, then each milestone. */
  ends: string[];
  /** The events of the last step: name, previousStatus → status. */
  fires: string[];
}

const spec: Story[] = [
  {
    name: "creation: (none) → pending",
    steps: [],
    ends: ["pending"],
    fires: ["contract.created, - → Pending"],
  },
  {
    name: "contract Escrow, refund accepted → RefundInProgress",
    steps: ["pay", "refund"],
    ends: ["RefundInProgress"],
    fires: ["refund.full-initiated, Escrow → RefundInProgress"],
  },
  {
    name: "contract Dispute, refund accepted → RefundInProgress",
    steps: ["pay", "dispute", "refund"],
    ends: ["RefundInProgress"],
    fires: ["refund.full-initiated, Dispute → RefundInProgress"],
  },
  {
    name: "contract Escrow, milestone Escrow, refund accepted → both RefundInProgress",
    milestones: true,
    steps: ["pay", "refund 1"],
    ends: ["RefundInProgress", "RefundInProgress", "Escrow"],
    fires: ["milestone.refund.full-initiated, Escrow → RefundInProgress"],
  },
  {
    name: "contract Dispute, milestone Escrow, refund accepted → both RefundInProgress",
    milestones: true,
    steps: ["pay", "dispute", "refund 1"],
    ends: ["RefundInProgress", "RefundInProgress", "Escrow"],
    fires: ["milestone.refund.full-initiated, Escrow → RefundInProgress"],
  },
  {
    name: "contract refund settles → Refunded, and the legacy event",
    steps: ["pay", "refund", "settle"],
    ends: ["Refunded"],
    fires: [
      "refund.full-succeeded, RefundInProgress → Refunded",
      "contract.refunded, RefundInProgress → Refunded",
    ],
  },
  {
    name: "milestone refund settles → milestone Refunded, contract Cancelled",
    milestones: true,
    steps: ["pay", "refund 1", "settle"],
    ends: ["Cancelled", "Refunded", "Escrow"],
    fires: ["milestone.refund.full-succeeded, RefundInProgress → Refunded"],
  },
];

const assumed: Story[] = [
  {
    name: "approve",
    steps: ["approve"],
    ends: ["Approved"],
    fires: ["contract.approved, Pending → Approved"],
  },
  { name: "reject", steps: ["reject"], ends: ["Rejected"], fires: ["contract.rejected, Pending → Rejected"] },
  {
    name: "cancel a pending one",
    steps: ["cancel"],
    ends: ["Cancelled"],
    fires: ["contract.cancelled, Pending → Cancelled"],
  },
  {
    name: "cancel an approved one",
    steps: ["approve", "cancel"],
    ends: ["Cancelled"],
    fires: ["contract.cancelled, Approved → Cancelled"],
  },
  {
    name: "pay an approved one",
    steps: ["approve", "pay"],
    ends: ["Escrow"],
    fires: ["payment.completed, Approved → Escrow"],
  },
  {
    name: "pay a pending one: approved on the way",
    steps: ["pay"],
    ends: ["Escrow"],
    fires: ["contract.approved, Pending → Approved", "payment.completed, Approved → Escrow"],
  },
  {
    name: "pay a pending one, payFromPending direct",
    options: { payFromPending: "direct" },
    steps: ["pay"],
    ends: ["Escrow"],
    fires: ["payment.completed, Pending → Escrow"],
  },
  {
    name: "pay one with milestones: each is paid",
    milestones: true,
    steps: ["approve", "pay"],
    ends: ["Escrow", "Escrow", "Escrow"],
    fires: [
      "payment.completed, Approved → Escrow",
      "milestone.payment.completed, Pending → Escrow",
      "milestone.payment.completed, Pending → Escrow",
    ],
  },
  {
    name: "dispute",
    steps: ["pay", "dispute"],
    ends: ["Dispute"],
    fires: ["contract.disputed, Escrow → Dispute"],
  },
  {
    name: "release",
    steps: ["pay", "release"],
    ends: ["Released"],
    fires: ["contract.released, Escrow → Released"],
  },
  {
    name: "release after a dispute",
    steps: ["pay", "dispute", "release"],
    ends: ["Released"],
    fires: ["contract.released, Dispute → Released"],
  },
  {
    name: "release one with milestones: each is released",
    milestones: true,
    steps: ["pay", "dispute 1", "release"],
    ends: ["Released", "Released", "Released"],
    fires: [
      "contract.released, Escrow → Released",
      "milestone.released, Disputed → Released",
      "milestone.released, Escrow → Released",
    ],
  },
  {
    name: "complete",
    milestones: true,
    steps: ["pay", "release", "complete"],
    ends: ["Completed", "Completed", "Completed"],
    fires: [
      "contract.completed, Released → Completed",
      "milestone.completed, Released → Completed",
      "milestone.completed, Released → Completed",
    ],
  },
  {
    name: "dispute a milestone",
    milestones: true,
    steps: ["pay", "dispute 1"],
    ends: ["Escrow", "Disputed", "Escrow"],
    fires: ["milestone.disputed, Escrow → Disputed"],
  },
  {
    name: "dispute a milestone, milestoneDisputeMovesContract",
    options: { milestoneDisputeMovesContract: true },
    milestones: true,
    steps: ["pay", "dispute 1"],
    ends: ["Dispute", "Disputed", "Escrow"],
    fires: ["milestone.disputed, Escrow → Disputed", "contract.disputed, Escrow → Dispute"],
  },
  {
    name: "release a milestone",
    milestones: true,
    steps: ["pay", "release 1"],
    ends: ["Escrow", "Released", "Escrow"],
    fires: ["milestone.released, Escrow → Released"],
  },
  {
    name: "complete a milestone",
    milestones: true,
    steps: ["pay", "release 1", "complete 1"],
    ends: ["Escrow", "Completed", "Escrow"],
    fires: ["milestone.completed, Released → Completed"],
  },
  {
    name: "afterMilestoneRefund restore: the contract goes on",
    options: { afterMilestoneRefund: "restore" },
    milestones: true,
    steps: ["pay", "dispute", "refund 1", "settle"],
    ends: ["Dispute", "Refunded", "Escrow"],
    fires: ["milestone.refund.full-succeeded, RefundInProgress → Refunded"],
  },
  {
    name: "legacyRefunded off",
    options: { legacyRefunded: false },
    steps: ["pay", "refund", "settle"],
    ends: ["Refunded"],
    fires: ["refund.full-succeeded, RefundInProgress → Refunded"],
  },
  {
    name: "earlier edition: delivered",
    options: { edition: "earlier" },
    steps: ["pay", "deliver"],
    ends: ["Escrow"],
    fires: ["contract.delivered, Escrow → Escrow"],
  },
  {
    name: "earlier edition: received",
    options: { edition: "earlier" },
    steps: ["pay", "receive"],
    ends: ["Escrow"],
    fires: ["contract.received, Escrow → Escrow"],
  },
  {
    name: "earlier edition: a milestone refund comes under the contract's name and speaks of the contract",
    options: { edition: "earlier" },
    milestones: true,
    steps: ["pay", "refund 1"],
    ends: ["RefundInProgress", "RefundInProgress", "Escrow"],
    fires: ["refund.full-initiated, Escrow → RefundInProgress, metadata.milestoneId 1"],
  },
  {
    name: "earlier edition: a milestone refund settles",
    options: { edition: "earlier" },
    milestones: true,
    steps: ["pay", "refund 1", "settle"],
    ends: ["Cancelled", "Refunded", "Escrow"],
    fires: ["refund.full-succeeded, RefundInProgress → Cancelled, metadata.milestoneId 1"],
  },
];

describe("§3, each transition of the table", () => {
  it.each(spec)("$name", (story) => play(story));
});

describe("transitions that the documents do not show (see the table of assumptions)", () => {
  it.each(assumed)("$name", (story) => play(story));
});

async function play(story: Story): Promise<void> {
  const receiver = await startReceiver();
  const sandbox = await startSandbox({ webhookUrl: receiver.url, ...story.options });
  const api = await connect(sandbox);
  const id = await createContract(api, story.milestones ? { Milestones: milestones } : {});
  for (const [index, step] of story.steps.entries()) {
    await sandbox.deliveries.idle();
    if (index === story.steps.length - 1) receiver.received.length = 0;
    await take(sandbox, api, id, step);
  }
  await sandbox.deliveries.idle();
  expect(toLines(receiver)).toEqual(story.fires);
  const contract = await sandbox.contracts.get(id);
  expect([contract?.status, ...(contract?.milestones ?? []).map(({ status }) => status)]).toEqual(story.ends);
  const read = await api.get(`/apps/api/contracts/${id}`);
  expect(at(read.body, "data.status")).toBe(story.ends[0]?.toLowerCase());
}

async function take(sandbox: Sandbox, api: Api, id: string, step: Step): Promise<void> {
  const [action = "", milestoneId] = step.split(" ");
  const on = milestoneId === undefined ? {} : { milestoneId: Number(milestoneId) };
  if (action === "settle") await sandbox.settleRefund((await sandbox.refunds.list())[0]?.refundId ?? "");
  else if (action === "refund")
    expect((await refund(api, id, on)).text).toContain("RefundCreatedSuccessfully");
  else await sandbox.act(id, action as ContractAction, on);
}

function toLines(receiver: Receiver): string[] {
  return receiver.received.map(({ payload }) => {
    const previous = at(payload, "data.previousStatus");
    const line = `${String(at(payload, "event"))}, ${typeof previous === "string" ? previous : "-"} → ${String(at(payload, "data.status"))}`;
    const ownMilestone = at(payload, "data.milestoneId");
    const inMetadata = at(payload, "data.metadata.milestoneId");
    return ownMilestone === undefined && typeof inMetadata === "string"
      ? `${line}, metadata.milestoneId ${inMetadata}`
      : line;
  });
}

const forbidden: [after: ContractAction[], action: ContractAction][] = [
  [["reject"], "pay"],
  [["cancel"], "approve"],
  [["approve"], "approve"],
  [["approve"], "reject"],
  [[], "dispute"],
  [[], "release"],
  [[], "complete"],
  [["pay"], "pay"],
  [["pay"], "cancel"],
  [["pay"], "complete"],
  [["pay"], "deliver"],
  [["pay", "dispute"], "dispute"],
  [["pay", "release"], "dispute"],
  [["pay", "release", "complete"], "release"],
];

describe("an action that the state forbids", () => {
  it.each(forbidden)(
    "after %s: %s throws action-forbidden, is a 409 over HTTP, and changes nothing",
    async (steps, action) => {
      const sandbox = await startSandbox();
      const id = await createContract(await connect(sandbox));
      for (const step of steps) await sandbox.act(id, step);
      const before = await sandbox.contracts.get(id);
      await expect(sandbox.act(id, action)).rejects.toMatchObject({ code: "action-forbidden" });
      const answer = await fetch(`${sandbox.controlUrl}contracts/${id}/${action}`, { method: "POST" });
      expect([answer.status, at(await answer.json(), "message")]).toEqual([409, "ActionNotAllowed"]);
      expect(await sandbox.contracts.get(id)).toEqual(before);
    },
  );

  it("settling a refund twice is one", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const id = await createContract(api);
    await sandbox.act(id, "pay");
    const refundId = Number(at((await refund(api, id)).body, "data.refundId"));
    await sandbox.settleRefund(refundId);
    await expect(sandbox.settleRefund(refundId)).rejects.toMatchObject({ code: "action-forbidden" });
  });
});

describe("rollUp", () => {
  it("lets the contract follow when every milestone is released", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ rollUp: true, webhookUrl: receiver.url });
    const id = await createContract(await connect(sandbox), { Milestones: milestones });
    await sandbox.act(id, "pay");
    await sandbox.act(id, "release", { milestoneId: 1 });
    const after = await sandbox.act(id, "release", { milestoneId: 2 });
    expect(after.status).toBe("Released");
    await sandbox.deliveries.idle();
    expect(receiver.events().slice(-2)).toEqual(["milestone.released", "contract.released"]);
  });
});
