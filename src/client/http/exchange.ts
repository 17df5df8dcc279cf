import { clearTimeout, setTimeout } from "../../shared/timers.ts";
import { causesOf, codeOf } from "../causes.ts";
import { readAnswerBody } from "./body.ts";
import type { Fetch, FetchResponse } from "./fetch.ts";

/** A request as it goes out. */
export interface WireRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** The end of one request. */
export type Exchange =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: FetchResponse["headers"];
      /** The whole body, or why there is none. */
      readonly body:
        { readonly ok: true; readonly value: string } | { readonly ok: false; readonly error: BodyFault };
      /** The error that ended the body. */
      readonly cause?: unknown;
    }
  | {
      readonly kind: "no-answer";
      readonly why: Interruption;
      /** `false` only where it is certain that no byte of the request left. */
      readonly maySent: boolean;
      readonly cause: unknown;
    };

/** Why an exchange ended early. */
export type Interruption = "timeout" | "aborted" | "unreachable";

export type BodyFault = "too-large" | Interruption;

export interface ExchangeOptions {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Sends one request, once, and waits for the whole answer. Never rejects. */
export async function exchange(
  request: WireRequest,
  { fetch, timeoutMs, signal }: ExchangeOptions,
): Promise<Exchange> {
  const deadline = startDeadline(timeoutMs, signal);
  try {
    const { url, ...init } = request;
    const sending = fetch(url, { ...init, redirect: "manual", signal: deadline.signal });
    return await readAnswer(await deadline.within(sending), deadline);
  } catch (cause) {
    return { kind: "no-answer", why: whyOf(cause, deadline), maySent: maySent(cause), cause };
  } finally {
    deadline.stop();
  }
}

interface Deadline {
  readonly signal: AbortSignal;
  /** Why the exchange has ended, if it has. */
  ended(): "timeout" | "aborted" | undefined;
  /** The work, or a rejection at the deadline: a `fetch` of the caller's may heed no signal. */
  within<T>(work: Promise<T>): Promise<T>;
  stop(): void;
}

function startDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const ending = new AbortController();
  let why: "timeout" | "aborted" | undefined;
  const end = (reason: typeof why) => (): void => {
    why = reason;
    ending.abort();
  };
  const abort = end("aborted");
  const timer = setTimeout(end("timeout"), timeoutMs);
  caller?.addEventListener("abort", abort, { once: true });
  const ended = new Promise<never>((_, reject) => {
    ending.signal.addEventListener("abort", () => reject(ending.signal.reason as Error), { once: true });
  });
  ended.catch(() => undefined);
  return {
    signal: ending.signal,
    ended: () => why,
    within: (work) => Promise.race([work, ended]),
    stop: () => {
      clearTimeout(timer);
      caller?.removeEventListener("abort", abort);
    },
  };
}

async function readAnswer(response: FetchResponse, deadline: Deadline): Promise<Exchange> {
  const { status, headers } = response;
  try {
    return { kind: "answer", status, headers, body: await deadline.within(readAnswerBody(response)) };
  } catch (cause) {
    return { kind: "answer", status, headers, body: { ok: false, error: whyOf(cause, deadline) }, cause };
  }
}

/** undici has time-outs of its own, far above ours. */
function whyOf(cause: unknown, deadline: Deadline): Interruption {
  const timedOut = causesOf(cause).some((error) => /TIMEOUT|TIMEDOUT/.test(codeOf(error) ?? ""));
  return deadline.ended() ?? (timedOut ? "timeout" : "unreachable");
}

/**
 * Whether the request can have reached the service. Certain that not: the name was not found, the connection was
 * refused or not
 * made in time, the certificate was not accepted. A reset is never certain, for a reused socket that the other side
 * closed has
 * delivered.
 */
function maySent(cause: unknown): boolean {
  const errors = causesOf(cause);
  return errors.length === 0 || !errors.every(isBeforeSending);
}

function isBeforeSending(error: unknown): boolean {
  const code = codeOf(error) ?? "";
  const { syscall } = error as { syscall?: unknown };
  if (syscall === "getaddrinfo") return true;
  if (syscall === "connect") return code !== "ECONNRESET";
  return code === "UND_ERR_CONNECT_TIMEOUT" || tlsRefusals.test(code);
}

/** We refused the other side's certificate, or what answered speaks no TLS: both before the first byte of a request. */
const tlsRefusals =
  /^(?:CERT_\w+|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_WRONG_VERSION_NUMBER)$/;
