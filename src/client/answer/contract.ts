/** A number of an answer. It is text, with every digit, if a JavaScript number can't hold it exactly. */
export type ExactNumber = number | string;

/** A contract's or a milestone's status as the API writes it: in lower case. New ones may appear. */
export type ApiStatus =
  | "draft"
  | "pending"
  | "accepted"
  | "approved"
  | "rejected"
  | "expired"
  | "completed"
  | "cancelled"
  | "waitingforbankpayment"
  | "escrow"
  | "dispute"
  | "disputed"
  | "released"
  | "refundinprogress"
  | "refunded"
  | "partiallyrefunded"
  | "terminated"
  | (string & {});

/** Fields that this release does not know stay in every answer, as they were sent. */
export interface UnknownFields {
  /** Any other field that the service sends. */
  readonly [field: string]: unknown;
}

/** The answer to `contracts.create`. */
export interface CreatedContract extends UnknownFields {
  /** The contract's id, such as `CNT-2601-00100003`. */
  readonly contractId: string;
  /** `pending` for a new contract. */
  readonly status?: ApiStatus | null | undefined;
  /** `product` or `service`. */
  readonly contractServiceType?: string | null | undefined;
  /** The payment page for the buyer. Its token is valid for ten minutes. Never store or log the URL. */
  readonly checkoutUrl: string;
  /** Who pays. */
  readonly buyerParty?: ContractParty | null | undefined;
  /** Who is paid. */
  readonly sellerParty?: ContractParty | null | undefined;
  /** Your own id for the contract. */
  readonly reference?: string | null | undefined;
  /** Your own texts. */
  readonly metaData?: ContractMetaData | null | undefined;
  /** The parts of the contract. Empty if it is not split. */
  readonly milestones?: readonly ContractMilestone[] | null | undefined;
  /** The parts of the amount. */
  readonly pricingLineItems?: readonly PriceLine[] | null | undefined;
  /** When the contract was created: ISO 8601 in UTC. */
  readonly createdDate?: string | null | undefined;
}

/** A contract as the service has it at present: the answer to `contracts.get`. */
export interface Contract extends UnknownFields {
  /** The contract's id, such as `CNT-2601-00100003`. */
  readonly contractId: string;
  /** The contract's status. */
  readonly status: ApiStatus;
  /** Your own id for the contract. */
  readonly reference?: string | null | undefined;
  /** The contract's title. */
  readonly title?: string | null | undefined;
  /** A longer text. */
  readonly description?: string | null | undefined;
  /** Notes on the contract. */
  readonly notes?: string | null | undefined;
  /** The base amount, without fees, in SAR. */
  readonly amount?: ExactNumber | null | undefined;
  /** `product` or `service`. */
  readonly contractServiceType?: string | null | undefined;
  /** Who pays. */
  readonly buyerParty?: ContractParty | null | undefined;
  /** Who is paid. */
  readonly sellerParty?: ContractParty | null | undefined;
  /** The name of your business at the service. */
  readonly businessName?: string | null | undefined;
  /** When the contract was created: ISO 8601 in UTC. */
  readonly createdDate?: string | null | undefined;
  /** When the contract last changed: ISO 8601 in UTC. */
  readonly updatedDate?: string | null | undefined;
  /** Your own texts. */
  readonly metaData?: ContractMetaData | null | undefined;
  /** The parts of the contract. Empty if it is not split. */
  readonly milestones?: readonly ContractMilestone[] | null | undefined;
  /** The parts of the amount. */
  readonly pricingLineItems?: readonly PriceLine[] | null | undefined;
  /** Payments of the contract. The service documents no fields of them. */
  readonly transactions?: readonly unknown[] | null | undefined;
}

/** A buyer or a seller. */
export interface ContractParty extends UnknownFields {
  /** The user's id at the service. */
  readonly platformRefId?: string | null | undefined;
  /** The user's first name. */
  readonly firstName?: string | null | undefined;
  /** The user's last name; may be empty. */
  readonly lastName?: string | null | undefined;
  /** With its country code. */
  readonly phoneNumber?: string | null | undefined;
}

/** Texts of your own, as you sent them. */
export interface ContractMetaData extends UnknownFields {
  /** The first. */
  readonly metadata1?: string | null | undefined;
  /** The second. */
  readonly metadata2?: string | null | undefined;
  /** The third. */
  readonly metadata3?: string | null | undefined;
  /** The fourth. */
  readonly metadata4?: string | null | undefined;
}

/** One part of a contract. */
export interface ContractMilestone extends UnknownFields {
  /** The milestone's id. Pass it to `contracts.refund`. */
  readonly id: ExactNumber;
  /** The milestone's name. */
  readonly name?: string | null | undefined;
  /** A longer text. */
  readonly description?: string | null | undefined;
  /** The amount with all fees and taxes, in SAR. */
  readonly amount?: ExactNumber | null | undefined;
  /** ISO 8601 in UTC. */
  readonly dueDate?: string | null | undefined;
  /** The milestone's status. The answer to a create has none. */
  readonly status?: ApiStatus | null | undefined;
  /** The parts of the amount. */
  readonly pricingLineItems?: readonly PriceLine[] | null | undefined;
}

/** One line of a price. */
export interface PriceLine extends UnknownFields {
  /** The line's id. Only `contracts.get` has it. */
  readonly id?: string | null | undefined;
  /** Such as `contractAmount`, `escrowFee`, `externalPlatformFeeTax`. */
  readonly lineType?: string | null | undefined;
  /** The type in words. */
  readonly lineTypeDescription?: string | null | undefined;
  /** `buyer`, `seller` or `thirdParty`. */
  readonly role?: string | null | undefined;
  /** The role in words. */
  readonly roleDescription?: string | null | undefined;
  /** In SAR. */
  readonly amount?: ExactNumber | null | undefined;
  /** A text for people. */
  readonly description?: string | null | undefined;
  /** Where the line stands, from 1. */
  readonly order?: ExactNumber | null | undefined;
}

/** A new payment page: the answer to `contracts.renewCheckout`. */
export interface RenewedCheckout extends UnknownFields {
  /** The payment page for the buyer. Its token is valid for ten minutes. Never store or log the URL. */
  readonly checkoutUrl: string;
}

/** The answer to `contracts.refund`. */
export interface CreatedRefund extends UnknownFields {
  /** The refund's id: `data.transactionId` of its webhooks. */
  readonly refundId: ExactNumber;
  /** The id of the seller's part of a partial refund; else `null`. */
  readonly settlementId?: ExactNumber | null | undefined;
  /** The refunded milestone; `null` for a whole contract. */
  readonly milestoneId?: ExactNumber | null | undefined;
  /** The buyer's share, in SAR. */
  readonly refundedAmount?: ExactNumber | null | undefined;
  /** The seller's share of a partial refund, in SAR; else `null`. */
  readonly releasedToSellerAmount?: ExactNumber | null | undefined;
  /** `FullRefund` or `PartialRefund`. */
  readonly type?: string | null | undefined;
  /** The contract. */
  readonly externalContractId?: string | null | undefined;
}
