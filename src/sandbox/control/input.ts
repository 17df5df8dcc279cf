/** SAR: a number, or decimal text such as `"600.00"`. Above 0, with at most two decimals. */
export type AmountInput = number | string;

/** A new contract, with the fields of the API's request. The client of this package takes the same fields. */
export interface ContractInput {
  /** Not blank. */
  readonly title: string;
  /** `Product` for goods, `Service` for work. */
  readonly contractServiceType: "Product" | "Service";
  /** Who pays. */
  readonly buyerParty: PartyInput;
  /** Who is paid. */
  readonly sellerParty: PartyInput;
  /** The base amount. The service adds its fees. */
  readonly amount: AmountInput;
  /** Shown on the checkout page. */
  readonly description?: string | null | undefined;
  /** Returned when the contract is read. */
  readonly notes?: string | null | undefined;
  /** Your own identifier. Webhooks carry it. */
  readonly reference?: string | null | undefined;
  /** Four texts of your own. Webhooks carry them. */
  readonly metaData?: MetaDataInput | null | undefined;
  /** Where the buyer's browser goes after the payment: http or https. */
  readonly callbackUrl?: string | null | undefined;
  /** Parts of the contract. Their amounts add up to the contract's. Default: none. */
  readonly milestones?: readonly MilestoneInput[] | null | undefined;
}

/** Texts of your own, each of which may be empty. */
export interface MetaDataInput {
  /** The first text. */
  readonly metadata1?: string | null | undefined;
  /** The second text. */
  readonly metadata2?: string | null | undefined;
  /** The third text. */
  readonly metadata3?: string | null | undefined;
  /** The fourth text. */
  readonly metadata4?: string | null | undefined;
}

/** A buyer or seller: a `platformRefId`, or a phone number with a name. */
export interface PartyInput {
  /** Of a user that the sandbox knows. */
  readonly platformRefId?: string | null | undefined;
  /** With country code. */
  readonly phoneNumber?: string | null | undefined;
  /** Not blank. */
  readonly firstName?: string | null | undefined;
  /** May be empty. */
  readonly lastName?: string | null | undefined;
  /** Proof of identity. Default: none. */
  readonly kyc?: KycInput | null | undefined;
}

/** A person's proof of identity. */
export interface KycInput {
  /** National id: ten digits, the first a 1 or a 2. */
  readonly identity: string;
  /** The bank account. Required for a seller. */
  readonly ibanNumber?: string | null | undefined;
  /** The bank's BIC. */
  readonly bicCode?: string | null | undefined;
  /** UTC in ISO 8601 with a Z suffix. */
  readonly dateOfBirth?: string | null | undefined;
}

/** A part of a contract. */
export interface MilestoneInput {
  /** Not blank. */
  readonly name: string;
  /** Returned when the contract is read. */
  readonly description?: string | null | undefined;
  /** Below the contract's amount. */
  readonly amount: AmountInput;
  /** UTC in ISO 8601 with a Z suffix. */
  readonly dueDate: string;
}

/** A new refund. */
export interface RefundInput {
  /** Required for a contract with milestones. */
  readonly milestoneId?: number | string | null | undefined;
  /** At most 500 characters. */
  readonly reason: string;
  /** Partial refunds need the option `partialRefunds`. Default `FULL`. */
  readonly type?: "FULL" | "PARTIAL" | null | undefined;
  /** The buyer's part in a partial refund. */
  readonly amount?: AmountInput | null | undefined;
}

const numbers = new Set(["amount", "milestoneid"]);

/** The input as JSON has it: amounts and milestone ids that are decimal text become the numbers that the API takes. */
export function toRequest(input: unknown): unknown {
  const json = JSON.stringify(input ?? null, (name, value: unknown) =>
    numbers.has(name.toLowerCase()) && typeof value === "string" && /^\d+(\.\d+)?$/.test(value)
      ? Number(value)
      : value,
  );
  return JSON.parse(json);
}
