import type { AnomalyKind } from "./anomaly.ts";
import type { Standing, Decision } from "./decide.ts";
import { putMilestone, type Lookups } from "./lookups.ts";
import { sourceOf } from "./machine.ts";
import type { ReportedMove } from "./moves.ts";
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
  readonly lookups: Lookups;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** An input's own part of a history line. */
export interface Origin {
  readonly event: string;
  readonly webhookId: string | null;
  /** The service's time, `null` where it gave none. */
  readonly occurredAt: string | null;
  /** The same, else when it arrived. */
  readonly at: string;
  readonly orderKey: string;
}

export function openDraft(state: ContractState): Draft {
  return {
    contract: { ...state.contract },
    milestones: copyOf(state.milestones),
    refunds: copyOf(state.refunds),
    payments: copyOf(state.payments),
    disputes: copyOf(state.disputes),
    transitions: [],
    anomalies: [],
    lookups: {},
  };
}

/** The state that the draft has come to. */
export function closeDraft({ lookups: _, ...state }: Draft): ContractState {
  return state;
}

/** Most are empty, and `new Map(empty)` would still make an iterator, for each delivery four. */
function copyOf<Row>(rows: ReadonlyMap<string, Row>): Map<string, Row> {
  return rows.size === 0 ? new Map<string, Row>() : new Map(rows);
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
    at: origin.at,
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

/** Writes a decision into the history and, where it moved, into the entity. */
export function recordMove(draft: Draft, origin: Origin, move: ReportedMove, decision: Decision): void {
  const { status: from } = standingOf(draft, move.milestoneId);
  recordTransition(draft, origin, move, from, decision);
  if (decision.moved) setStatus(draft, origin, move, from);
  if (decision.anomaly !== null) {
    const entity = move.milestoneId === null ? "contract" : `milestone ${move.milestoneId}`;
    const detail = `${origin.event}: ${entity} from ${from ?? "nothing"} to ${move.next}`;
    noteAnomaly(draft, origin, decision.anomaly, move.milestoneId, detail);
  }
}

/** The milestone as it stands, or a new one. */
export function milestoneOf({ milestones, contract }: Draft, milestoneId: string): MilestoneRecord {
  return milestones.get(milestoneId) ?? blankMilestone(contract.contractId, milestoneId);
}

function blankMilestone(contractId: string, milestoneId: string): MilestoneRecord {
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
  move: ReportedMove,
  from: string | null,
  decision: Decision,
): void {
  draft.transitions.push({
    contractId: draft.contract.contractId,
    position: ++draft.contract.transitionCount,
    entity: move.milestoneId === null ? "contract" : "milestone",
    milestoneId: move.milestoneId,
    from,
    to: move.next,
    event: origin.event,
    webhookId: origin.webhookId,
    occurredAt: origin.occurredAt,
    moved: decision.moved,
    derived: move.derived,
    source: sourceOf(move.machine, move.prev ?? from, move.next, origin.event),
    anomaly: decision.anomaly,
  });
}

function setStatus(draft: Draft, origin: Origin, move: ReportedMove, from: string | null): void {
  const moved = {
    status: move.next,
    statusSince: origin.at,
    statusKey: origin.orderKey,
    previousStatus: move.prev ?? from,
  };
  if (origin.occurredAt === null) draft.contract.updatedAt = origin.at;
  if (move.milestoneId === null) {
    Object.assign(draft.contract, moved, { statusDerived: move.derived });
    return;
  }
  putMilestone(draft, { ...milestoneOf(draft, move.milestoneId), ...moved });
}
