import { describe, expect, it } from "vitest";
import type { Exchange } from "../../../src/client/http/exchange.ts";
import type { ApiRequest } from "../../../src/client/http/request.ts";
import { judge } from "../../../src/client/http/verdict.ts";
import { ok } from "../../../src/shared/result.ts";

/** What one exchange means, for a call that changes nothing and for one that does. */

const base = {
  url: "https://service.test",
  ifUnauthorized: "",
  read: (json: unknown) => ok(json),
  secrets: [],
};
const reads: ApiRequest<unknown> = { ...base, name: "read", method: "GET", repeat: "always", findOut: "" };
const writes: ApiRequest<unknown> = {
  ...base,
  name: "write",
  method: "POST",
  repeat: "unsent",
  findOut: "Look it up.",
};

const answer = (status: number, text = '{"data":null,"message":"Key"}'): Exchange => ({
  kind: "answer",
  status,
  headers: new Headers(),
  body: ok(text),
});
const broken = (status: number, error: "timeout" | "aborted" | "unreachable" | "too-large"): Exchange => ({
  kind: "answer",
  status,
  headers: new Headers(),
  body: { ok: false, error },
});
const silence = (why: "timeout" | "aborted" | "unreachable", maySent = true): Exchange => ({
  kind: "no-answer",
  why,
  maySent,
  cause: undefined,
});

/** The code, and `again` where the request may go out once more. */
function meaning(request: ApiRequest<unknown>, exchange: Exchange): string {
  const verdict = judge(request, exchange);
  if (verdict.kind === "done") return "done";
  expect(verdict.error.retryable).toBe(verdict.repeat);
  return verdict.repeat ? `${verdict.error.code}, again` : verdict.error.code;
}

const table: readonly (readonly [string, Exchange, string, string])[] = [
  ["200", answer(200), "done", "done"],
  ["201", answer(201), "done", "done"],
  ["a 200 that is no JSON", answer(200, "<html>"), "invalid-response", "outcome-unknown"],
  ["a 200 that breaks off", broken(200, "unreachable"), "unreachable, again", "outcome-unknown"],
  ["a 200 that is late", broken(200, "timeout"), "timeout, again", "outcome-unknown"],
  ["a 200 that is aborted", broken(200, "aborted"), "aborted", "outcome-unknown"],
  ["a 200 that is too large", broken(200, "too-large"), "invalid-response", "outcome-unknown"],
  ["a 200 that did not succeed", answer(200, '{"succeeded":false}'), "error-response", "outcome-unknown"],
  [
    "a 200 that did not succeed, 400",
    answer(200, '{"succeeded":false,"status":400}'),
    "error-response",
    "error-response",
  ],
  [
    "a 200 that did not succeed, 500",
    answer(200, '{"succeeded":false,"status":500}'),
    "error-response, again",
    "outcome-unknown",
  ],
  ["302", answer(302), "invalid-response", "outcome-unknown"],
  ["an opaque redirect", answer(0), "invalid-response", "outcome-unknown"],
  ["400", answer(400), "error-response", "error-response"],
  ["401", answer(401), "error-response", "error-response"],
  ["404", answer(404), "error-response", "error-response"],
  ["404 that breaks off", broken(404, "unreachable"), "error-response", "error-response"],
  ["408", answer(408), "error-response, again", "outcome-unknown"],
  ["409", answer(409), "error-response", "error-response"],
  ["429", answer(429), "error-response, again", "error-response, again"],
  ["429 that breaks off", broken(429, "unreachable"), "error-response, again", "error-response, again"],
  ["500", answer(500), "error-response, again", "outcome-unknown"],
  [
    "500 FailedToResolveIban",
    answer(500, '{"message":"FailedToResolveIban"}'),
    "error-response, again",
    "error-response",
  ],
  ["503", answer(503), "error-response, again", "outcome-unknown"],
  ["503 that breaks off", broken(503, "unreachable"), "error-response, again", "outcome-unknown"],
  ["no answer, after it was sent", silence("unreachable"), "unreachable, again", "outcome-unknown"],
  ["no answer in time", silence("timeout"), "timeout, again", "outcome-unknown"],
  ["an abort after it was sent", silence("aborted"), "aborted", "outcome-unknown"],
  ["no connection", silence("unreachable", false), "unreachable, again", "unreachable, again"],
  ["no connection in time", silence("timeout", false), "unreachable, again", "unreachable, again"],
  ["an abort before it was sent", silence("aborted", false), "aborted", "aborted"],
];

describe("a read", () => {
  it.each(table)("with %s is as the table says", (_, exchange, read) => {
    expect(meaning(reads, exchange)).toBe(read);
  });
});

describe("a call that changes something", () => {
  it.each(table)("with %s is as the table says", (_, exchange, _read, write) => {
    expect(meaning(writes, exchange)).toBe(write);
  });

  it("whose outcome is unknown says how to find out", () => {
    const verdict = judge(writes, answer(503));
    expect(verdict.kind === "failed" && verdict.error.message).toBe(
      "write: the service answered 503 Key. It may have been done, or not: don't repeat it before you know. Look it up.",
    );
  });
});
