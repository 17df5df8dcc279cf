import { EscrowMirrorError } from "../shared/errors.ts";
import type { ErrorCode } from "../shared/errors.ts";

/** Why a call of the client failed. */
export type ApiErrorCode = Extract<
  ErrorCode,
  | "invalid-argument"
  | "error-response"
  | "invalid-response"
  | "outcome-unknown"
  | "timeout"
  | "unreachable"
  | "aborted"
  | "no-token"
>;

/** One field of a request that the service refused. */
export interface ValidationError {
  /** The field's path, such as `milestones[1].amount`; `null` where the service names none. */
  readonly field: string | null;
  /** The reason. */
  readonly message: string;
}

/** The details of an `EscrowApiError`, besides its code and message. */
export interface ApiErrorDetails {
  /** See `EscrowApiError.status`. Default `null`. */
  readonly status?: number | null;
  /** See `EscrowApiError.messageKey`. Default `null`. */
  readonly messageKey?: string | null;
  /** See `EscrowApiError.validationErrors`. Default none. */
  readonly validationErrors?: readonly ValidationError[];
  /** See `EscrowApiError.errors`. Default none. */
  readonly errors?: readonly string[];
  /** See `EscrowApiError.retryable`. Default `false`. */
  readonly retryable?: boolean;
  /** The original error, without secrets. */
  readonly cause?: Error | undefined;
}

/**
 * The client's methods reject only with this error. It is an `EscrowMirrorError`. Recognise it by `name` and `code`, or with
 * `isEscrowApiError`. Don't use `instanceof`: two copies of the package may be loaded. No property, at any depth, holds a
 * token, a secret, a phone number, a national id or an IBAN.
 */
export class EscrowApiError extends EscrowMirrorError {
  /** The kind of error. Switch on it. */
  declare readonly code: ApiErrorCode;
  /** The answer's HTTP status; `null` without an answer. */
  readonly status: number | null;
  /** The service's message key, such as `BuyerNotAuthorized`; `null` if it sent none. */
  readonly messageKey: string | null;
  /** The wrong fields, found by the service, or by the client before it sent anything. */
  readonly validationErrors: readonly ValidationError[];
  /** The service's own list of errors, as text. */
  readonly errors: readonly string[];
  /** Whether the same call can succeed later without doing anything twice. Always `false` for `outcome-unknown`. */
  readonly retryable: boolean;

  /** For the client, and for your tests. Neither `message` nor `details` may hold a secret. */
  constructor(code: ApiErrorCode, message: string, details: ApiErrorDetails = {}) {
    const { status, messageKey, validationErrors, errors, retryable, cause } = details;
    super(code, message, cause === undefined ? undefined : { cause });
    this.name = "EscrowApiError";
    this.status = status ?? null;
    this.messageKey = messageKey ?? null;
    this.validationErrors = validationErrors ?? [];
    this.errors = errors ?? [];
    this.retryable = retryable ?? false;
  }
}

/** Whether `error` is an `EscrowApiError` with one of `codes`. Without `codes`, any code matches. */
export function isEscrowApiError(error: unknown, ...codes: ApiErrorCode[]): error is EscrowApiError {
  if (!(error instanceof Error) || error.name !== "EscrowApiError") return false;
  return codes.length === 0 || codes.includes((error as EscrowApiError).code);
}
