import { connect } from "node:net";
import type { Socket } from "node:net";

/** One request as bytes, and what makes an answer to it a right one. */
export interface Shot {
  request: Buffer;
  expect: string;
}

export interface Rate {
  perSecond: number;
  requests: number;
}

/**
 * Keeps `connections` sockets busy for `ms`: each sends, reads the whole answer, sends again. Small on purpose: the
 * client shares the machine with what it measures, and must not be the slower half.
 */
export async function measure(url: string, shot: Shot, connections: number, ms: number): Promise<Rate> {
  const { hostname, port } = new URL(url);
  const startedMs = performance.now();
  const untilMs = startedMs + ms;
  const counts = await Promise.all(
    Array.from({ length: connections }, () => keepBusy(connect(Number(port), hostname), shot, untilMs)),
  );
  const requests = counts.reduce((sum, count) => sum + count, 0);
  return { requests, perSecond: Math.round((requests / (performance.now() - startedMs)) * 1_000) };
}

function keepBusy(socket: Socket, shot: Shot, untilMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let answered = 0;
    let chunks: Buffer[] = [];
    let missing = -1;
    socket.setNoDelay(true);
    socket.on("error", reject);
    socket.on("connect", () => socket.write(shot.request));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (missing < 0) missing = bytesMissing(Buffer.concat(chunks), shot);
      else missing -= chunk.length;
      if (missing !== 0) return;
      answered++;
      chunks = [];
      missing = -1;
      if (performance.now() < untilMs) socket.write(shot.request);
      else socket.end(() => resolve(answered));
    });
  });
}

/** What is still to come of the answer that begins with `seen`; -1 before its head is complete. */
function bytesMissing(seen: Buffer, shot: Shot): number {
  const headEnd = seen.indexOf("\r\n\r\n");
  if (headEnd < 0) return -1;
  const head = seen.toString("latin1", 0, headEnd);
  if (!head.startsWith(shot.expect)) throw new Error(`The answer begins: ${head.slice(0, 200)}`);
  const length = /content-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`The answer has no Content-Length: ${head}`);
  return headEnd + 4 + Number(length) - seen.length;
}

export function toShot(method: string, path: string, headers: Record<string, string>, body = ""): Shot {
  const all = { Host: "127.0.0.1", ...headers, "Content-Length": String(Buffer.byteLength(body)) };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    request: Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join("")}\r\n${body}`),
    expect: "HTTP/1.1 200",
  };
}
