import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";

import { z } from "zod";

import { clearTimeout, setTimeout } from "../../shared/timers.ts";
import type { DeliveryRecord } from "../world/records.ts";
import { SandboxError } from "../world/sandbox-error.ts";
import { send } from "./send.ts";
import type { Sent, SignedRequest } from "./send.ts";
import { defaults } from "../world/settings.ts";

export interface Recorder {
  write(request: SignedRequest, delivery: DeliveryRecord, sent: Sent, at: string): void;
  close(): Promise<void>;
}

/** Appends each attempt to `path`, one JSON object a line: what was sent, byte for byte, and what came back. */
export function createRecorder(path: string, onError: (error: Error) => void): Recorder {
  const stream = createWriteStream(path, { flags: "a" });
  stream.on("error", onError);
  return {
    write(request, delivery, sent, at) {
      const line = {
        at,
        webhookId: delivery.webhookId,
        event: delivery.event,
        url: request.url,
        headers: request.headers,
        bodyBase64: Buffer.from(request.body).toString("base64"),
        status: sent.status,
        error: sent.error,
      };
      stream.write(`${JSON.stringify(line)}\n`);
    },
    close: () => new Promise((resolve) => void stream.end(() => resolve())),
  };
}

const recordedLine = z.object({
  webhookId: z.string(),
  event: z.string(),
  headers: z.record(z.string(), z.string()),
  bodyBase64: z.base64(),
});

/** Options of `replayRecording`. */
export interface ReplayOptions {
  /** Where to send the recording: http or https. */
  url: string;
  /** Signs the webhooks again with this secret. Default: the recorded signatures are sent. */
  secret?: string;
  /** Begins the recording's header names; used with `secret`. Default `X-Service-`. */
  headerPrefix?: string;
  /** How long one answer may take, in ms. Default 30,000. */
  timeoutMs?: number;
}

/** One webhook of a recording, and its new answer. */
export interface Replayed {
  /** As recorded. */
  webhookId: string;
  /** The event type, as recorded. */
  event: string;
  /** The HTTP status of the answer; null without one. */
  status: number | null;
  /** Null after a 2xx; else the reason. */
  error: string | null;
}

/**
 * Sends a recording (option `record`) again: in the recorded order, one webhook at a time, with the recorded ids and bytes.
 * Rejects with a `SandboxError`: `not-found` when the file can't be read, `invalid-argument` when it is not a recording.
 * @example
 * await replayRecording("webhooks.jsonl", { url: "http://localhost:3000/webhooks/escrow" });
 */
export async function replayRecording(path: string, options: ReplayOptions): Promise<Replayed[]> {
  const { url, secret, headerPrefix = defaults.headerPrefix, timeoutMs = defaults.timeoutMs } = options;
  const replayed: Replayed[] = [];
  for (const line of await readRecording(path)) {
    const body = Buffer.from(line.bodyBase64, "base64");
    const resigned =
      secret === undefined ? {} : { [`${headerPrefix}Signature`]: defaults.sign(body, secret) };
    const headers = { ...line.headers, ...resigned };
    const sent = await sendWithin(timeoutMs, { url, body, headers });
    replayed.push({ webhookId: line.webhookId, event: line.event, status: sent.status, error: sent.error });
  }
  return replayed;
}

async function sendWithin(timeoutMs: number, request: SignedRequest): Promise<Sent> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(`No answer within ${timeoutMs / 1_000} s.`), timeoutMs);
  return send(request, controller.signal).finally(() => clearTimeout(timer));
}

async function readRecording(path: string) {
  const text = await readFile(path, "utf8").catch((cause: Error) => {
    throw new SandboxError("not-found", `Can't read the recording ${path}: ${cause.message}.`, { cause });
  });
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line, index) => readLine(line, `${path}, line ${index + 1}`));
}

function readLine(line: string, where: string) {
  try {
    return recordedLine.parse(JSON.parse(line));
  } catch (cause) {
    const message = `${where}: not an attempt that the sandbox's recorder wrote.`;
    throw new SandboxError("invalid-argument", message, { cause });
  }
}
