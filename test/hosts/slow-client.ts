/** A sender on a bare socket, which neither ends its body nor the connection: what happens to it is the host's doing. */
import { connect, type Socket } from "node:net";
import type { HeaderPairs } from "./client.ts";

export interface SlowSent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: HeaderPairs;
  /** How many bytes go out at once. */
  readonly bytes?: number;
  /** How many come after them, every few milliseconds. */
  readonly dripBytes?: number;
}

export interface SlowClient {
  /** What came back until the host ended the connection. */
  readonly ended: Promise<{ readonly status: number; readonly text: string; readonly error: string | null }>;
  /** Resolves with the status once one has come. */
  readonly answered: Promise<number>;
  /** Goes away. */
  abort(): Promise<void>;
}

export function sendSlowly(port: number, sent: SlowSent): SlowClient {
  const { bytes = 0, dripBytes = 0 } = sent;
  const socket = connect(port, "127.0.0.1");
  let text = "";
  let error: string | null = null;
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.on("error", (cause: NodeJS.ErrnoException) => (error = cause.code ?? cause.name));
  const answered = new Promise<number>((resolve) =>
    socket.on("data", (piece) => {
      text += String(piece);
      resolve(statusOf(text));
    }),
  );
  socket.write(headOf(sent));
  if (bytes > 0) writeChunk(socket, bytes);
  if (dripBytes > 0) {
    const dripping = setInterval(() => writeChunk(socket, dripBytes), 10);
    socket.on("close", () => clearInterval(dripping));
  }
  return {
    ended: closed.then(() => ({ status: statusOf(text), text, error })),
    answered,
    abort: () => {
      socket.destroy();
      return closed;
    },
  };
}

function headOf({ method = "POST", path, headers = [] }: SlowSent): string {
  const lines = [["Host", "localhost"], ...headers, ["Transfer-Encoding", "chunked"]];
  return `${method} ${path} HTTP/1.1\r\n${lines.map((line) => `${line.join(": ")}\r\n`).join("")}\r\n`;
}

function writeChunk(socket: Socket, bytes: number): void {
  if (socket.writable) socket.write(`${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n`);
}

function statusOf(text: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
}
