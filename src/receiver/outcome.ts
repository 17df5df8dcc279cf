import type { Way } from "./way.ts";

/** How a request ended. `applied`, `duplicate` and `quarantined` mean that the delivery is stored and gets 200. */
export type Outcome = "applied" | "duplicate" | "quarantined" | "rejected" | "failed";

/** Why a body with a valid signature can't be read. */
export type UnreadableReason =
  | "not-utf8"
  | "not-json"
  | "too-deep"
  | "invalid-payload"
  | "ambiguous-field"
  | "no-contract-id"
  | "unknown-encoding"
  | "corrupt-encoding"
  | "inflated-too-large";

/** Why a request was not applied. Stored with a quarantined delivery, and logged for all others. */
export type Reason =
  // quarantined: authentic, stored, and set aside
  | UnreadableReason
  | "webhook-id-conflict"
  | "payload-id-conflict"
  | "outside-tolerance"
  // failed at the first copy, quarantined from the second on
  | "unstorable"
  // duplicate: the same ids with other content
  | "payload-changed"
  // rejected: nothing stored
  | "method-not-allowed"
  | "body-too-large"
  | "signature-missing"
  | "signature-malformed"
  | "signature-mismatch"
  | "timestamp-missing"
  | "timestamp-unparseable"
  // failed: nothing stored, and the service sends it again
  | "raw-body-unavailable"
  | "body-incomplete"
  | "no-secret"
  | "secret-unproven"
  | "store-unavailable"
  | "intake-full"
  | "handler-failed"
  | "inside-transaction"
  | "starting"
  | "closed"
  | "internal-error";

/** How a request ended, and the answer to send: `status`, `headers` and `body`, for any host. */
export interface ReceiveResult {
  /** The HTTP status to send. */
  readonly status: number;
  /** The headers to send. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body to send: JSON. */
  readonly body: string;
  /** How the request ended. */
  readonly outcome: Outcome;
  /** The delivery's id, if its signature is valid. */
  readonly webhookId?: string;
  /** Why the delivery was not applied. */
  readonly reason?: Reason;
}

export interface Verdict {
  readonly outcome: Outcome;
  readonly webhookId?: string | undefined;
  readonly reason?: Reason | undefined;
  /** For the log: the fix that the host's adapter knows. */
  readonly hint?: string | undefined;
  /** Whether the answer ends the connection: the rest of the body is unread, and may be long. */
  readonly closes?: boolean | undefined;
  /** The steps that its commit went through. */
  readonly way?: Way | undefined;
}

export function failed(reason: Reason, webhookId?: string): Verdict {
  return { outcome: "failed", reason, webhookId };
}

/** The answer to a verdict. 500 and 503 are retried by the service, 401 and 413 never (§6.5). */
export function respond({ outcome, webhookId, reason, closes }: Verdict): ReceiveResult {
  const status = statusOf(outcome, reason);
  const closing = closes === true ? { connection: "close" } : {};
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...extraHeaders[status], ...closing },
    body: JSON.stringify({ outcome, webhookId }),
    outcome,
    ...(webhookId === undefined ? {} : { webhookId }),
    ...(reason === undefined ? {} : { reason }),
  };
}

const retryAfterSeconds = "5";
const extraHeaders: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  405: { allow: "POST" },
  // The rest of a body that is too large is never read.
  413: { connection: "close" },
  503: { "retry-after": retryAfterSeconds },
};

function statusOf(outcome: Outcome, reason: Reason | undefined): number {
  switch (outcome) {
    case "applied":
    case "duplicate":
    case "quarantined":
      return 200;
    case "rejected":
      return rejections[reason ?? ""] ?? 401;
    case "failed":
      return reason === "raw-body-unavailable" ? 500 : 503;
  }
}

const rejections: Readonly<Record<string, number>> = { "method-not-allowed": 405, "body-too-large": 413 };
