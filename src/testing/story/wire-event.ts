/** Writes an event as the service sends it: as JSON text whose numbers keep their digits. */
import type { Dressing } from "./dressing.ts";
import type { ContractLife, LifeEvent } from "./life.ts";
import { atOffset } from "./ticks.ts";

/** An event with what the sender adds to it. */
export interface Dispatch {
  readonly life: ContractLife;
  readonly event: LifeEvent;
  readonly payloadId: string;
  /** UTC with seven fractional digits and `Z`. */
  readonly occurredAt: string;
  readonly createdAt: string;
  readonly dressing: Dressing;
}

/** The body of one webhook (§6.3). */
export function writeBody(dispatch: Dispatch): string {
  const { event, payloadId, createdAt, occurredAt, dressing } = dispatch;
  const created = dressing.time === "created-only" ? occurredAt : createdAt;
  return writeObject(dressing, {
    id: text(payloadId),
    event: text(event.event),
    createdAt: dressing.time === "none" ? undefined : text(created),
    data: writeObject(dressing, dataOf(dispatch)),
  });
}

/** JSON texts by name; what is `undefined` is left out. */
type Fields = Readonly<Record<string, string | undefined>>;

function dataOf({ life, event, occurredAt, dressing }: Dispatch): Fields {
  return {
    contractId: text(life.contractId),
    milestoneId: namesMilestoneInData(event, dressing) ? milestoneId(event, dressing) : undefined,
    disputeId: optional(event.disputeId),
    reference: dressing.reference === "data" ? (optional(life.reference) ?? "null") : undefined,
    status: dressing.status === "sent" ? status(event.status, dressing) : undefined,
    previousStatus: writesPrevious(event, dressing) ? status(event.previousStatus, dressing) : undefined,
    amount: amount(event.amountMinor, dressing),
    currency: currencies[dressing.currency],
    paymentId: optional(event.paymentId),
    transactionId: event.transactionId === null ? undefined : id(event.transactionId, dressing),
    invoiceId: optional(event.invoiceId),
    timestamp: timestamp(occurredAt, dressing),
    metadata: writeObject(dressing, metadataOf(life, event, dressing)),
  };
}

function metadataOf(life: ContractLife, event: LifeEvent, dressing: Dressing): Fields {
  const own = Object.entries(life.metadata).map(([name, value]) => [name, text(value)] as const);
  return {
    ...Object.fromEntries(own),
    reference: dressing.reference === "metadata" ? optional(life.reference) : undefined,
    milestoneId: namesMilestoneInMetadata(event, dressing) ? optional(event.milestoneId) : undefined,
  };
}

/** The earlier edition names a refund's milestone in the metadata alone (supplement). */
function namesMilestoneInData(event: LifeEvent, { milestone }: Dressing): boolean {
  if (event.milestoneId === null || event.milestoneInMetadata) return false;
  return milestone === "data" || milestone === "both";
}

function namesMilestoneInMetadata(event: LifeEvent, { milestone }: Dressing): boolean {
  if (event.milestoneId === null || milestone === "missing") return false;
  return event.milestoneInMetadata || milestone !== "data";
}

function writesPrevious({ previousStatus }: LifeEvent, dressing: Dressing): boolean {
  return previousStatus !== null && dressing.previousStatus === "sent";
}

function milestoneId({ milestoneId: given }: LifeEvent, dressing: Dressing): string | undefined {
  if (given === null) return undefined;
  const isGuid = given.includes("-");
  return isGuid && dressing.ids === "number" ? text(`{${given.toUpperCase()}}`) : id(given, dressing);
}

function id(value: string, { ids }: Dressing): string {
  return ids === "number" && /^[1-9]\d*$/.test(value) ? value : text(value);
}

function status(value: string | null, { statusCase }: Dressing): string | undefined {
  if (value === null) return undefined;
  if (statusCase === "own") return text(value);
  return text(statusCase === "lower" ? value.toLowerCase() : value.toUpperCase());
}

function amount(minor: number, dressing: Dressing): string {
  const digits = String(minor).padStart(3, "0");
  const decimals = `${digits.slice(0, -2)}.${digits.slice(-2)}`;
  switch (dressing.amount) {
    case "decimals":
      return decimals;
    case "short":
      return decimals.replace(/\.?0+$/, "");
    case "exponent":
      return `${minor}e-2`;
    case "text":
      return text(decimals);
    case "too-precise":
      return `${decimals}49`;
    case "too-large":
      return `${minor}000000000000000000`;
    case "unreadable":
      return unreadable[minor % unreadable.length] ?? "true";
  }
}

const unreadable = [text("soon"), "true", '{"value":600}', text(""), "[600]"];

const currencies = { SAR: '"SAR"', sar: '"sar"', USD: '"USD"', missing: undefined } as const;

function timestamp(occurredAt: string, { time }: Dressing): string | undefined {
  switch (time) {
    case "zulu":
      return text(occurredAt);
    case "offset":
      return text(atOffset(occurredAt, 180));
    case "no-zone":
      return text(occurredAt.slice(0, -1));
    case "none":
    case "created-only":
      return undefined;
  }
}

function optional(value: string | null): string | undefined {
  return value === null ? undefined : text(value);
}

function text(value: string): string {
  return JSON.stringify(value);
}

function writeObject({ casing }: Dressing, fields: Fields): string {
  const spell = (name: string): string =>
    casing === "camel" ? name : name.charAt(0).toUpperCase() + name.slice(1);
  const members = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${text(spell(name))}:${value}`],
  );
  return `{${members.join(",")}}`;
}
