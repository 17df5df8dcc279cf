/**
 * Every error that this library throws on purpose. Recognise an error by its `code`, never by `instanceof`: two copies of the
 * package may be loaded. The message names the problem, the likely cause and the fix. It never holds a secret, a signature or
 * a payload.
 */
export class EscrowMirrorError extends Error {
  /** The kind of error. Recognise errors by it. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "EscrowMirrorError";
    this.code = code;
  }
}

/** The kinds of error. The reference explains each. */
export type ErrorCode =
  /** An option of `createMirror`, of a store or of a signature scheme is wrong. Fix the set-up. */
  | "invalid-configuration"
  /** An argument of a call is wrong, such as a limit, a cursor or an id. */
  | "invalid-argument"
  /** The store is locked, full or unreachable. Try again. Deliveries get 503. */
  | "store-unavailable"
  /** The tables belong to another version of this package, or don't exist. */
  | "schema-version"
  /** An optional peer dependency is needed and not installed. */
  | "missing-peer"
  /** An unexpected fault of this package or of its input. The message names the step. */
  | "internal-error"
  /** The mirror was closed. */
  | "closed"
  /** No item has this id. */
  | "not-found"
  /** A handler threw inside a delivery's transaction. */
  | "handler-failed"
  /** The call was made inside a handler. It would wait for that handler for ever. */
  | "inside-transaction"
  /** The contract has ended, and never had the expected status. */
  | "unreachable-status"
  /** The same contract or refund was requested before, and the result is not known yet. Nothing was sent. */
  | "already-requested"
  /** Another call of `rotateSecret` is changing the signing secret now. Nothing was sent. */
  | "already-rotating"
  /** The signing secret was changed, and your `save` failed. Call `rotateSecret` again: it saves the same secret. */
  | "secret-not-saved"
  /** A quarantined delivery can't be applied: it is still not readable, or its event is already applied. */
  | "not-releasable"
  /** The service's API answered with an error. The error's `status` and `messageKey` say which. */
  | "error-response"
  /** The service's API answered with something that can't be read: HTML, half a body, another shape, a redirect. */
  | "invalid-response"
  /** Nobody knows whether the service did it. The message says how to find out. Find out before you repeat the call. */
  | "outcome-unknown"
  /** A call that changes nothing got no answer in time, or `contracts.waitFor` waited for too long. */
  | "timeout"
  /** There was no connection, or it broke. Nothing was changed. */
  | "unreachable"
  /** Your `AbortSignal` ended the call. Nothing was changed. */
  | "aborted"
  /** Your `getToken` failed, or returned no usable token. Nothing was sent. */
  | "no-token";

/** Whether `error` was thrown by this library with one of `codes`. Without `codes`, any code matches. */
export function isEscrowMirrorError(error: unknown, ...codes: ErrorCode[]): error is EscrowMirrorError {
  if (!(error instanceof Error) || !errorNames.has(error.name)) return false;
  return codes.length === 0 || codes.includes((error as EscrowMirrorError).code);
}

const errorNames: ReadonlySet<string> = new Set(["EscrowMirrorError", "EscrowApiError"]);

/** An error's kind, for logs. Not its message, unless it is ours: another's may quote a secret or what was stored. */
export function nameOfError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" ? `${error.name} ${code}` : error.name;
}

/** Where in the code an error was made: `fold (index.js:12:3)`. Not the message before it, which may quote what was stored. */
export function originOf(error: unknown): string | undefined {
  const { stack, message } = (error ?? {}) as { stack?: unknown; message?: unknown };
  if (typeof stack !== "string") return undefined;
  const frames = stack.slice(stack.indexOf(String(message)) + String(message).length);
  const [, caller = "", file] = frame.exec(frames) ?? [];
  return file === undefined ? undefined : `${caller}(${file})`;
}

/** One line of a stack: who, and in which file, line and column. */
const frame = /^ {4}at (?:async )?((?:new )?[\w.$<>]+ )?\(?(?:[^\n()]*[\\/])?([\w.-]+:\d+:\d+)\)?$/m;
