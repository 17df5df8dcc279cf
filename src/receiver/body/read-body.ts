/** Reads a body within the limits on memory and time. */
import { clearTimeout, setTimeout } from "../../shared/timers.ts";
import { readStream, type BodyStream } from "./body-stream.ts";
import { failed, type Verdict } from "../outcome.ts";
import { wholeBody, type ReceiveRequest, type RequestHeaders } from "../request.ts";
import type { HeldBody } from "./unverified.ts";

export interface BodyLimits {
  readonly timeoutMs: number;
  /** Called if a stream fails by the host's fault. A sender that went away is not reported. */
  readonly onBroken: (error: unknown) => void;
}

export interface BodyRead {
  /** Whether a part of it, at least, was text already. */
  readonly isText: boolean;
  /** Why it was not read to its end. Absent if it was. */
  readonly verdict: Verdict | undefined;
}

/** Accepts a body that has arrived before. */
export function holdBody(
  raw: ReceiveRequest,
  headers: RequestHeaders,
  held: HeldBody,
  maxBodyBytes: number,
): BodyRead {
  const whole = wholeBody(raw, headers, maxBodyBytes);
  const verdict = "outcome" in whole ? whole : held.keep(whole);
  return { isText: typeof raw.body === "string", verdict };
}

export function readBody(stream: BodyStream, held: HeldBody, reading: BodyLimits): Promise<BodyRead> {
  return new Promise((resolve) => {
    let leave: (() => void) | undefined;
    let isText = false;
    let isOver = false;
    const finish = (verdict?: Verdict): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      held.endReading();
      leave?.();
      resolve({ isText, verdict });
    };
    const cut = (verdict: Verdict): void => finish({ ...verdict, closes: true });
    const add = (bytes: Uint8Array): void => {
      const verdict = isOver ? undefined : held.add(bytes);
      if (verdict !== undefined) cut(verdict);
    };
    const timer = setTimeout(() => cut(incomplete), reading.timeoutMs);
    held.beginReading(cut);
    leave = readStream(stream, {
      piece: add,
      text: (bytes) => {
        isText = true;
        add(bytes);
      },
      end: () => finish(),
      lost: () => finish(failed("raw-body-unavailable")),
      broken: (error) => {
        if (!isOver && !isOfSender(error)) reading.onBroken(error);
        cut(incomplete);
      },
    });
    if (isOver) leave();
  });
}

const incomplete = failed("body-incomplete");

const codesOfSender = new Set(["ECONNRESET", "ECONNABORTED", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"]);

/** Whether the sender ended the connection early. Each runtime has its own error for it. */
function isOfSender(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  const { name, message, code = "" } = error as NodeJS.ErrnoException;
  return name === "AbortError" || codesOfSender.has(code) || /abort|terminated|closed/i.test(message);
}
