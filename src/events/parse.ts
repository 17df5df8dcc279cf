/**
 * The base of the receiver's step *parse*: the verified bytes of one delivery become `EventFacts`, or a reason for
 * quarantine. It never throws, and no detail ever quotes a value.
 */
import { Buffer, isUtf8 } from "node:buffer";
import type { ZodError } from "zod";
import { canonicalId, isBlank } from "../shared/ids.ts";
import { toMinorUnits } from "../shared/money.ts";
import { err, ok } from "../shared/result.ts";
import type { Result } from "../shared/result.ts";
import { parseWireTime } from "../shared/wire-time.ts";
import type { WireTime } from "../shared/wire-time.ts";
import type { EventFacts, EventMetadata } from "./event.ts";
import { readFields } from "./fields.ts";
import type { ParseFlag } from "./flags.ts";
import { NumberText, numberToText, parseExactJson } from "./json.ts";
import { nameLengthMax, payloadTable, readPayloadSchema, testPayloadSchema } from "./wire.ts";
import type { ReadPayload } from "./wire.ts";

/** A body that was understood. */
export interface ParsedEvent {
  readonly facts: EventFacts;
  /** The parsed body as sent, unknown fields included. Numbers that JavaScript would change are `NumberText`. */
  readonly payload: unknown;
}

/** Why a body is quarantined. */
export interface ParseProblem {
  readonly reason:
    | "not-utf8"
    | "not-json"
    /** Nested deeper than `jsonDepthMax`. */
    | "too-deep"
    | "invalid-payload"
    /** A field that is read has two values, under one key or under two casings. */
    | "ambiguous-field"
    /** Readable, but it names no contract and is no `webhook.test`. */
    | "no-contract-id";
  /** The field's path and what was expected there; never a value. */
  readonly detail: string;
}

/**
 * Reads one webhook body (§6.3): exact numbers, fields in any casing, ids and times normalised. A byte order mark
 * before the JSON is skipped.
 */
export function parseEvent(body: Uint8Array): Result<ParsedEvent, ParseProblem> {
  if (!isUtf8(body)) return err({ reason: "not-utf8", detail: "the body is not UTF-8" });
  const json = parseExactJson(toJsonText(body));
  if (!json.ok) return json;
  const twice: string[] = [];
  const payload = checkShape(readFields(json.value, payloadTable, twice));
  if (twice[0] !== undefined)
    return err({ reason: "ambiguous-field", detail: `${twice[0]}: expected one value` });
  if (!payload.ok) return payload;
  const facts = toFacts(payload.value);
  if (facts.contractId === "" && facts.event !== "webhook.test") return err(noContractId);
  return ok({ facts, payload: json.value });
}

const noContractId: ParseProblem = { reason: "no-contract-id", detail: "data.contractId: expected an id" };

function toJsonText(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  return text.startsWith(byteOrderMark) ? text.slice(1) : text;
}

const byteOrderMark = "\uFEFF";

function checkShape(candidate: unknown): Result<ReadPayload, ParseProblem> {
  const payload = readPayloadSchema.safeParse(candidate);
  if (payload.success) return ok(payload.data);
  const test = testPayloadSchema.safeParse(candidate);
  return test.success ? ok(test.data) : err({ reason: "invalid-payload", detail: describe(payload.error) });
}

// The schema's messages name types and lengths only.
function describe(error: ZodError): string {
  return error.issues.map((issue) => `${issue.path.join(".") || "payload"}: ${issue.message}`).join("; ");
}

function toFacts({ id, event, createdAt, data }: ReadPayload): EventFacts {
  const time = parseWireTime(data.timestamp) ?? parseWireTime(createdAt);
  const amount = toAmount(data.amount);
  const currency = toCurrency(data.currency);
  const previousStatus = toName(data.previousStatus);
  const metadata = data.metadata;
  return {
    event,
    payloadId: toId(id),
    contractId: toId(data.contractId) ?? "",
    milestoneId: toId(data.milestoneId) ?? toId(metadata?.milestoneId),
    disputeId: toId(data.disputeId),
    transactionId: toId(data.transactionId),
    paymentId: toId(data.paymentId),
    invoiceId: toId(data.invoiceId),
    reference: toText(data.reference) ?? toText(metadata?.reference) ?? null,
    status: toName(data.status) ?? null,
    previousStatus: previousStatus ?? null,
    amountMinor: amount.minor,
    currency,
    occurredAt: time?.text ?? null,
    orderKey: time?.orderKey ?? "",
    metadata: metadata === undefined ? {} : toMetadata(metadata),
    flags: toFlags({ time, amount, currency, previousStatus }),
  };
}

type Metadata = NonNullable<ReadPayload["data"]["metadata"]>;

function toId(value: string | number | NumberText | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  return canonicalId(typeof value === "string" ? value : numberToText(value)) ?? null;
}

/** A name as sent; `null` for none, and a blank one is none; `undefined` for what is no name. */
function toName(value: unknown): string | null | undefined {
  if (value === null || value === undefined) return null;
  if (typeof value !== "string" || value.length > nameLengthMax) return undefined;
  return isBlank(value) ? null : value;
}

/** Descriptive text: strings as they are, numbers as their digits, booleans as words, anything else not at all. */
function toText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || value instanceof NumberText) return numberToText(value);
  return typeof value === "boolean" ? String(value) : undefined;
}

function toMetadata(source: Metadata): EventMetadata {
  const metadata: { -readonly [Key in keyof EventMetadata]: string } = {};
  for (const name of metadataNames) {
    const text = toText(source[name]);
    if (text !== undefined) metadata[name] = text;
  }
  return metadata;
}

const metadataNames = ["metadata1", "metadata2", "metadata3", "metadata4"] as const;

/** An amount, and its flag. */
interface ReadAmount {
  readonly minor: number | null;
  readonly flags: readonly ParseFlag[];
}

/** An amount never costs an event: what is no number is none, and flagged (semantics §6). */
function toAmount(value: unknown): ReadAmount {
  if (value === null || value === undefined) return { minor: null, flags: [] };
  const isText = typeof value === "string" || typeof value === "number" || value instanceof NumberText;
  const amount = isText ? toMinorUnits(String(value)) : undefined;
  return amount?.ok === true ? amount.value : { minor: null, flags: ["amount-unreadable"] };
}

function toCurrency(value: unknown): string {
  const currency = toName(value);
  if (currency === undefined) return noCurrency;
  return currency === null || currency.toUpperCase() === serviceCurrency ? serviceCurrency : currency;
}

/** "Always SAR" (§6.3). */
const serviceCurrency = "SAR";

/** ISO 4217's own code where no currency can be named: what can't be read must not pass for SAR. */
const noCurrency = "XXX";

interface Oddities {
  readonly time: WireTime | undefined;
  readonly amount: ReadAmount;
  readonly currency: string;
  readonly previousStatus: string | null | undefined;
}

function toFlags({ time, amount, currency, previousStatus }: Oddities): readonly ParseFlag[] {
  const flags: ParseFlag[] = [...amount.flags];
  if (time === undefined) flags.push("no-time");
  else if (!time.zone) flags.push("no-zone");
  if (currency !== serviceCurrency) flags.push("foreign-currency");
  if (previousStatus === undefined) flags.push("previous-status-unreadable");
  return flags;
}
