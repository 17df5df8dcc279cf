import { ok } from "../../shared/result.ts";
import { refuseFields } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import { Fields } from "../wire/fields.ts";
import type { ContractRecord, MetaDataRecord, MilestoneRecord } from "../world/records.ts";
import { readParty } from "./party.ts";
import type { Person } from "./party.ts";

/** A contract as a request describes it (§2.2). */
export interface ContractDraft extends Pick<
  ContractRecord,
  "title" | "serviceType" | "amount" | "description" | "notes" | "reference" | "metaData" | "callbackUrl"
> {
  milestones: MilestoneDraft[];
  buyer: Person;
  seller: Person;
}

export type MilestoneDraft = Pick<MilestoneRecord, "name" | "description" | "amount" | "dueDate">;

/** The body is parsed JSON and nothing is known about it yet; each wrong field is named. */
export function readContractRequest(body: unknown): Granted<ContractDraft> {
  const fields = new Fields(body);
  const amount = fields.amount("amount");
  const draft = {
    title: fields.text("title"),
    serviceType: fields.oneOf("contractServiceType", ["Product", "Service"]),
    amount,
    description: fields.optionalText("description"),
    notes: fields.optionalText("notes"),
    reference: fields.optionalText("reference"),
    metaData: readMetaData(fields.object("metaData")),
    callbackUrl: fields.optionalUrl("callbackUrl"),
    milestones: readMilestones(fields, amount),
    buyer: readSide(fields, "BuyerParty", "buyer"),
    seller: readSide(fields, "SellerParty", "seller"),
  };
  const { buyer, seller } = draft;
  if (fields.errors.length > 0 || buyer === undefined || seller === undefined)
    return refuseFields(...fields.errors);
  return ok({ ...draft, buyer, seller });
}

function readSide(fields: Fields, name: string, side: "buyer" | "seller"): Person | undefined {
  const party = fields.object(name);
  return party === null ? fields.fail(name, "is required.") : readParty(party, side);
}

function readMetaData(fields: Fields | null): MetaDataRecord | null {
  if (fields === null) return null;
  const metaData: MetaDataRecord = {};
  for (const name of ["metadata1", "metadata2", "metadata3", "metadata4"] as const) {
    const value = fields.optionalText(name);
    if (value !== null) metaData[name] = value;
  }
  return metaData;
}

/** §2.2: each above 0 and below the contract's amount, and together exactly that amount. */
function readMilestones(fields: Fields, contractAmount: number): MilestoneDraft[] {
  const milestones = fields.list("Milestones").map((item) => readMilestone(item, contractAmount));
  const sum = milestones.reduce((total, { amount }) => total + amount, 0);
  if (milestones.length > 0 && sum !== contractAmount && milestones.every(({ amount }) => amount > 0)) {
    fields.fail("Milestones", "must add up to the contract amount.");
  }
  return milestones;
}

function readMilestone(item: Fields, contractAmount: number): MilestoneDraft {
  const amount = item.amount("Amount");
  if (amount > 0 && contractAmount > 0 && amount >= contractAmount) {
    item.fail("Amount", "must be lower than the contract amount.");
  }
  return {
    name: item.text("Name"),
    description: item.optionalText("Description"),
    amount,
    dueDate: item.utcTime("DueDate"),
  };
}
