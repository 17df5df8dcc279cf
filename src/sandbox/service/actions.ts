import { ok } from "../../shared/result.ts";
import { refuse } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import { emitContractEvent } from "./events.ts";
import { findMilestone } from "./find-contract.ts";
import { approval, contractSteps, milestoneSteps } from "./machine.ts";
import type { ContractAction, ContractStep, MilestoneStep } from "./machine.ts";
import type { ContractRecord, MilestoneRecord, PaymentRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";

/** Does to a contract, or to one of its milestones, what has no endpoint. 409 when its status forbids it. */
export function act(
  world: World,
  contract: ContractRecord,
  action: string,
  milestoneId: number | null,
): Granted<ContractRecord> {
  const step = contractSteps.find((one) => one.action === action);
  if (step === undefined) {
    return refuse(
      404,
      "UnknownAction",
      `There is no action ${action}. Actions: ${actionNames().join(", ")}.`,
    );
  }
  if (milestoneId === null) return actOnContract(world, contract, step);
  const milestone = findMilestone(contract, milestoneId);
  return milestone.ok ? actOnMilestone(world, contract, milestone.value, action) : milestone;
}

function actionNames(): string[] {
  return [...new Set(contractSteps.map(({ action }) => action))];
}

/** The actions that the present status allows: the control page's buttons. */
export function allowedActions(world: World, contract: ContractRecord): ContractAction[] {
  return contractSteps
    .filter(
      (step) =>
        isEdition(world, step) && (step.from.includes(contract.status) || paysAtOnce(world, contract, step)),
    )
    .map(({ action }) => action);
}

export function allowedMilestoneActions(
  contract: ContractRecord,
  milestone: MilestoneRecord,
): ContractAction[] {
  return milestoneSteps
    .filter(({ from, within }) => from.includes(milestone.status) && within.includes(contract.status))
    .map(({ action }) => action);
}

function actOnContract(world: World, contract: ContractRecord, step: ContractStep): Granted<ContractRecord> {
  const allowed = allowedActions(world, contract);
  if (!allowed.includes(step.action)) {
    return refuse(
      409,
      "ActionNotAllowed",
      `Can't ${step.action} ${contract.contractId}, which is ${contract.status}. Allowed: ${allowed.join(", ") || "none"}.`,
    );
  }
  if (paysAtOnce(world, contract, step) && world.settings.payFromPending === "approve-first") {
    takeContractStep(world, contract, approval);
  }
  takeContractStep(world, contract, step);
  return ok(contract);
}

/** The buyer may pay before anyone approved: the creation answer already carries the payment page (§2.3). */
function paysAtOnce(world: World, contract: ContractRecord, step: ContractStep): boolean {
  return step.action === "pay" && contract.status === "Pending" && world.settings.payFromPending !== "refuse";
}

function isEdition(world: World, step: ContractStep): boolean {
  return step.earlierOnly !== true || world.settings.edition === "earlier";
}

function takeContractStep(world: World, contract: ContractRecord, step: ContractStep): void {
  const previousStatus = contract.status;
  contract.status = step.to;
  if (step.action === "pay") contract.payment = newPayment(world);
  if (step.action === "dispute") contract.disputeId = newDisputeId(world);
  touch(world, contract);
  emitContractEvent(world, contract, step.event, {
    previousStatus,
    ...(step.action === "pay" && contract.payment !== null ? { payment: contract.payment } : {}),
    ...(step.action === "dispute" && contract.disputeId !== null ? { disputeId: contract.disputeId } : {}),
  });
  if (step.cascades === true) cascade(world, contract, step.action);
}

/** A step of the whole contract is also a step of each milestone that can take it. */
function cascade(world: World, contract: ContractRecord, action: ContractAction): void {
  const step = milestoneSteps.find((one) => one.action === action);
  for (const milestone of contract.milestones) {
    if (step?.from.includes(milestone.status) === true) takeMilestoneStep(world, contract, milestone, step);
  }
}

function actOnMilestone(
  world: World,
  contract: ContractRecord,
  milestone: MilestoneRecord,
  action: string,
): Granted<ContractRecord> {
  const allowed = allowedMilestoneActions(contract, milestone);
  const step = milestoneSteps.find((one) => one.action === action);
  if (step === undefined || !allowed.includes(step.action)) {
    return refuse(
      409,
      "ActionNotAllowed",
      `Can't ${action} milestone ${milestone.id}, which is ${milestone.status} in a contract that is ${contract.status}. Allowed: ${allowed.join(", ") || "none"}.`,
    );
  }
  takeMilestoneStep(world, contract, milestone, step);
  if (action === "dispute" && world.settings.milestoneDisputeMovesContract)
    follow(world, contract, "dispute");
  if (world.settings.rollUp && contract.milestones.every(({ status }) => status === step.to)) {
    follow(world, contract, step.action);
  }
  return ok(contract);
}

function takeMilestoneStep(
  world: World,
  contract: ContractRecord,
  milestone: MilestoneRecord,
  step: MilestoneStep,
): void {
  const previousStatus = milestone.status;
  milestone.status = step.to;
  if (step.action === "dispute") milestone.disputeId = newDisputeId(world);
  touch(world, contract);
  emitContractEvent(world, contract, step.event, {
    previousStatus,
    milestone,
    ...(step.action === "pay" && contract.payment !== null ? { payment: contract.payment } : {}),
    ...(step.action === "dispute" && milestone.disputeId !== null ? { disputeId: milestone.disputeId } : {}),
  });
}

/** The contract follows its milestones, where it can. */
function follow(world: World, contract: ContractRecord, action: ContractAction): void {
  const step = contractSteps.find((one) => one.action === action);
  if (step?.from.includes(contract.status) === true) takeContractStep(world, contract, step);
}

export function touch(world: World, contract: ContractRecord): void {
  contract.updatedDate = world.stamp();
  world.state.saveContract(contract);
}

function newPayment(world: World): PaymentRecord {
  const number = world.state.count("payment");
  const paymentId = `PAY-${number}`;
  return {
    paymentId,
    transactionId: world.settings.paymentTransactionId === "payment-id" ? paymentId : `TXN-${number}`,
    invoiceId: `INV-${number}`,
  };
}

function newDisputeId(world: World): string {
  return `DSP-${world.state.count("dispute")}`;
}
