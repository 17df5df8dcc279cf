/**
 * What every host does with a webhook: wait for the mirror, take the bytes as sent, let the mirror decide, send its
 * answer. Hosts translate, they don't decide; the two answers made here are those that a mirror can't give itself.
 */
import type { Mirror, ReceiveRequest, ReceiveResult } from "../../src/index.ts";

/** The part of a mirror that a host needs. */
export type WebhookReceiver = Pick<Mirror, "receive" | "maxBodyBytes">;

/** A mirror, or the promise that `createMirror` returns: until it is kept (or when it is broken) the answer is 503. */
export type MirrorSource = WebhookReceiver | PromiseLike<WebhookReceiver>;

/** The bytes of one request where they were found; `undefined` where a parser has consumed them. */
export type RawBody = Uint8Array | Doubtful | undefined;

/** What something else has read and may have changed: only the signature can tell. */
export interface Doubtful {
  readonly doubtful: Uint8Array | string;
}

/** One request of a host, as far as the protocol needs it. */
export interface HostRequest {
  readonly method: string;
  readonly headers: ReceiveRequest["headers"];
  /**
   * Reads no more than `bytesMax` and one chunk: more is given back as it is, and the mirror refuses it. `gone` when the
   * sender went away half-way.
   */
  readBody(bytesMax: number): Promise<RawBody | Gone>;
  /** Which line of this framework's set-up to change where the bytes are missing. */
  readonly hint: string;
}

/** The sender closed the connection before the body was complete: nothing is stored, and nobody hears an answer. */
export const gone = Symbol("gone");
export type Gone = typeof gone;

/** Never rejects. Resolves with what to send, `gone` where there is nobody to send it to. */
export type Answer = (request: HostRequest) => Promise<ReceiveResult | Gone>;

/** Whether the answer ends the connection, so that what still comes of the request has to be thrown away before. */
export function closes(result: ReceiveResult | Gone): boolean {
  return result !== gone && result.headers["connection"] === "close";
}

/** @throws TypeError when `source` is neither a mirror nor a promise: a mistake in the set-up, said at start */
export function createAnswer(source: MirrorSource): Answer {
  const current = openSource(source);
  return async (request) => {
    try {
      const mirror = current();
      return mirror === undefined ? failed("starting") : await take(mirror, request);
    } catch {
      return failed("internal-error");
    }
  };
}

async function take(mirror: WebhookReceiver, request: HostRequest): Promise<ReceiveResult | Gone> {
  const { method, headers, hint } = request;
  // Of a request that is refused for its method, the body is not waited for.
  const body = method.toUpperCase() === "POST" ? await request.readBody(mirror.maxBodyBytes) : undefined;
  if (body === gone) return gone;
  if (body === undefined || !("doubtful" in body)) return mirror.receive({ method, headers, body, hint });
  const result = await mirror.receive({ method, headers, body: body.doubtful, hint });
  return isOfBody(result) ? mirror.receive({ method, headers, hint }) : result;
}

/**
 * A genuine delivery whose bytes were changed looks forged, or too large where they were inflated, and would be refused
 * for good. So the bytes of a doubtful body that are refused for what they are count as gone, which the service retries.
 */
function isOfBody({ reason }: ReceiveResult): boolean {
  return reason === "signature-mismatch" || reason === "secret-unproven" || reason === "body-too-large";
}

function openSource(source: MirrorSource): () => WebhookReceiver | undefined {
  if (isReceiver(source)) return () => source;
  if (typeof (source as Partial<PromiseLike<unknown>> | null | undefined)?.then !== "function")
    throw new TypeError("expected a mirror, or the promise of one that createMirror returns");
  let mirror: WebhookReceiver | undefined;
  const keep = (ready: WebhookReceiver): void => {
    if (isReceiver(ready)) mirror = ready;
    else warnNotStarted(notAMirror);
  };
  Promise.resolve(source).then(keep, (error: unknown) => warnNotStarted(causeOf(error)));
  return () => mirror;
}

function isReceiver(source: unknown): source is WebhookReceiver {
  return typeof (source as Partial<WebhookReceiver> | null | undefined)?.receive === "function";
}

const notAMirror = "its promise resolved to something else: pass what createMirror returns";

/** The mirror that has the logger never came to be, and the host goes on: without a word nobody would know why it answers 503. */
function warnNotStarted(cause: string): void {
  process.emitWarning(`The mirror did not start, so every webhook is answered 503: ${cause}`, {
    type: "EscrowMirrorWarning",
    code: "ESCROW_MIRROR_NOT_STARTED",
  });
}

/** Of an error that is not ours only its kind: the host's own code made it, and its message may quote a secret. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return `a ${typeof error} was thrown`;
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === "EscrowMirrorError") return error.message;
  return typeof code === "string" ? `${name} ${code}` : name;
}

/** In the shape of a mirror's own answers: retryable, so that the delivery comes again. */
function failed(reason: "starting" | "internal-error"): ReceiveResult {
  return {
    status: 503,
    headers: { "content-type": "application/json; charset=utf-8", "retry-after": "5" },
    body: JSON.stringify({ outcome: "failed" }),
    outcome: "failed",
    reason,
  };
}
