import { z } from "zod";
import { strictFields } from "../any-case.ts";
import type { AmountInput } from "./contract-input.ts";
import { amount, milestoneId, text } from "./fields.ts";

/** A refund: of which milestone, how much, and why. */
export interface RefundInput {
  /** The milestone to refund. Required if the contract has milestones. */
  readonly milestoneId?: number | string | null | undefined;
  /** The reason, which the service stores for audit: 1 to 500 characters. */
  readonly reason: string;
  /** Only for a service that has partial refunds. Default: a full refund. */
  readonly type?: "FULL" | "PARTIAL" | null | undefined;
  /** How much the buyer gets. Required with `type: "PARTIAL"`, and not allowed without it. */
  readonly amount?: AmountInput | null | undefined;
}

/** §4.4. In characters, as a person counts them. */
const reasonCharactersMax = 500;

/** Checks a refund and gives the body that is sent (§4.4). */
export const refundSchema = strictFields({
  milestoneId: milestoneId.nullish(),
  reason: text.refine((reason) => Array.from(reason).length <= reasonCharactersMax, {
    error: `expected at most ${reasonCharactersMax} characters`,
  }),
  type: z.enum(["FULL", "PARTIAL"]).nullish(),
  amount: amount.nullish(),
})
  .superRefine(({ type, amount: part }, context) => {
    const fault = explainAmount(type === "PARTIAL", part !== null && part !== undefined);
    if (fault !== undefined) context.addIssue({ code: "custom", path: ["amount"], message: fault });
  })
  .transform(({ amount: part, ...rest }) => ({ ...rest, amount: part?.json }));

/** An amount that the service ignored would be a full refund instead. */
function explainAmount(partial: boolean, given: boolean): string | undefined {
  if (partial && !given) return 'required with type "PARTIAL"';
  return given && !partial ? 'allowed with type "PARTIAL" only; a full refund takes none' : undefined;
}
