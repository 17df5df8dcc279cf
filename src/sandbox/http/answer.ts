import { writeJson } from "../wire/json.ts";
import type { Json } from "../wire/json.ts";
import type { AmountStyle } from "../wire/money.ts";
import type { Refusal } from "../wire/refusal.ts";

/** An HTTP response. */
export interface Answer {
  status: number;
  body: string;
  /** Default JSON. */
  contentType?: string;
  headers?: Record<string, string>;
}

/** §2.1, success. */
export function accepted(data: Json, message: string, amounts?: AmountStyle): Answer {
  const envelope = { data, message, status: 200, validationErrors: [], succeeded: true, errors: [] };
  return { status: 200, body: writeJson(envelope, amounts) };
}

/** §2.1 and §7: the same envelope, and the lists say what was wrong. */
export function refused(refusal: Refusal, headers: Record<string, string> = {}): Answer {
  const { status, message, detail, validationErrors = [] } = refusal;
  const envelope = {
    data: null,
    message,
    status,
    validationErrors: validationErrors.map(({ field, message: text }) => ({ field, message: text })),
    succeeded: false,
    errors: [detail ?? message],
  };
  return { status, body: writeJson(envelope), headers };
}

/** Sends a browser on with GET: a reload then repeats no form. */
export function redirect(to: string): Answer {
  return { status: 303, body: "", headers: { Location: to } };
}

/** `policy` is the page's Content-Security-Policy. */
export function htmlAnswer(status: number, body: string, policy: string): Answer {
  const headers = {
    "Content-Security-Policy": policy,
    // Not "no-referrer": a browser would then call the origin of the page's own forms "null".
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
  };
  return { status, body, contentType: "text/html; charset=utf-8", headers };
}

/** A page for buyers. No script runs and nothing is fetched from elsewhere, whatever a title contains. */
export function pageAnswer(status: number, body: string): Answer {
  const policy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'";
  return htmlAnswer(status, body, policy);
}
