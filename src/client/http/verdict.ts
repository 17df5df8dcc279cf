import { EscrowApiError } from "../api-error.ts";
import type { ApiErrorCode, ApiErrorDetails } from "../api-error.ts";
import { readEnvelope, readJson } from "../answer/envelope.ts";
import { hideSecrets } from "../hide-secrets.ts";
import { causesOf, codeOf, toSafeCause } from "../causes.ts";
import { answerBytesMax } from "./body.ts";
import type { BodyFault, Exchange } from "./exchange.ts";
import type { ApiRequest } from "./request.ts";

/** The end of an exchange. `repeat`: the same request may be sent again, and nothing is done twice. */
export type ExchangeVerdict<Data> =
  | { readonly kind: "done"; readonly data: Data }
  | { readonly kind: "failed"; readonly error: EscrowApiError; readonly repeat: boolean };

type Answer = Extract<Exchange, { kind: "answer" }>;
type Silence = Extract<Exchange, { kind: "no-answer" }>;
type AnyRequest = ApiRequest<unknown>;

/**
 * Decides what one exchange means. A request that changes something is done or not for certain only where the service gave a
 * readable success, or said no: a 4xx, or a check that comes before. Anything else is `outcome-unknown`.
 */
export function judge<Data>(request: ApiRequest<Data>, exchange: Exchange): ExchangeVerdict<Data> {
  if (exchange.kind === "no-answer") return judgeSilence(request, exchange);
  const { status } = exchange;
  return status >= 200 && status < 300 ? judgeSuccess(request, exchange) : judgeRefusal(request, exchange);
}

function judgeSilence(request: AnyRequest, { why, maySent, cause }: Silence): ExchangeVerdict<never> {
  const details = { cause: toSafeCause(cause, request.secrets) };
  const what = `${silences[why]}${namedCode(cause)}`;
  if (maySent && request.repeat === "unsent") return unknown(request, what, details);
  if (why === "aborted") return failed(request, "aborted", what, details);
  if (maySent) return failed(request, why, what, details, "repeat");
  return failed(request, "unreachable", `${what}: nothing was sent`, details, "repeat");
}

const silences = {
  timeout: "no answer came in time",
  aborted: "the caller's signal ended it",
  unreachable: "the connection failed",
} as const;

/** ` (ECONNREFUSED)` */
function namedCode(cause: unknown): string {
  const [code] = causesOf(cause).flatMap((error) => codeOf(error) ?? []);
  return code === undefined ? "" : ` (${code})`;
}

function judgeSuccess<Data>(request: ApiRequest<Data>, answer: Answer): ExchangeVerdict<Data> {
  const { body } = answer;
  if (!body.ok) return judgeBrokenBody(request, answer, body.error);
  const json = readJson(body.value);
  if (!json.ok) return unreadable(request, answer, json.error);
  const envelope = readEnvelope(json.value);
  if (envelope.ok && !envelope.value.succeeded) {
    return judgeRefusal(request, { ...answer, status: envelope.value.status ?? answer.status });
  }
  const read = request.read(json.value);
  return read.ok ? { kind: "done", data: read.value } : unreadable(request, answer, read.error);
}

function judgeBrokenBody(request: AnyRequest, answer: Answer, fault: BodyFault): ExchangeVerdict<never> {
  if (fault === "too-large") return unreadable(request, answer, `it is larger than ${answerBytesMax} bytes`);
  const details = { status: answer.status, cause: toSafeCause(answer.cause, request.secrets) };
  const what = `${silences[fault]} while the answer was read${namedCode(answer.cause)}`;
  if (request.repeat === "unsent") return unknown(request, what, details);
  return failed(request, fault, what, details, fault === "aborted" ? undefined : "repeat");
}

function unreadable(request: AnyRequest, { status, headers }: Answer, why: string): ExchangeVerdict<never> {
  const type = hideSecrets(headers.get("content-type") ?? "no content type", request.secrets);
  const what = `the answer (${status}, ${type}) can't be read: ${hideSecrets(why, request.secrets)}`;
  if (request.repeat === "unsent") return unknown(request, what, { status });
  return failed(request, "invalid-response", what, { status });
}

function judgeRefusal(request: AnyRequest, answer: Answer): ExchangeVerdict<never> {
  const { status } = answer;
  const problem = readProblem(request, answer);
  const redirected = status < 400 && status !== 200;
  const what = redirected ? describeRedirect(answer) : describe(request, problem);
  if (request.repeat === "unsent" && !saysNo(problem)) return unknown(request, what, problem);
  if (redirected) return failed(request, "invalid-response", what, problem);
  const passing = status === 429 || (request.repeat === "always" && (status === 408 || status >= 500));
  return failed(request, "error-response", what, problem, passing ? "repeat" : undefined);
}

/** Whether the service certainly did nothing. A 408 may come from a gateway that passed the request on. */
function saysNo({ status, messageKey }: Problem): boolean {
  if (status >= 400 && status < 500) return status !== 408;
  return beforeAnything.has(messageKey ?? "");
}

/** §7.1: a 500 of the checks that run before any refund is created. */
const beforeAnything: ReadonlySet<string> = new Set(["FailedToResolveIban"]);

interface Problem {
  readonly status: number;
  readonly messageKey: string | null;
  readonly validationErrors: readonly { readonly field: string | null; readonly message: string }[];
  readonly errors: readonly string[];
}

/** The service's message, as far as it can be read, without its quotes. */
function readProblem({ secrets }: AnyRequest, { status, body }: Answer): Problem {
  const json = body.ok ? readJson(body.value) : undefined;
  const envelope = json?.ok === true ? readEnvelope(json.value) : undefined;
  if (envelope?.ok !== true) return { status, messageKey: null, validationErrors: [], errors: [] };
  const { messageKey, validationErrors, errors } = envelope.value;
  const hide = (text: string): string => hideSecrets(text, secrets);
  return {
    status,
    messageKey: messageKey === null ? null : hide(messageKey),
    validationErrors: validationErrors.map(({ field, message }) => ({
      field: field === null ? null : hide(field),
      message: hide(message),
    })),
    errors: errors.map(hide),
  };
}

function describe({ ifUnauthorized }: AnyRequest, problem: Problem): string {
  const { status, messageKey, validationErrors, errors } = problem;
  const faults = validationErrors.length > 0 ? validationErrors.map(({ message }) => message) : errors;
  const said = faults.filter((text) => text !== "" && text !== messageKey).map(sentence);
  const answered = `the service answered ${status}${messageKey ? ` ${messageKey}` : ""}`;
  const what = said.length === 0 ? answered : `${answered}: ${said.join(" ")}`;
  return status === 401 ? `${sentence(what)} ${ifUnauthorized}` : what;
}

/** Only the host: an address may hold a token. */
function describeRedirect({ status, headers }: Answer): string {
  const target = headers.get("location") ?? "";
  const host = URL.canParse(target) ? ` to ${hideSecrets(new URL(target).host)}` : "";
  return `the service answered ${status}, a redirect${host}. It was not followed: the token goes to no other address. Check the URL that the client was created with`;
}

function unknown(request: AnyRequest, what: string, details: ApiErrorDetails): ExchangeVerdict<never> {
  const warning = `It may have been done, or not: don't repeat it before you know. ${request.findOut}`;
  return failed(request, "outcome-unknown", `${sentence(what)} ${warning}`, details);
}

function failed(
  request: AnyRequest,
  code: ApiErrorCode,
  what: string,
  details: ApiErrorDetails,
  repeat?: "repeat",
): ExchangeVerdict<never> {
  const retryable = repeat === "repeat";
  const error = new EscrowApiError(code, `${request.name}: ${sentence(what)}`, { ...details, retryable });
  return { kind: "failed", error, repeat: retryable };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
