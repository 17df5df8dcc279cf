/** An answer of the API about a contract (§2.3, §2.7), as the fold takes it in (semantics §5.8). */
import type { AnswerInfo } from "../client/http/call.ts";
import type { ContractMilestone, ContractParty, ExactNumber } from "../client/answer/contract.ts";
import type { Party, SnapshotFacts, SnapshotFields, SnapshotMilestone } from "../events/snapshot.ts";
import { numberToText } from "../events/json.ts";
import { toIsoTime } from "../shared/clock.ts";
import { canonicalId } from "../shared/ids.ts";
import { toMinorUnits } from "../shared/money.ts";
import { orderKeyOf, orderKeyToMs, parseWireTime } from "../shared/wire-time.ts";

/** The fields of `Contract` and `CreatedContract` that are read. */
export interface ContractAnswer {
  readonly status?: string | null | undefined;
  readonly reference?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly notes?: string | null | undefined;
  readonly businessName?: string | null | undefined;
  readonly contractServiceType?: string | null | undefined;
  readonly amount?: ExactNumber | null | undefined;
  readonly metaData?: { readonly [name: string]: unknown } | null | undefined;
  readonly buyerParty?: ContractParty | null | undefined;
  readonly sellerParty?: ContractParty | null | undefined;
  readonly createdDate?: string | null | undefined;
  readonly updatedDate?: string | null | undefined;
  readonly milestones?: readonly ContractMilestone[] | null | undefined;
}

/** How and when an answer came. */
export interface AnswerOrigin {
  readonly origin: SnapshotFacts["origin"];
  /** The contract that was asked for, or made. */
  readonly contractId: string;
  /** `undefined` where the client does not tell. */
  readonly info: Pick<AnswerInfo, "date" | "tookMs"> | undefined;
  /** This machine's time. */
  readonly nowMs: number;
}

export function toSnapshotFacts(answer: ContractAnswer, reading: AnswerOrigin): SnapshotFacts {
  const updatedAt = parseWireTime(answer.updatedDate)?.text ?? null;
  const takenMs = takenAt(reading, updatedAt);
  const takenText = takenMs === undefined ? null : `${toIsoTime(takenMs).slice(0, secondsLength)}Z`;
  return {
    origin: reading.origin,
    contractId: reading.contractId,
    orderKey: takenText === null ? "" : orderKeyOf(takenText),
    takenAt: takenText,
    status: answer.status ?? null,
    updatedAt,
    createdAt: parseWireTime(answer.createdDate)?.text ?? null,
    fields: toFields(answer),
    milestones: (answer.milestones ?? []).map(toMilestone),
  };
}

/** `YYYY-MM-DDTHH:mm:ss` */
const secondsLength = 19;

/** A time so far ahead of this machine's clock is no time to order by: it would outrank all events until then. */
const aheadMsMax = 3_600_000;

/**
 * When the service can have read it at the latest: its `Date` less the time that the request took. A contract that says that it
 * was changed later than that was read later.
 */
function takenAt({ info, nowMs }: AnswerOrigin, updatedAt: string | null): number | undefined {
  const isUsable = (ms: number): boolean => Number.isFinite(ms) && ms - nowMs <= aheadMsMax;
  const dateMs = Date.parse(info?.date ?? "");
  const updatedMs = updatedAt === null ? Number.NaN : orderKeyToMs(orderKeyOf(updatedAt));
  const readMs = dateMs - Math.max(0, info?.tookMs ?? 0);
  const known = [isUsable(dateMs) ? readMs : Number.NaN, updatedMs].filter(isUsable);
  return known.length === 0 ? undefined : Math.max(...known);
}

function toFields(answer: ContractAnswer): SnapshotFields {
  const { amount, metaData, buyerParty, sellerParty } = answer;
  return given({
    reference: answer.reference,
    title: answer.title,
    description: answer.description,
    notes: answer.notes,
    businessName: answer.businessName,
    serviceType: answer.contractServiceType,
    amountMinor: toMinor(amount),
    ...metadataOf(metaData),
    buyer: toParty(buyerParty),
    seller: toParty(sellerParty),
  });
}

const metadataNames = ["metadata1", "metadata2", "metadata3", "metadata4"] as const;

/** `null` for the whole clears all four. */
function metadataOf(metaData: ContractAnswer["metaData"]) {
  return Object.fromEntries(
    metadataNames.map((name) => {
      const value = metaData === null ? null : metaData?.[name];
      return [name, typeof value === "string" || value === null ? value : undefined];
    }),
  );
}

function toParty(party: ContractParty | null | undefined): Party | null | undefined {
  if (party === null || party === undefined) return party;
  return {
    platformRefId: party.platformRefId ?? null,
    firstName: party.firstName ?? null,
    lastName: party.lastName ?? null,
    phoneNumber: party.phoneNumber ?? null,
  };
}

function toMilestone(milestone: ContractMilestone): SnapshotMilestone {
  const { id, status, name, description, amount, dueDate } = milestone;
  const text = typeof id === "number" ? numberToText(id) : id;
  return {
    milestoneId: canonicalId(text) ?? text,
    status: status ?? null,
    ...given({ name, description, amountMinor: toMinor(amount), dueDate }),
  };
}

/** Exact halalas; what can't be read as such is as if it had not been sent. */
export function toMinor(amount: ExactNumber | null | undefined): number | null | undefined {
  if (amount === null || amount === undefined) return amount;
  const minor = toMinorUnits(typeof amount === "number" ? numberToText(amount) : amount);
  return minor.ok ? (minor.value.minor ?? undefined) : undefined;
}

/** Without what was not in the answer: it erases nothing. */
function given<Fields extends object>(fields: Fields): Given<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Given<Fields>;
}

type Given<Fields> = { -readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
