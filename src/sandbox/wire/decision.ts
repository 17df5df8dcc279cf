import { err, ok } from "../../shared/result.ts";
import type { Result } from "../../shared/result.ts";

/** One wrong field of a request. */
export interface ValidationError {
  field: string;
  message: string;
}

/** Why an operation was not done, in the terms of the service's envelope (§2.1, §7). */
export interface Refusal {
  /** The HTTP status. */
  status: number;
  /** The message key, such as `BuyerNotAuthorized`. */
  message: string;
  /** The same in words: what was seen and what would be right. */
  detail?: string;
  validationErrors?: readonly ValidationError[];
}

/** Done, or refused with a reason: what every operation of the sandbox returns. */
export type Decision<T> = Result<T, Refusal>;

export function refuse(status: number, message: string, detail?: string): { ok: false; error: Refusal } {
  return err({ status, message, ...(detail === undefined ? {} : { detail }) });
}

export function refuseFields(...validationErrors: ValidationError[]): { ok: false; error: Refusal } {
  return err({ status: 400, message: "ValidationFailed", validationErrors });
}

/** The same decision about another value. */
export function mapDecision<T, U>(decision: Decision<T>, change: (value: T) => U): Decision<U> {
  return decision.ok ? ok(change(decision.value)) : decision;
}

/** A refusal in words, for people: each wrong field, or the detail, or the key. */
export function explain({ message, detail, validationErrors = [] }: Refusal): string {
  return detail ?? (validationErrors.map((error) => error.message).join(" ") || message);
}
