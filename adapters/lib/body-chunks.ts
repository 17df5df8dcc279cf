/** The pieces of a body while it is read, from either kind of stream. */
import { isUint8Array } from "node:util/types";
import type { Doubtful } from "./protocol.ts";

export interface BodyChunks {
  /** @param encoding which one text was decoded with */
  add(chunk: unknown, encoding?: BufferEncoding | null): void;
  /** Nothing more has to be read: what there is already will be refused. */
  isOver(): boolean;
  body(): Uint8Array | Doubtful;
}

/** After `setEncoding`, or from a host's own stream, text comes, and not every encoding gives back all the bytes. */
export function createBodyChunks(bytesMax: number): BodyChunks {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let isText = false;
  const isOver = (): boolean => bytes > bytesMax;
  return {
    add: (chunk, encoding) => {
      isText ||= !isUint8Array(chunk);
      const piece = isUint8Array(chunk) ? chunk : Buffer.from(String(chunk), encoding ?? "utf8");
      if (piece.byteLength > 0) chunks.push(piece);
      bytes += piece.byteLength;
    },
    isOver,
    body: () => (isText && !isOver() ? { doubtful: joined(chunks) } : joined(chunks)),
  };
}

/** Most bodies come in one piece, which needs no copy: the mirror makes its own. */
function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}
