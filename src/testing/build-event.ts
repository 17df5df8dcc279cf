import { hash } from "node:crypto";
import { contractMachine } from "../domain/contract.ts";
import { rankOf, type Machine, type MachineTransition } from "../domain/machine.ts";
import { milestoneMachine } from "../domain/milestone.ts";
import type { WebhookEventType } from "../handlers/event.ts";
import { atTick, ticksPerMinute } from "./story/ticks.ts";

/** An event as the service sends it. `signDelivery` writes and signs it. */
export interface BuiltEvent<Type extends string = string> {
  /** The payload's id: a GUID. */
  readonly id: string;
  /** The event's type. */
  readonly event: Type;
  /** ISO 8601 with seven decimals and `Z`. */
  readonly createdAt: string;
  /** The event's own fields. */
  readonly data: BuiltData<Type>;
}

/** The fields of an event. Fields of your own are sent too. */
export interface EventData {
  /** The contract's external id. */
  readonly contractId?: string | undefined;
  /** The milestone's id. */
  readonly milestoneId?: string | number | undefined;
  /** The dispute's id. */
  readonly disputeId?: string | undefined;
  /** The app's own id of the contract. */
  readonly reference?: string | null | undefined;
  /** The status after the event. */
  readonly status?: string | undefined;
  /** The status before the event. */
  readonly previousStatus?: string | undefined;
  /** In SAR. */
  readonly amount?: number | undefined;
  /** Default `SAR`. */
  readonly currency?: string | undefined;
  /** The payment's id. */
  readonly paymentId?: string | undefined;
  /** The payment's id for payment events, the refund's id for refund events. */
  readonly transactionId?: string | number | undefined;
  /** The invoice's id. */
  readonly invoiceId?: string | undefined;
  /** When it happened: the mirror orders events by it. ISO 8601 with seven decimals and `Z`. */
  readonly timestamp?: string | undefined;
  /** `metadata1` to `metadata4`, `reference`, `milestoneId`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly [field: string]: unknown;
}

/** Fields that are present. */
type Filled<Fields extends keyof EventData> = { readonly [Field in Fields]: NonNullable<EventData[Field]> };

/** `data` of an event type, with the defaults. */
export type BuiltData<Type extends string> = EventData &
  (Type extends "webhook.test" ? unknown : Filled<"contractId" | "amount">) &
  (Type extends `${string}payment.completed`
    ? Filled<"paymentId" | "transactionId" | "invoiceId">
    : unknown) &
  (Type extends `${string}refund.${string}` ? Filled<"transactionId"> : unknown) &
  (Type extends `${string}.disputed` ? Filled<"disputeId"> : unknown) &
  (Type extends `milestone.${string}` ? Filled<"milestoneId"> : unknown);

/** Your changes to the default event. */
export interface EventChanges {
  /** Default: a GUID made from the type and the data. */
  readonly id?: string | undefined;
  /** When the payload was made. Default: `data.timestamp`. It orders nothing: to order events, set `data.timestamp`. */
  readonly createdAt?: string | undefined;
  /** A field that is `undefined` is not sent. */
  readonly data?: EventData | undefined;
}

/**
 * Builds a valid event. It fills in what you leave out: the statuses, ids and amount that the service sends for this type,
 * and a time that fits a contract's life. The same arguments give the same event: a mirror takes the second one for a
 * duplicate. A `refund.*` event of a milestone has the form of the service's earlier edition: the milestone's id is in its
 * metadata, and the status is the contract's.
 *
 * ```ts
 * buildEvent("payment.completed", { data: { contractId: "CNT-1", amount: 250 } });
 * ```
 */
export function buildEvent<Type extends WebhookEventType | (string & {})>(
  type: Type,
  { id, createdAt, data = {} }: EventChanges = {},
): BuiltEvent<Type> {
  const whole = withMilestone(type, { ...defaultsOf(type, data), ...data });
  return {
    id: id ?? guidOf(type, whole),
    event: type,
    createdAt: createdAt ?? whole.timestamp ?? timeOf(type),
    data: whole as BuiltData<Type>,
  };
}

function defaultsOf(type: string, { contractId = "CNT-2601-00100068", milestoneId }: EventData): EventData {
  const step = stepOf(type);
  const isRemark = type === "contract.delivered" || type === "contract.received";
  const status = step?.to ?? (isRemark ? "Escrow" : undefined);
  return {
    ...(type === "webhook.test" ? {} : { contractId }),
    ...(type.startsWith("milestone.") ? { milestoneId: "13" } : {}),
    ...(type.endsWith(".disputed") ? { disputeId: "DSP-123456" } : {}),
    ...(status === undefined ? {} : { status }),
    ...(step?.from == null ? {} : { previousStatus: step.from }),
    ...(type === "webhook.test" ? {} : { amount: 600, currency: "SAR" }),
    ...moneyIdsOf(type, `${contractId} ${milestoneId ?? ""}`),
    timestamp: timeOf(type),
  };
}

/** A refund's two events share its id; refunds of other targets have others. */
function moneyIdsOf(type: string, target: string): EventData {
  if (type.endsWith("payment.completed"))
    return { paymentId: "PAY-123456", transactionId: "TXN-789012", invoiceId: "INV-345678" };
  const refundId = 1000 + Number.parseInt(hash("sha256", target, "hex").slice(0, 6), 16);
  return type.includes("refund.") ? { transactionId: String(refundId) } : {};
}

/** Where the milestone is named is where the editions differ. */
function withMilestone(type: string, { milestoneId, ...data }: EventData): EventData {
  if (milestoneId === undefined) return data;
  const metadata = { ...data.metadata, milestoneId: String(milestoneId) };
  return type.startsWith("refund.") ? { ...data, metadata } : { ...data, milestoneId, metadata };
}

function machineOf(type: string): Machine {
  return type.startsWith("milestone.") ? milestoneMachine : contractMachine;
}

function stepOf(type: string): MachineTransition | undefined {
  return machineOf(type).transitions.find(({ event }) => event === type);
}

/** A minute for each step of the machine that lies before; milestones begin when the contract is paid. */
function timeOf(type: string): string {
  const machine = machineOf(type);
  const before = machine === milestoneMachine ? rankOf(contractMachine, "Escrow") : 0;
  const step = stepOf(type);
  const rank = step === undefined ? rankOf(contractMachine, "Escrow") : rankOf(machine, step.to);
  return atTick((before + rank) * ticksPerMinute + 4_874_015);
}

function guidOf(type: string, data: EventData): string {
  const digest = hash("sha256", JSON.stringify([type, data]), "hex");
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
}
