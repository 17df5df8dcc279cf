/** A small model of the service. It walks the exported machines, and records each step as an event. */
import { contractMachine } from "../../domain/contract.ts";
import { reachable, type Machine } from "../../domain/machine.ts";
import { milestoneMachine } from "../../domain/milestone.ts";
import type {
  ContractLife,
  Edition,
  LifeEvent,
  LifeMove,
  ServiceStanding,
  TrueDispute,
  TruePayment,
  TrueRefund,
} from "./life.ts";

/** The start of a life. */
export interface LifePlan {
  readonly edition: Edition;
  /** The contract's number. It is part of each of its ids. */
  readonly number: number;
  /** The start of refund ids, else `number`. Contracts with one base share refund ids. */
  readonly refundBase: number | undefined;
  /** How many of its refunds have the same id. 1, except for a mistake of the service. */
  readonly refundsPerId: number;
  /** Whether the service can take it out of a terminal status, and says so. */
  readonly reopens: boolean;
  readonly milestoneIds: readonly string[];
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly amountMinor: number;
}

/** The service's own record of one contract, changed step by step. */
export interface Service {
  readonly plan: LifePlan;
  status: string | null;
  /** The contract was cancelled along with a milestone's refund (§3), so that it may go on. */
  cancelledByMilestone: boolean;
  readonly milestones: Map<string, string | null>;
  readonly refunds: TrueRefund[];
  readonly payments: TruePayment[];
  readonly disputes: TrueDispute[];
  /** The refund that is under way, and where its target and the contract stood before it. */
  active: { readonly refund: number; readonly statusBefore: string } | undefined;
  readonly events: LifeEvent[];
  readonly standings: ServiceStanding[];
}

/** A contract that does not exist yet. */
export function openService(plan: LifePlan): Service {
  return {
    plan,
    status: null,
    cancelledByMilestone: false,
    milestones: new Map(plan.milestoneIds.map((id) => [id, null])),
    refunds: [],
    payments: [],
    disputes: [],
    active: undefined,
    events: [],
    standings: [],
  };
}

/** The event of an action, without the fields that follow from the record. */
export interface Telling {
  readonly event: string;
  /** The milestone that `status` and `previousStatus` are about; `null` for the contract. */
  readonly about: string | null;
  /** The status before, as the event says. A step without a webhook may lie before it. */
  readonly from: string | null;
  readonly to: string;
  /** The milestone that the event names. */
  readonly milestoneId?: string | null;
  readonly milestoneInMetadata?: boolean;
  readonly amountMinor?: number;
  readonly transactionId?: string;
  readonly paymentId?: string;
  readonly invoiceId?: string;
  readonly disputeId?: string | null;
  /** Further moves of the event. */
  readonly also?: LifeMove;
}

/** Makes the event's moves, and records it. */
export function tell(service: Service, telling: Telling): void {
  const { about, to, from, also } = telling;
  const own: LifeMove = { milestoneId: about, from, to };
  const moves = also === undefined ? [own] : [own, also];
  for (const move of moves) if (move.from !== move.to) take(service, move);
  service.events.push({
    event: telling.event,
    status: to,
    previousStatus: from,
    forward: moves.every(isForward),
    milestoneInMetadata: telling.milestoneInMetadata ?? false,
    milestoneId: telling.milestoneId ?? about,
    amountMinor: telling.amountMinor ?? service.plan.amountMinor,
    transactionId: telling.transactionId ?? null,
    paymentId: telling.paymentId ?? null,
    invoiceId: telling.invoiceId ?? null,
    disputeId: telling.disputeId ?? null,
    moves,
  });
  service.standings.push({ status: service.status, milestones: new Map(service.milestones) });
}

/** The life that the service has recorded. */
export function toLife(service: Service): ContractLife {
  const { plan, status, milestones, refunds, payments, disputes, events, standings } = service;
  const { edition, reference, metadata, milestoneIds, amountMinor } = plan;
  const told = [...milestones].flatMap(([id, at]) => (at === null ? [] : [[id, at] as const]));
  return {
    contractId: contractIdOf(plan),
    edition,
    reference,
    metadata,
    milestoneIds,
    events,
    standings,
    truth: {
      status,
      milestones: new Map(told),
      refunds,
      payments,
      disputes,
      reference,
      metadata,
      amountMinor,
    },
  };
}

/** `CNT-2601-00000042` */
export function contractIdOf({ number }: LifePlan): string {
  return `CNT-2601-${String(number).padStart(8, "0")}`;
}

function take(service: Service, { milestoneId, to }: LifeMove): void {
  if (milestoneId === null) service.status = to;
  else service.milestones.set(milestoneId, to);
}

function isForward({ milestoneId, from, to }: LifeMove): boolean {
  const machine: Machine = milestoneId === null ? contractMachine : milestoneMachine;
  return from === null || from === to || reachable(machine, from, to);
}
