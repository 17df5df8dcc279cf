// All that the sandbox remembers, as plain data. Amounts are in halalas, times as the service prints them.

export type ContractStatus =
  | "Pending"
  | "Approved"
  | "Rejected"
  | "Escrow"
  | "Dispute"
  | "Released"
  | "Completed"
  | "RefundInProgress"
  | "Refunded"
  | "Cancelled";

export type MilestoneStatus =
  "Pending" | "Escrow" | "Disputed" | "Released" | "Completed" | "RefundInProgress" | "Refunded";

export interface ContractRecord {
  contractId: string;
  /** The service's internal number; in the delivery log (§2.9). */
  internalId: number;
  guid: string;
  /** The client that created it. */
  business: string;
  status: ContractStatus;
  title: string;
  serviceType: "Product" | "Service";
  description: string | null;
  notes: string | null;
  reference: string | null;
  metaData: MetaDataRecord | null;
  callbackUrl: string | null;
  amount: number;
  buyer: string;
  seller: string;
  milestones: MilestoneRecord[];
  payment: PaymentRecord | null;
  disputeId: string | null;
  checkout: CheckoutRecord;
  createdDate: string;
  updatedDate: string;
}

/** The payment link: the present token, and those that a new one has replaced. */
export interface CheckoutRecord {
  token: string;
  expiresAtMs: number;
  former: string[];
}

export interface MetaDataRecord {
  metadata1?: string;
  metadata2?: string;
  metadata3?: string;
  metadata4?: string;
}

export interface MilestoneRecord {
  id: number;
  guid: string;
  name: string;
  description: string | null;
  amount: number;
  dueDate: string;
  status: MilestoneStatus;
  disputeId: string | null;
}

export interface PaymentRecord {
  paymentId: string;
  transactionId: string;
  invoiceId: string;
}

export interface RefundRecord {
  refundId: number;
  contractId: string;
  milestoneId: number | null;
  kind: "full" | "partial";
  state: "initiated" | "succeeded";
  reason: string;
  refundedAmount: number;
  /** Partial refunds only (§2.8). */
  releasedToSellerAmount: number | null;
  settlementId: number | null;
  /** The contract's status before: where it goes back to when a milestone's refund does not end it. */
  statusBefore: ContractStatus;
  initiatedAt: string;
  succeededAt: string | null;
}

/** A buyer or seller. */
export interface UserRecord {
  /** The service's identifier of the user, a GUID. */
  platformRefId: string;
  /** With country code, such as `+966500000001`. */
  phoneNumber: string;
  /** Not blank. */
  firstName: string;
  /** May be empty. */
  lastName: string;
  /** Ten digits; null until it is known. */
  nationalId: string | null;
  /** Null until it is known. */
  iban: string | null;
  /** ISO 8601 UTC; null until it is known. */
  dateOfBirth: string | null;
  /** Has completed authorization. Without it a refund is refused with `BuyerNotAuthorized`. */
  authorized: boolean;
  /** Has a verified bank account. Without it a refund is refused with `BuyerBankAccountNotVerified`. */
  bankVerified: boolean;
  /** IBAN and holder name can be read from the verified record. If not, a refund fails with `FailedToResolveIban`. */
  ibanResolves: boolean;
  /** False: no business can find this user, and a refund is refused with `ExternalUserNotFound`. */
  known: boolean;
}

/** A client's webhook subscription, as the service shows it. */
export interface SubscriptionRecord {
  /** A GUID. */
  id: string;
  /** The id of the client that it belongs to. */
  business: string;
  /** Where webhooks go. */
  webhookUrl: string;
  /** Signs the webhooks. */
  secretKey: string;
  /** False after too many failed deliveries in a row. Then nothing is sent until the URL is set again. */
  isActive: boolean;
  /** Deliveries, not attempts, that failed in a row. */
  consecutiveFailures: number;
  /** ISO 8601 UTC; null before the first success. */
  lastSuccessAt: string | null;
  /** ISO 8601 UTC; null before the first failed attempt. */
  lastFailureAt: string | null;
  /** ISO 8601 UTC. */
  createdAt: string;
}

/** The state of a delivery. */
export type DeliveryState = "pending" | "delivered" | "failed" | "dropped" | "skipped";

/** One webhook on its way: the same id and bytes at every attempt. */
export interface DeliveryRecord {
  webhookId: string;
  business: string;
  event: string;
  contractId: string | null;
  internalContractId: number | null;
  milestoneId: number | null;
  createdAt: string;
  body: string;
  state: DeliveryState;
  /** Why it is not delivered, where it isn't. */
  reason: string | null;
  /** Attempts of the present series; a resend starts a new one. */
  tries: number;
  nextAttemptAtMs: number | null;
  attempts: AttemptRecord[];
}

/** One HTTP request with a webhook, and its answer. */
export interface AttemptRecord {
  /** From 1 in each series; a resend starts a new series. */
  number: number;
  /** When it started, in ISO 8601 UTC. */
  at: string;
  /** Where it went. */
  url: string;
  /** As sent, the signature included. */
  headers: Record<string, string>;
  /** Null without an answer; `error` says why. */
  httpStatus: number | null;
  /** Null after a 2xx. */
  error: string | null;
  /** How long the request took, in milliseconds: sandbox time on a manual clock, else real time. */
  durationMs: number;
  /** The answer's first 4 KiB. */
  responseBody: string;
  /** True for a copy that the fault `duplicate` sent. */
  copy: boolean;
}

/** A line of the service's delivery log (§2.9). */
export interface LogRecord {
  id: string;
  business: string;
  eventType: string;
  /** Empty where the event concerns no contract: the table allows no null here. */
  externalContractId: string;
  /** 0 where the event concerns no contract. */
  contractId: number;
  httpStatusCode: number | null;
  isSuccess: boolean;
  attemptNumber: number;
  errorMessage: string | null;
  durationMs: number;
  createdAt: string;
}

/** A text message that the service would have sent. */
export interface SmsRecord {
  /** The phone number, with country code. */
  to: string;
  /** `kyc`: to a seller, to verify the identity. `onboarding`: to a buyer whose refund was refused. */
  kind: "kyc" | "onboarding";
  /** The message, with a link that works. */
  text: string;
  /** When, in ISO 8601 UTC. */
  at: string;
}

export interface CounterRecord {
  contract: number;
  milestone: number;
  refund: number;
  settlement: number;
  payment: number;
  dispute: number;
  tokenGeneration: number;
}
