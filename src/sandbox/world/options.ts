import type { AmountStyle } from "../wire/money.ts";
import type { SandboxClock } from "./clock.ts";
import type { SandboxDelivery } from "./shown-delivery.ts";

/** A client of the service, with a token, contracts and a subscription of its own. */
export interface BusinessOptions {
  /** For the token request. No two clients may share one. */
  clientId: string;
  /** For the token request. */
  clientSecret: string;
  /** Shown on the checkout page and in the get response. Default `Sandbox Business`. */
  businessName?: string;
}

/** The fees, each in basis points: whole numbers from 0 to 9000, where 250 is 2.5 %. */
export interface FeeOptions {
  /** Of the base amount. Default 250. */
  escrowBasisPoints: number;
  /** Of the base amount. Default 1000. */
  platformBasisPoints: number;
  /** Of each fee. Default 1500. */
  vatBasisPoints: number;
}

/** The rights of a user who is new to the sandbox. Each is checked before a refund. */
export interface NewUserOptions {
  /** Has completed authorization. Default `true`. */
  authorized: boolean;
  /** Has a verified bank account. Default `true`. */
  bankVerified: boolean;
  /** An IBAN is found for a user who gave none. Default `true`. */
  ibanResolves: boolean;
}

/**
 * Options of `createSandbox`, all optional. Many decide questions that the service's documents leave open. The sandbox's
 * README lists these.
 */
export interface SandboxOptions {
  /** The port to listen on, 0 to 65535. Default 0: any free port. `sandbox.baseUrl` has the real one. */
  port?: number;
  /** The address to listen on. Default `127.0.0.1`: only this machine can reach it. */
  host?: string;
  /**
   * The sandbox's address for others, such as `http://sandbox:4010`. Links begin with it. Default: links begin with the
   * address of the request.
   */
  baseUrl?: string;
  /**
   * More host names that requests may use, such as `sandbox` or `my-tunnel.example`. Other names get 403. Otherwise a web
   * site could use its own name to reach a sandbox on your machine. Always allowed: `localhost` and its
   * subdomains, `127.0.0.0/8`, `::1`, `host`, the host of `baseUrl`; with `host: "0.0.0.0"` or `"::"` every IP address.
   */
  allowedHosts?: readonly string[];
  /** Where to send webhooks, from the start. Default: nowhere, until the API sets a URL. */
  webhookUrl?: string;
  /** Signs the webhooks. Default: random, `whsec_…`. */
  webhookSecret?: string;
  /** The id for the token request. Default `sandbox-client`. */
  clientId?: string;
  /** The secret for the token request. Default: random. */
  clientSecret?: string;
  /** Shown on the checkout page and in the get response. Default `Sandbox Business`. */
  businessName?: string;
  /** Further clients. One may not read or refund another's contracts. Default: none. */
  clients?: readonly BusinessOptions[];
  /** `"real"`, the default, or a `manualClock()`. */
  clock?: "real" | SandboxClock;
  /** Sandbox seconds per real second, from 0.001. Default 1; with 600 the hour's retry takes six seconds. */
  speed?: number;
  /** With the same seed, ids and secrets are the same each time. Default: random. */
  seed?: number;
  /** A SQLite file. Everything in it survives a restart, retries too. Needs better-sqlite3. Default: in memory. */
  data?: string;
  /** A file to which every attempt is appended, one JSON object a line. `replayRecording` sends it again. */
  record?: string;
  /** Called after every attempt to deliver a webhook. That attempt is the last of `attempts`. */
  onAttempt?: (delivery: SandboxDelivery) => void;

  /** Waits before each retry, in ms. Default 10 s, 30 s, 2 min, 10 min and 1 h. */
  retryDelaysMs?: readonly number[];
  /** How long an attempt may take, in ms: sandbox time on a manual clock, else real time. Default 30,000. */
  timeoutMs?: number;
  /** How many attempts run at once. Default 32; 1 on a manual clock, so that their order is fixed. */
  concurrency?: number;
  /**
   * On a manual clock: how long an attempt may stop the clock, in real ms. After that the clock no longer waits for it.
   * Default 2,000.
   */
  patienceMs?: number;
  /** Failed deliveries in a row that disable the subscription. Default 10. */
  disableAfter?: number;

  /** The edition of the webhooks. The earlier one reports milestone refunds under the contract's names. Default `current`. */
  edition?: "current" | "earlier";
  /** Offers partial refunds. Default: only in the earlier edition. */
  partialRefunds?: boolean;
  /**
   * A payment of a pending contract approves it first (`approve-first`, the default), happens at once (`direct`) or is
   * refused (`refuse`).
   */
  payFromPending?: "approve-first" | "direct" | "refuse";
  /** The contract's status after a milestone's refund: `cancelled` (default), or `restore` as it was before. */
  afterMilestoneRefund?: "cancelled" | "restore";
  /** When all milestones have done a step, such as release, the contract does it too. Default `false`. */
  rollUp?: boolean;
  /** Sends `contract.refunded` too when a contract's refund settles. Default `true`. */
  legacyRefunded?: boolean;
  /** A dispute of a milestone moves its contract to Dispute. Default `false`. */
  milestoneDisputeMovesContract?: boolean;
  /** A milestone's refund returns its `base` amount (default), or `gross`: with fees. */
  milestoneRefundAmount?: "base" | "gross";
  /** `transactionId` of payment events: the payment id (default), or an id of its `own`. */
  paymentTransactionId?: "payment-id" | "own";
  /** Casing of milestone fields in answers. Default `camel`. */
  milestoneCasing?: "camel" | "pascal";
  /** Casing of the two descriptions of a price line in the creation answer; `none` leaves them out. Default `pascal`. */
  lineDescriptionCasing?: "pascal" | "camel" | "none";
  /** The milestone id in the get response. Default `number`. */
  milestoneIdInGet?: "number" | "guid";
  /** Fields of the get response: those of the documents' `sample`, of their `table`, or `both` (default). */
  getShape?: "both" | "sample" | "table";
  /** Casing of statuses in answers. Webhooks always have Pascal case. Default `lower`. */
  statusCasing?: "lower" | "pascal";
  /** How amounts are printed: `600.00` (`two-decimals`, the default) or `600` (`shortest`). */
  amountStyle?: AmountStyle;
  /** Reading a contract needs a token. Default `true`. */
  getRequiresToken?: boolean;
  /** `expires_in` of the token answer, in `tokenUnit`. Default 1440. */
  tokenExpiresIn?: number;
  /** The unit of `tokenExpiresIn`. Default `minutes`. */
  tokenUnit?: "minutes" | "seconds";
  /** How long a payment link works, in ms. Default 600,000 (10 min). */
  checkoutTokenMs?: number;
  /** A `pageSize` above 100 is answered 400 (`reject`, the default) or taken as 100 (`clamp`). */
  pageSizeAboveMax?: "reject" | "clamp";
  /** Fees and VAT. Default 2.5 %, 10 % and 15 % of each fee. */
  fees?: Partial<FeeOptions>;
  /** The rights of new users. Default: all. */
  newUsers?: Partial<NewUserOptions>;
  /** A refund needs a verified bank account. Default `true`. */
  requireVerifiedIban?: boolean;
  /**
   * How long the check of a buyer takes before a refund, in real ms. If another refund is accepted meanwhile, the answer is
   * 409. Default 0.
   */
  preflightMs?: number;
  /** Whether a webhook is retried after a status that the documents don't list, such as 418. Default `retry`. */
  otherStatuses?: "retry" | "fail";
  /** Whether retries stop or continue after the subscription was disabled. Default `stop`. */
  retriesWhenDisabled?: "stop" | "continue";
  /** A payload's `id`: the webhook id (`same`, the default), or a GUID of its `own`. */
  payloadId?: "same" | "own";
  /** Begins the names of the service's headers. Default `X-Service-`. */
  headerPrefix?: string;
  /**
   * Makes the signature header's value from the sent bytes and the secret. Default `sha256=` and the
   * HMAC-SHA256 in hex.
   */
  sign?: (body: Uint8Array, secret: string) => string;
}
