import type { Result } from "../../shared/result.ts";
import type { Json } from "./json.ts";

/** What goes back over HTTP. */
export interface Answer {
  status: number;
  body: string;
  contentType?: string;
  headers?: Record<string, string>;
}

export interface ValidationError {
  field: string;
  message: string;
}

/** Why an operation was not done, in the terms of the service's envelope (§2.1, §7). */
export interface Refusal {
  status: number;
  /** The message key, such as `BuyerNotAuthorized`. */
  message: string;
  /** The same for a person: what was seen and what would be right. */
  detail?: string;
  validationErrors?: readonly ValidationError[];
}

export type Outcome<T> = Result<T, Refusal>;

export function refuse(status: number, message: string, detail?: string): { ok: false; error: Refusal } {
  return { ok: false, error: { status, message, ...(detail === undefined ? {} : { detail }) } };
}

export function refuseFields(...validationErrors: ValidationError[]): { ok: false; error: Refusal } {
  return { ok: false, error: { status: 400, message: "ValidationFailed", validationErrors } };
}

/** §2.1, success. */
export function accepted(data: Json, message: string): Json {
  return { data, message, status: 200, validationErrors: [], succeeded: true, errors: [] };
}

/** §2.1 and §7: the same envelope, and the lists say what was wrong. */
export function refused(refusal: Refusal): Json {
  const { status, message, detail, validationErrors = [] } = refusal;
  return {
    data: null,
    message,
    status,
    validationErrors: validationErrors.map(({ field, message: text }) => ({ field, message: text })),
    succeeded: false,
    errors: [detail ?? message],
  };
}
