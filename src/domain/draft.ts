import type { AnomalyKind } from "./anomaly.ts";
import type { Standing, Verdict } from "./decide.ts";
import { sourceOf, type Machine } from "./machine.ts";
import type {
  AnomalyRecord,
  ContractRecord,
  ContractState,
  DisputeRecord,
  MilestoneRecord,
  PaymentRecord,
  RefundRecord,
  TransitionRecord,
} from "./records.ts";

/** A contract's state while inputs are folded in: its own copy, so that the state it came from stays as it was. */
export interface Draft {
  readonly contract: Mutable<ContractRecord>;
  readonly milestones: Map<string, MilestoneRecord>;
  readonly refunds: Map<string, RefundRecord>;
  readonly payments: Map<string, PaymentRecord>;
  readonly disputes: Map<string, DisputeRecord>;
  readonly transitions: TransitionRecord[];
  readonly anomalies: AnomalyRecord[];
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** What an input says of itself in the history. */
export interface Origin {
  readonly event: string;
  readonly webhookId: string | null;
  readonly occurredAt: string | null;
  readonly orderKey: string;
}

export function openDraft(state: ContractState): Draft {
  return {
    contract: { ...state.contract },
    milestones: new Map(state.milestones),
    refunds: new Map(state.refunds),
    payments: new Map(state.payments),
    disputes: new Map(state.disputes),
    transitions: [],
    anomalies: [],
  };
}

export function noteAnomaly(
  draft: Draft,
  origin: Origin,
  kind: AnomalyKind,
  milestoneId: string | null,
  detail: string,
): void {
  draft.anomalies.push({
    contractId: draft.contract.contractId,
    position: ++draft.contract.anomalyCount,
    kind,
    milestoneId,
    webhookId: origin.webhookId,
    detail,
    occurredAt: origin.occurredAt,
  });
}

/** Where the entity that a move names stands now. */
export function standingOf(draft: Draft, milestoneId: string | null): Standing {
  if (milestoneId === null) {
    const { status, statusKey, statusDerived } = draft.contract;
    return { status, statusKey, derived: statusDerived };
  }
  const milestone = draft.milestones.get(milestoneId);
  return { status: milestone?.status ?? null, statusKey: milestone?.statusKey ?? "", derived: false };
}

/** What one input claimed of one entity, as it goes into the history. */
export interface Step {
  readonly machine: Machine;
  readonly milestoneId: string | null;
  readonly next: string;
  readonly prev: string | null;
  readonly derived: boolean;
}

/** Writes a verdict into the history and, where it moved, into the entity. */
export function takeStep(draft: Draft, origin: Origin, step: Step, verdict: Verdict): void {
  const { status: from } = standingOf(draft, step.milestoneId);
  recordTransition(draft, origin, step, from, verdict);
  if (verdict.moved) setStatus(draft, origin, step, from);
  if (verdict.anomaly !== null) {
    const entity = step.milestoneId === null ? "contract" : `milestone ${step.milestoneId}`;
    const detail = `${origin.event}: ${entity} from ${from ?? "nothing"} to ${step.next}`;
    noteAnomaly(draft, origin, verdict.anomaly, step.milestoneId, detail);
  }
}

export function blankMilestone(contractId: string, milestoneId: string): MilestoneRecord {
  return {
    contractId,
    milestoneId,
    name: null,
    description: null,
    status: null,
    statusSince: null,
    statusKey: "",
    previousStatus: null,
    amountMinor: null,
    dueDate: null,
  };
}

function recordTransition(
  draft: Draft,
  origin: Origin,
  step: Step,
  from: string | null,
  verdict: Verdict,
): void {
  draft.transitions.push({
    contractId: draft.contract.contractId,
    position: ++draft.contract.transitionCount,
    entity: step.milestoneId === null ? "contract" : "milestone",
    milestoneId: step.milestoneId,
    from,
    to: step.next,
    event: origin.event,
    webhookId: origin.webhookId,
    occurredAt: origin.occurredAt,
    moved: verdict.moved,
    derived: step.derived,
    source: sourceOf(step.machine, step.prev ?? from, step.next, origin.event),
    anomaly: verdict.anomaly,
  });
}

function setStatus(draft: Draft, origin: Origin, step: Step, from: string | null): void {
  const moved = {
    status: step.next,
    statusSince: origin.occurredAt,
    statusKey: origin.orderKey,
    previousStatus: step.prev ?? from,
  };
  if (step.milestoneId === null) {
    Object.assign(draft.contract, moved, { statusDerived: step.derived });
    return;
  }
  const { contractId } = draft.contract;
  const milestone = draft.milestones.get(step.milestoneId) ?? blankMilestone(contractId, step.milestoneId);
  draft.milestones.set(step.milestoneId, { ...milestone, ...moved });
}
