import type { IncomingHttpHeaders } from "node:http";

import { err, ok } from "../../shared/result.ts";
import { refuse } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import { refused } from "./answer.ts";
import type { Answer } from "./answer.ts";

/** A request with its body read, as the routes see it. */
export interface Call {
  method: string;
  /** Decoded, without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export function contentTypeOf(call: Call): string {
  return (call.headers["content-type"] ?? "").toLowerCase();
}

/** A JSON body, or why it is none. */
export function readJson(call: Call): Granted<unknown> {
  if (!/^application\/([\w.+-]+\+)?json\b/.test(contentTypeOf(call))) {
    const seen = contentTypeOf(call) || "missing";
    return refuse(415, "UnsupportedMediaType", `The Content-Type must be application/json; it is ${seen}.`);
  }
  try {
    return ok(JSON.parse(call.body.toString("utf8").replace(/^\uFEFF/, "")));
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error);
    const detail = `The request body is not JSON: ${seen}.`;
    const validationErrors = [{ field: "body", message: detail }];
    return err({ status: 400, message: "InvalidJson", detail, validationErrors });
  }
}

export function isForm(call: Call): boolean {
  return contentTypeOf(call).startsWith("application/x-www-form-urlencoded");
}

/** The fields of a form; none for another content type. */
export function readForm(call: Call): URLSearchParams {
  return new URLSearchParams(isForm(call) ? call.body.toString("utf8") : "");
}

export function wrongMethod(call: Call, methods: readonly string[]): Answer {
  const detail = `${call.path} takes ${methods.join(", ")}, not ${call.method}.`;
  return refused({ status: 405, message: "MethodNotAllowed", detail }, { Allow: methods.join(", ") });
}
