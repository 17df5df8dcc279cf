/** Reads a body that has not arrived yet: a stream of Node or of the Fetch API, whatever has happened to it before. */
import { Readable } from "node:stream";
import { isAnyArrayBuffer, isArrayBufferView, isUint8Array } from "node:util/types";
import { nextTurn } from "../../shared/timers.ts";

/** A request's body before it has arrived. */
export type BodyStream = NodeBodyStream | WebBodyStream;

/** The parts of a Node `Readable`, such as an `IncomingMessage`, that the mirror uses. */
export interface NodeBodyStream {
  /** Adds a listener. */
  on(event: string, listener: (chunk: unknown) => void): unknown;
  /** Removes a listener. */
  off(event: string, listener: (chunk: unknown) => void): unknown;
  /** Stops the flow of chunks. */
  pause(): unknown;
  /** Lets chunks flow. */
  resume(): unknown;
  /** Whether something has read from it before. */
  readonly readableDidRead?: boolean;
  /** Whether it was read to its end. */
  readonly readableEnded?: boolean;
  /** The encoding, if chunks come as text. */
  readonly readableEncoding?: BufferEncoding | null;
  /** Whether it was destroyed. */
  readonly destroyed?: boolean;
  /** The error that ended it. */
  readonly errored?: Error | null;
}

/** The parts of a `ReadableStream`, such as the `body` of a `Request`, that the mirror uses. */
export interface WebBodyStream {
  /** Whether something else reads it. */
  readonly locked: boolean;
  /** Locks the stream and returns its reader. */
  getReader(): WebBodyReader;
}

/** Reads a web stream chunk by chunk. */
export interface WebBodyReader {
  /** Resolves with the next chunk. */
  read(): Promise<{
    /** Whether the stream has ended. */
    done: boolean;
    /** The chunk. */
    value?: Uint8Array | undefined;
  }>;
  /** Lets others read the stream. */
  releaseLock(): void;
}

/** Where the pieces go. After the first call of `end`, `lost` or `broken` nothing is listened to. */
export interface BodySink {
  /** The piece is of use only during the call. */
  piece(bytes: Uint8Array): void;
  /** A piece that somebody has decoded: not every encoding gives back the bytes as they were sent. */
  text(bytes: Uint8Array): void;
  end(): void;
  /** Something else has read it, or holds it. */
  lost(): void;
  /** The sender went away, or the stream failed. */
  broken(error?: unknown): void;
}

export function isBodyStream(body: unknown): body is BodyStream {
  return isWebStream(body) || isNodeStream(body);
}

/** Begins to read. The returned function leaves the rest unread. */
export function readStream(stream: BodyStream, sink: BodySink): () => void {
  return isWebStream(stream) ? readWebStream(stream, sink) : readNodeStream(stream, sink);
}

function isWebStream(body: unknown): body is WebBodyStream {
  return typeof (body as Partial<WebBodyStream> | null | undefined)?.getReader === "function";
}

function isNodeStream(body: unknown): body is NodeBodyStream {
  const { on, resume } = (body ?? {}) as Partial<NodeBodyStream>;
  return typeof on === "function" && typeof resume === "function";
}

/** By events, since an iterator makes a promise for every piece. */
function readNodeStream(stream: NodeBodyStream, sink: BodySink): () => void {
  const onData = (chunk: unknown): void => addPiece(sink, chunk, stream.readableEncoding);
  const onEnd = (): void => sink.end();
  const resume = (): void => void stream.resume();
  const leave = (): void => {
    stream.off("data", onData);
    stream.off("end", onEnd);
    stream.off("pause", resume);
    stream.pause();
  };
  // A stream that has ended or was destroyed emits no more events.
  if (stream.readableDidRead === true) sink.lost();
  else if (stream.readableEnded === true) sink.end();
  else if (stream.destroyed === true) sink.broken(stream.errored);
  else {
    stream.on("data", onData);
    stream.on("end", onEnd);
    // These stay: an "error" that comes later would end the process if nobody listened.
    stream.on("error", (error) => sink.broken(error));
    stream.on("close", () => sink.broken());
    // A hook may have paused it, or pause it meanwhile: nobody else would make it go on.
    stream.on("pause", resume);
    stream.resume();
    return leave;
  }
  return () => {};
}

function readWebStream(stream: WebBodyStream, sink: BodySink): () => void {
  if (stream.locked || Readable.isDisturbed(stream as unknown as NodeJS.ReadableStream)) {
    sink.lost();
    return () => {};
  }
  const reader = stream.getReader();
  let isLeft = false;
  pumpWebStream(reader, sink, () => isLeft).catch((error: unknown) => sink.broken(error));
  return () => {
    isLeft = true;
    reader.releaseLock();
  };
}

/** A stream in memory never waits. So other work gets a turn after so many pieces. */
const piecesPerTurn = 256;

async function pumpWebStream(reader: WebBodyReader, sink: BodySink, isLeft: () => boolean): Promise<void> {
  for (let pieces = 1; !isLeft(); pieces++) {
    const { done, value } = await reader.read();
    if (done || isLeft()) return sink.end();
    addPiece(sink, value, null);
    if (pieces % piecesPerTurn === 0) await nextTurn();
  }
}

function addPiece(sink: BodySink, chunk: unknown, encoding: BufferEncoding | null | undefined): void {
  const bytes = viewOf(chunk);
  if (bytes !== undefined) sink.piece(bytes);
  else if (typeof chunk === "string") sink.text(Buffer.from(chunk, encoding ?? "utf8"));
  // Anything else comes from a parser.
  else sink.lost();
}

/** The bytes of whatever holds bytes, without a copy. */
export function viewOf(value: unknown): Uint8Array | undefined {
  if (isUint8Array(value)) return value;
  if (isArrayBufferView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return isAnyArrayBuffer(value) ? new Uint8Array(value) : undefined;
}
