/** A contract to be created, with the fields of the API's request. Amounts are in SAR with at most two decimals. */
export interface ContractInput {
  title: string;
  contractServiceType: "Product" | "Service";
  buyerParty: PartyInput;
  sellerParty: PartyInput;
  /** The base amount in SAR, above 0. */
  amount: number;
  description?: string;
  notes?: string;
  /** Your own identifier. Webhooks carry it. */
  reference?: string;
  metaData?: { metadata1?: string; metadata2?: string; metadata3?: string; metadata4?: string };
  /** Where the buyer's browser goes after the payment; http or https. */
  callbackUrl?: string;
  /** Their amounts add up to the contract's. Default: none. */
  milestones?: readonly MilestoneInput[];
}

/** A buyer or seller: a `platformRefId`, or a phone number with a name. */
export interface PartyInput {
  /** Of a user that the sandbox knows. */
  platformRefId?: string;
  /** With country code. */
  phoneNumber?: string;
  firstName?: string;
  /** May be empty. */
  lastName?: string;
  kyc?: KycInput;
}

/** What is known about a person's identity. */
export interface KycInput {
  /** National id: ten digits, the first a 1 or a 2. */
  identity: string;
  /** Required for a seller. */
  iBANNumber?: string;
  /** UTC in ISO 8601 with a Z suffix. */
  dateOfBirth?: string;
}

/** A part of a contract. */
export interface MilestoneInput {
  name: string;
  description?: string;
  /** In SAR, above 0 and below the contract's. */
  amount: number;
  /** UTC in ISO 8601 with a Z suffix. */
  dueDate: string;
}

/** A refund to be requested. */
export interface RefundInput {
  /** Required for a contract with milestones. */
  milestoneId?: number | string;
  /** At most 500 characters. */
  reason: string;
  /** Partial refunds need the option `partialRefunds`. Default `FULL`. */
  type?: "FULL" | "PARTIAL";
  /** Of a partial refund, in SAR. */
  amount?: number;
}
