/** A contract to be created, with the fields of the API's request. Amounts are in SAR with at most two decimals. */
export interface ContractInput {
  /** Not blank. */
  title: string;
  /** `Product` for goods, `Service` for work. */
  contractServiceType: "Product" | "Service";
  /** Who pays. */
  buyerParty: PartyInput;
  /** Who is paid. */
  sellerParty: PartyInput;
  /** The base amount in SAR, above 0. */
  amount: number;
  /** Shown on the checkout page. */
  description?: string;
  /** Returned when the contract is read. */
  notes?: string;
  /** Your own identifier. Webhooks carry it. */
  reference?: string;
  /** Four texts of your own. Webhooks carry them. */
  metaData?: MetaDataInput;
  /** Where the buyer's browser goes after the payment; http or https. */
  callbackUrl?: string;
  /** Their amounts add up to the contract's. Default: none. */
  milestones?: readonly MilestoneInput[];
}

/** Texts of your own, each of which may be empty. */
export interface MetaDataInput {
  /** The first text. */
  metadata1?: string;
  /** The second text. */
  metadata2?: string;
  /** The third text. */
  metadata3?: string;
  /** The fourth text. */
  metadata4?: string;
}

/** A buyer or seller: a `platformRefId`, or a phone number with a name. */
export interface PartyInput {
  /** Of a user that the sandbox knows. */
  platformRefId?: string;
  /** With country code. */
  phoneNumber?: string;
  /** Not blank. */
  firstName?: string;
  /** May be empty. */
  lastName?: string;
  /** Proof of identity. Default: none. */
  kyc?: KycInput;
}

/** A person's proof of identity. */
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
  /** Not blank. */
  name: string;
  /** Returned when the contract is read. */
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
