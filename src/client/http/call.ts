import type { Clock } from "../../shared/clock.ts";
import { EscrowApiError } from "../api-error.ts";
import { toWaitMs } from "./backoff.ts";
import { exchange } from "./exchange.ts";
import type { Exchange, WireRequest } from "./exchange.ts";
import type { Fetch } from "./fetch.ts";
import type { ApiRequest } from "./request.ts";
import type { Tokens } from "./tokens.ts";
import { judge } from "./verdict.ts";
import { wait } from "./wait.ts";

/** Facts about an answer, besides its data. */
export interface AnswerInfo {
  /** The HTTP status. */
  readonly status: number;
  /** The `Date` header as sent; `null` without one. */
  readonly date: string | null;
  /** How long the last attempt took, from the request to the end of its answer. Milliseconds, by the client's clock. */
  readonly tookMs: number;
  /** How many requests were sent for it. */
  readonly attempts: number;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call. A call that may have changed something then rejects with `outcome-unknown`, not with `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called before the call resolves. */
  readonly onAnswer?: ((answer: AnswerInfo) => void) | undefined;
}

/** The settings of calls. */
export interface Line {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly backoffMs: number;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Sends a request until it is answered for good: token → exchange → judge → wait, and again where that does nothing twice. */
export async function call<Data>(
  line: Line,
  tokens: Tokens | undefined,
  request: ApiRequest<Data>,
  { signal, onAnswer }: CallOptions,
): Promise<Data> {
  const secrets = new Set(request.secrets);
  let repeats = 0;
  let renewed = false;
  for (let attempts = 1; ; attempts++) {
    const token = await tokens?.get(signal);
    if (token !== undefined) secrets.add(token);
    if (signal?.aborted === true) throw aborted(request.name);
    const sentMs = line.clock.now();
    const came = await exchange(toWireRequest(request, token), { ...line, signal });
    if (token !== undefined && !renewed && isUnauthorized(came)) {
      renewed = true;
      tokens?.drop(token);
      continue;
    }
    const verdict = judge({ ...request, secrets: [...secrets] }, came);
    if (verdict.kind === "done") {
      tell(onAnswer, came, line.clock.now() - sentMs, attempts);
      return verdict.data;
    }
    if (!verdict.repeat || repeats >= line.retries) throw verdict.error;
    repeats++;
    if (!(await wait(toWaitMs(toWait(line, came, repeats)), signal))) throw aborted(request.name);
  }
}

function toWireRequest({ method, url, contentType, body }: ApiRequest<unknown>, token?: string): WireRequest {
  return {
    method,
    url,
    headers: {
      accept: "application/json",
      ...(contentType === undefined ? {} : { "content-type": contentType }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body }),
  };
}

/** §5.3. The service did nothing: the same request may go out again with a fresh token. */
function isUnauthorized(came: Exchange): boolean {
  return came.kind === "answer" && came.status === 401;
}

function toWait(line: Line, came: Exchange, attempts: number) {
  const header = (name: string): string | null => (came.kind === "answer" ? came.headers.get(name) : null);
  return {
    attempts,
    backoffMs: line.backoffMs,
    retryAfter: header("retry-after"),
    date: header("date"),
    nowMs: line.clock.now(),
    random: line.random(),
  };
}

function tell(onAnswer: CallOptions["onAnswer"], came: Exchange, tookMs: number, attempts: number): void {
  if (onAnswer === undefined || came.kind !== "answer") return;
  try {
    onAnswer({ status: came.status, date: came.headers.get("date"), tookMs, attempts });
  } catch {
    // The call is done. An error here would read as if it were not.
  }
}

/** Nothing is under way: before the first request, or after one that did nothing. */
function aborted(name: string): EscrowApiError {
  return new EscrowApiError("aborted", `${name}: the caller's signal ended it. Nothing was changed.`);
}
