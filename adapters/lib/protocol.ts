/**
 * Every host handles a webhook like this: wait for the mirror, pass the request on, send the answer. Hosts translate, they
 * don't decide. Only the answers that a mirror can't give itself are made here.
 */
import type { Mirror, ReceiveRequest, ReceiveResult } from "../../src/index.ts";
import { monotonicMs, sleep } from "./timers.ts";

/** The part of a mirror that a host needs. */
export type WebhookReceiver = Pick<Mirror, "receive">;

/**
 * A mirror, a promise of one, or a function that returns either. While a promise is pending, or if it rejects, requests get
 * 503. A function is called for the first request, which waits for the result. If it fails, it is called again for a later
 * request.
 */
export type MirrorSource = WebhookReceiver | PromiseLike<WebhookReceiver> | MirrorOpener;

/** Opens a mirror when it is needed. So the import of a route opens no database. */
export type MirrorOpener = () => WebhookReceiver | PromiseLike<WebhookReceiver>;

/** Never rejects. */
export type Answer = (request: ReceiveRequest) => Promise<ReceiveResult>;

/** @throws TypeError at start if `source` is none of these */
export function createAnswer(source: MirrorSource): Answer {
  const current = openSource(source);
  return async (request) => {
    try {
      const found = current();
      // No await if the mirror is there: a host may reuse the buffer of a body while we wait.
      const mirror = found instanceof Promise ? await found : found;
      return mirror === undefined ? failed("starting") : await mirror.receive(request);
    } catch (error) {
      warn("ESCROW_MIRROR_FAILED", `A webhook got 503, because receive() failed: ${causeOf(error)}`);
      return failed("internal-error");
    }
  };
}

/** An error of the host instead of a request: the mirror logs it. */
export function faultOf(error: unknown, hint: string): ReceiveRequest {
  return { headers: [], fault: error ?? "nothing", hint };
}

/** Whether the answer ends the connection. Then the rest of the request must be discarded first. */
export function closes({ headers }: ReceiveResult): boolean {
  return headers["connection"] === "close";
}

type Current = () => WebhookReceiver | undefined | Promise<WebhookReceiver | undefined>;

function openSource(source: MirrorSource): Current {
  if (isReceiver(source)) return () => source;
  if (typeof source === "function") return openLazily(source);
  if (typeof (source as Partial<PromiseLike<unknown>> | null | undefined)?.then !== "function")
    throw new TypeError("expected a mirror, a promise of one, or a function that returns either");
  let mirror: WebhookReceiver | undefined;
  void openWith(() => source).then((ready) => (mirror = ready));
  return () => mirror;
}

/** The service waits 30 s for its answer. */
const openTimeoutMs = 20_000;
const openAgainAfterMs = 5_000;

/** One opening at a time, however many requests come. */
function openLazily(open: MirrorOpener): Current {
  let mirror: WebhookReceiver | undefined;
  let opening: Promise<WebhookReceiver | undefined> | undefined;
  let notBeforeMs = 0;
  const begin = async (): Promise<WebhookReceiver | undefined> => {
    mirror = await openWith(open);
    notBeforeMs = monotonicMs() + openAgainAfterMs;
    opening = undefined;
    return mirror;
  };
  return () => {
    if (mirror !== undefined || monotonicMs() < notBeforeMs) return mirror;
    return (opening ??= Promise.race([begin(), sleep(openTimeoutMs, undefined, { ref: false })]));
  };
}

/** If the mirror does not open, there is no logger. So a process warning says why the host answers 503. */
async function openWith(open: MirrorOpener): Promise<WebhookReceiver | undefined> {
  try {
    const ready = await open();
    if (isReceiver(ready)) return ready;
    warn("ESCROW_MIRROR_NOT_STARTED", `${notStarted}: ${notAMirror}`);
  } catch (error) {
    warn("ESCROW_MIRROR_NOT_STARTED", `${notStarted}: ${causeOf(error)}`);
  }
  return undefined;
}

function isReceiver(source: unknown): source is WebhookReceiver {
  return typeof (source as Partial<WebhookReceiver> | null | undefined)?.receive === "function";
}

const notStarted = "The mirror did not start, so every webhook gets 503";
const notAMirror = "its promise resolved with something else: pass the result of createMirror";

function warn(code: string, message: string): void {
  process.emitWarning(message, { type: "EscrowMirrorWarning", code });
}

/** Of foreign errors only the kind: the message may quote a secret. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return `a ${typeof error} was thrown`;
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === "EscrowMirrorError") return error.message;
  return typeof code === "string" ? `${name} ${code}` : name;
}

/** An answer like the mirror's own. The service retries it. */
function failed(reason: "starting" | "internal-error"): ReceiveResult {
  return {
    status: 503,
    headers: { "content-type": "application/json; charset=utf-8", "retry-after": "5" },
    body: JSON.stringify({ outcome: "failed" }),
    outcome: "failed",
    reason,
  };
}
