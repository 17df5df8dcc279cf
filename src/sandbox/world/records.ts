import type { ContractStatus, MilestoneStatus } from "../service/machine.ts";

/** What the sandbox remembers: plain data, amounts in halalas, times as the service prints them. */
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
  checkout: { token: string; expiresAtMs: number };
  createdDate: string;
  updatedDate: string;
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

export interface UserRecord {
  platformRefId: string;
  phoneNumber: string;
  firstName: string;
  lastName: string;
  nationalId: string | null;
  iban: string | null;
  dateOfBirth: string | null;
  /** §4.4, check 1: the buyer has completed authorization. */
  authorized: boolean;
  /** §4.4, check 2: the buyer has a verified bank account. */
  bankVerified: boolean;
  /** Check 3: IBAN and holder name can be read from the verified record. */
  ibanResolves: boolean;
  /** False: no business finds this buyer any more (`ExternalUserNotFound`). */
  known: boolean;
}

export interface SubscriptionRecord {
  id: string;
  business: string;
  webhookUrl: string;
  secretKey: string;
  isActive: boolean;
  consecutiveFailures: number;
  lastSuccessAt: string | null;
  lastFailureAt: string | null;
  createdAt: string;
}

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

export interface AttemptRecord {
  number: number;
  at: string;
  url: string;
  headers: Record<string, string>;
  httpStatus: number | null;
  error: string | null;
  durationMs: number;
  /** The first 4 KiB of the answer. */
  responseBody: string;
  /** A copy that the `duplicate` fault sent. */
  copy: boolean;
}

/** A line of the service's delivery log (§2.9). */
export interface LogRecord {
  id: string;
  business: string;
  eventType: string;
  externalContractId: string | null;
  contractId: number | null;
  httpStatusCode: number | null;
  isSuccess: boolean;
  attemptNumber: number;
  errorMessage: string | null;
  durationMs: number;
  createdAt: string;
}

/** A text message that the service would have sent (§1, §4.4). */
export interface SmsRecord {
  to: string;
  kind: "kyc" | "onboarding";
  text: string;
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
