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

export interface ReplayOptions {
  /** Where to send the recording. */
  url: string;
  /** Signs anew, where the receiver's secret is not the one of the recording. Default: the recorded signatures. */
  secret?: string;
  /** The recording's, for `secret`. Default `X-Service-`. */
  headerPrefix?: string;
  /** How long one answer may take. Default 30,000. */
  timeoutMs?: number;
}

export interface Replayed {
  webhookId: string;
  event: string;
  /** Null when there was no answer; `error` says why. */
  status: number | null;
  error: string | null;
}

/**
 * Sends what a recorder wrote once more, in its order and one at a time, with the recorded ids and bytes.
 * Throws a `SandboxError` when the file can't be read or holds something else.
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
