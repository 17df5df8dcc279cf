import { z } from "zod";
import { strictFields } from "../any-case.ts";
import { partySchema } from "./party-input.ts";
import type { PartyInput } from "./party-input.ts";
import { amount, anyText, httpUrl, text, utcTime } from "./fields.ts";

/** SAR: a number or a decimal string such as `"600.00"`, above zero, at most two decimals. It is sent exactly. */
export type AmountInput = number | string;

/** A new contract. */
export interface ContractInput {
  /** The contract's title; not blank. */
  readonly title: string;
  /** The kind of thing that is sold. */
  readonly contractServiceType: "Product" | "Service";
  /** Who pays. */
  readonly buyerParty: PartyInput;
  /** Who is paid. With `kyc`, its `ibanNumber` is required. */
  readonly sellerParty: PartyInput;
  /** The base amount. The service adds its fees. */
  readonly amount: AmountInput;
  /** Splits the contract. Each amount is lower than the contract's amount. Their sum must equal it exactly. */
  readonly milestones?: readonly MilestoneInput[] | null | undefined;
  /** Your own id for the contract. Webhooks repeat it. With it you can find a contract whose creation got no answer. */
  readonly reference?: string | null | undefined;
  /** A longer text about the contract. */
  readonly description?: string | null | undefined;
  /** Notes on the contract. */
  readonly notes?: string | null | undefined;
  /** Up to four texts of your own. Webhooks repeat them. */
  readonly metaData?: MetaDataInput | null | undefined;
  /** Where the buyer's browser goes after the payment page: an absolute http or https URL. */
  readonly callbackUrl?: string | null | undefined;
}

/** One part of a contract. It can't be changed later. */
export interface MilestoneInput {
  /** The milestone's name; not blank. */
  readonly name: string;
  /** A longer text about the milestone. */
  readonly description?: string | null | undefined;
  /** The base amount, lower than the contract's. */
  readonly amount: AmountInput;
  /** ISO 8601 in UTC with a `Z`, such as `2026-03-01T00:00:00Z`. */
  readonly dueDate: string;
}

/** Texts of your own. */
export interface MetaDataInput {
  /** The first. */
  readonly metadata1?: string | null | undefined;
  /** The second. */
  readonly metadata2?: string | null | undefined;
  /** The third. */
  readonly metadata3?: string | null | undefined;
  /** The fourth. */
  readonly metadata4?: string | null | undefined;
}

const milestoneSchema = strictFields({
  name: text,
  description: anyText.nullish(),
  amount,
  dueDate: utcTime,
});

const metaDataSchema = strictFields({
  metadata1: anyText.nullish(),
  metadata2: anyText.nullish(),
  metadata3: anyText.nullish(),
  metadata4: anyText.nullish(),
});

/** Checks a new contract and gives the body that is sent (§2.2). */
export const contractSchema = strictFields({
  title: text,
  contractServiceType: z.enum(["Product", "Service"]),
  buyerParty: partySchema("buyer"),
  sellerParty: partySchema("seller"),
  amount,
  milestones: z.array(milestoneSchema).nullish(),
  reference: anyText.nullish(),
  description: anyText.nullish(),
  notes: anyText.nullish(),
  metaData: metaDataSchema.nullish(),
  callbackUrl: httpUrl.nullish(),
})
  .superRefine(checkMilestones)
  .transform(({ buyerParty, sellerParty, amount: total, milestones, ...rest }) => ({
    ...rest,
    BuyerParty: buyerParty,
    SellerParty: sellerParty,
    amount: total.json,
    Milestones: milestones?.length === 0 ? undefined : milestones?.map(toWireMilestone),
  }));

type Milestone = z.output<typeof milestoneSchema>;

interface Sums {
  readonly amount: { readonly minor: number };
  readonly milestones?: readonly Milestone[] | null | undefined;
}

/** §2.2, in whole halalas. A sum beyond exact integers equals no amount. */
function checkMilestones({ amount: total, milestones }: Sums, context: z.RefinementCtx): void {
  if (milestones === undefined || milestones === null || milestones.length === 0) return;
  for (const [index, milestone] of milestones.entries()) {
    if (milestone.amount.minor < total.minor) continue;
    const path = ["milestones", index, "amount"];
    context.addIssue({ code: "custom", path, message: "expected less than the contract's amount" });
  }
  const sum = milestones.reduce((minor, milestone) => minor + BigInt(milestone.amount.minor), 0n);
  if (sum === BigInt(total.minor)) return;
  const message = "expected amounts that add up to exactly the contract's amount";
  context.addIssue({ code: "custom", path: ["milestones"], message });
}

function toWireMilestone({ name, description, amount: part, dueDate }: Milestone) {
  return { Name: name, Description: description, Amount: part.json, DueDate: dueDate };
}
