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

/** Granted, or refused with a reason: what every operation of the sandbox returns. */
export type Granted<T> = Result<T, Refusal>;

export function refuse(status: number, message: string, detail?: string): { ok: false; error: Refusal } {
  return err({ status, message, ...(detail === undefined ? {} : { detail }) });
}

export function refuseFields(...validationErrors: ValidationError[]): { ok: false; error: Refusal } {
  return err({ status: 400, message: "ValidationFailed", validationErrors });
}

/** The same with another value. */
export function mapGranted<T, U>(granted: Granted<T>, change: (value: T) => U): Granted<U> {
  return granted.ok ? ok(change(granted.value)) : granted;
}

/** A refusal in words, for people: each wrong field, or the detail, or the key. */
export function explain({ message, detail, validationErrors = [] }: Refusal): string {
  return detail ?? (validationErrors.map((error) => error.message).join(" ") || message);
}
