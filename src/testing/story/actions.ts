/** The next steps that the service can take with a contract: rows of the machines, and ways back. */
import { contractMachine } from "../../domain/contract.ts";
import type { Machine } from "../../domain/machine.ts";
import { milestoneMachine } from "../../domain/milestone.ts";
import { refundActions, waysBackFromRefund } from "./refund-actions.ts";
import { tell, type Service, type Telling } from "./service.ts";

/** Something that can happen now. Running it records it. */
export interface Action {
  readonly event: string;
  run(): void;
}

/** Everything that can happen now, the simplest first. */
export function actionsOf(service: Service): Action[] {
  return [
    ...contractActions(service),
    ...(service.status === null ? [] : milestoneActions(service)),
    ...refundActions(service),
    ...waysBack(service),
    ...waysBackFromRefund(service),
    ...(service.plan.reopens ? reopenings(service) : []),
    ...remarks(service),
  ];
}

/** A row with a webhook, and the status before it. A row without a webhook may lie between. */
export interface ToldRow {
  readonly from: string | null;
  readonly event: string;
  readonly to: string;
}

/** The rows that start at `status`. After them, those that start one step later, where that step has no webhook. */
export function toldRows({ transitions }: Machine, status: string | null): ToldRow[] {
  const rows = transitions.filter(({ from }) => from === status);
  const silent = new Set<string | null>(rows.filter(({ event }) => event === null).map(({ to }) => to));
  const behind = transitions.filter(({ from }) => silent.has(from));
  return [...rows, ...behind].flatMap(({ from, event, to }) => (event === null ? [] : [{ from, event, to }]));
}

function contractActions(service: Service): Action[] {
  return toldRows(contractMachine, service.status)
    .filter(({ event }) => !isRefundEvent(event))
    .map((row) => toAction(service, row, null));
}

function milestoneActions(service: Service): Action[] {
  return [...service.milestones].flatMap(([about, status]) =>
    toldRows(milestoneMachine, status)
      .filter(({ event }) => !isRefundEvent(event))
      .map((row) => toAction(service, row, about)),
  );
}

function toAction(service: Service, row: ToldRow, about: string | null): Action {
  return {
    event: row.event,
    run: () => tell(service, { ...row, about, ...detailsOf(service, row, about) }),
  };
}

function isRefundEvent(event: string): boolean {
  return event.includes("refund");
}

/** An event of a payment or a dispute also adds a record. */
function detailsOf(service: Service, { event }: ToldRow, milestoneId: string | null): Partial<Telling> {
  if (event.endsWith("payment.completed")) return recordPayment(service, milestoneId);
  return event.endsWith(".disputed") ? recordDispute(service, milestoneId) : {};
}

function recordPayment(service: Service, milestoneId: string | null): Partial<Telling> {
  const { plan, payments } = service;
  const suffix = `${plan.number}-${payments.length + 1}`;
  const amountMinor = milestoneId === null ? plan.amountMinor : partOf(plan.amountMinor, payments.length);
  const payment = {
    paymentId: `PAY-${suffix}`,
    transactionId: `TXN-${suffix}`,
    invoiceId: `INV-${suffix}`,
    amountMinor,
  };
  payments.push({ ...payment, milestoneId });
  return payment;
}

/** Every second dispute has no id: its time then tells it apart. */
function recordDispute(service: Service, milestoneId: string | null): Partial<Telling> {
  const { plan, disputes, events } = service;
  const disputeId = disputes.length % 2 === 0 ? `DSP-${plan.number}-${disputes.length + 1}` : null;
  disputes.push({ disputeId, milestoneId, raisedBy: events.length });
  return { disputeId };
}

function partOf(amountMinor: number, count: number): number {
  return Math.floor(amountMinor / (count + 2)) + 1;
}

/** A dispute is settled. The machines have no row for this, but the service does it (semantics §5.7). */
function waysBack(service: Service): Action[] {
  const settled = (about: string | null, from: string): Action => {
    const event = about === null ? "contract.dispute-settled" : "milestone.dispute-settled";
    return { event, run: () => tell(service, { event, about, from, to: "Escrow" }) };
  };
  const disputed = [...service.milestones].filter(([, status]) => status === "Disputed");
  return [
    ...(service.status === "Dispute" ? [settled(null, "Dispute")] : []),
    ...disputed.map(([id]) => settled(id, "Disputed")),
  ];
}

/** The service itself says that a terminal status was left (semantics §5.5). */
function reopenings(service: Service): Action[] {
  const reopen = (about: string | null, from: string): Action => {
    const event = about === null ? "contract.reopened" : "milestone.reopened";
    return { event, run: () => tell(service, { event, about, from, to: "Escrow" }) };
  };
  const { status, milestones } = service;
  const closed = [...milestones].flatMap(([id, at]) =>
    at !== null && milestoneMachine.terminal.includes(at) ? [reopen(id, at)] : [],
  );
  return status !== null && contractMachine.terminal.includes(status)
    ? [reopen(null, status), ...closed]
    : closed;
}

/** Events that move nothing: of the earlier edition (supplement), and of a family that the mirror doesn't know. */
function remarks(service: Service): Action[] {
  const { status, plan } = service;
  if (status !== "Escrow") return [];
  const earlier = plan.edition === "earlier" ? ["contract.delivered", "contract.received"] : [];
  return [...earlier, "settlement.reported"].map((event) => ({
    event,
    run: () => tell(service, { event, about: null, from: status, to: status }),
  }));
}
