import type { SandboxClock } from "./clock.ts";
import type { AmountStyle } from "../wire/money.ts";
import type { SandboxDelivery } from "../control/truth.ts";

/** A client of the service, with its own token, contracts and subscription. */
export interface BusinessOptions {
  clientId: string;
  clientSecret: string;
  /** Shown on the checkout page and in the get response. Default `Sandbox Business`. */
  businessName?: string;
}

/**
 * Everything is optional. Those under "Assumptions" decide what the service's documents leave open; each has its
 * line in the table of src/sandbox/README.md.
 */
export interface SandboxOptions {
  /** Default 0: any free port; `sandbox.baseUrl` says which. */
  port?: number;
  /** Default `127.0.0.1`: reachable from this machine only. */
  host?: string;
  /** Subscribes this address from the start, as `POST /apps/api/webhooks` would. */
  webhookUrl?: string;
  /** The signing secret of the first subscription. Default: random, `whsec_…`. */
  webhookSecret?: string;
  /** Default `sandbox-client`. */
  clientId?: string;
  /** Default: random. */
  clientSecret?: string;
  businessName?: string;
  /** Further clients: one business may not refund another's contract (§4.4, 403). */
  clients?: readonly BusinessOptions[];
  /** `"real"` (default) or a `manualClock()`. */
  clock?: "real" | SandboxClock;
  /** Sandbox seconds per real second on a real clock. Default 1; 600 makes the hour's retry six seconds. */
  speed?: number;
  /** Repeats ids and secrets. Default: random. */
  seed?: number;
  /** A file that keeps everything over a restart, retries included. Needs better-sqlite3. Default: memory. */
  data?: string;
  /** Appends everything that is sent to this file, one JSON object a line; `replayRecording` sends it again. */
  record?: string;
  /** Called after every attempt to deliver a webhook; the last of `attempts` is the one. */
  onAttempt?: (delivery: SandboxDelivery) => void;

  /** Waits before the second, third … attempt, in ms. Default 10 s, 30 s, 2 min, 10 min, 1 h (§6.5). */
  retryDelaysMs?: readonly number[];
  /** How long an attempt may take. Default 30,000: real time on a real clock, the clock's on a manual one. */
  timeoutMs?: number;
  /** Attempts under way at once. Default 32; 1 on a manual clock, so that their order is certain. */
  concurrency?: number;
  /** On a manual clock: real ms after which an unanswered attempt counts as hanging. Default 2,000. */
  patienceMs?: number;
  /** Failed deliveries in a row that disable the subscription. Default 10 (§6.5). */
  disableAfter?: number;

  // Assumptions ----------------------------------------------------------------------------------------------
  edition?: "current" | "earlier";
  partialRefunds?: boolean;
  payFromPending?: "approve-first" | "direct" | "refuse";
  afterMilestoneRefund?: "cancelled" | "restore";
  rollUp?: boolean;
  legacyRefunded?: boolean;
  milestoneDisputeMovesContract?: boolean;
  milestoneRefundAmount?: "base" | "gross";
  paymentTransactionId?: "payment-id" | "own";
  milestoneCasing?: "camel" | "pascal";
  lineDescriptionCasing?: "pascal" | "camel" | "none";
  milestoneIdInGet?: "number" | "guid";
  getShape?: "both" | "sample" | "table";
  statusCasing?: "lower" | "pascal";
  amountStyle?: AmountStyle;
  getRequiresToken?: boolean;
  tokenExpiresIn?: number;
  tokenUnit?: "minutes" | "seconds";
  checkoutTokenMs?: number;
  pageSizeAboveMax?: "reject" | "clamp";
  fees?: Partial<FeeOptions>;
  newUsers?: Partial<NewUserOptions>;
  requireVerifiedIban?: boolean;
  preflightMs?: number;
  otherStatuses?: "retry" | "fail";
  retriesWhenDisabled?: "stop" | "continue";
  payloadId?: "same" | "own";
  headerPrefix?: string;
  /** Replaces the signature: the bytes that are sent and the secret in, the header's value out. */
  sign?: (body: Uint8Array, secret: string) => string;
}

export interface FeeOptions {
  /** 250 = 2.5 %. */
  escrowBasisPoints: number;
  platformBasisPoints: number;
  /** On each fee. */
  vatBasisPoints: number;
}

/** What a user who is created on the way may do at once (§4.4's checks). */
export interface NewUserOptions {
  authorized: boolean;
  bankVerified: boolean;
  /** Whether an IBAN can be found for one who gave none. */
  ibanResolves: boolean;
}
