/**
 * The bytes whose signature is not checked yet. Anyone can send them, so all of them together, in this process, stay within
 * a bound, whatever the number of requests and the size of the pieces that they come in (semantics §1.3).
 */
import { failed, type Verdict } from "../outcome.ts";

export interface UnverifiedLimits {
  /** Of one body. */
  readonly maxBodyBytes: number;
  /** Of all together. */
  readonly bytesMax: number;
}

export interface Unverified {
  readonly open: () => HeldBody;
  /** Ends what is still being read. */
  readonly close: () => void;
}

/** The body of one request. Whatever becomes of the request, `release` gives its bytes back. */
export interface HeldBody {
  /** Holds a whole body, which nobody else may change, or says why not. */
  keep(bytes: Uint8Array): Verdict | undefined;
  /** Holds a copy of a piece, behind those before, or says why not. */
  add(piece: Uint8Array): Verdict | undefined;
  /** Until `endReading`, this body can be dropped to make room for a smaller one. Then `end` is called with the verdict. */
  beginReading(end: (verdict: Verdict) => void): void;
  endReading(): void;
  bytes(): Uint8Array;
  /** How many bytes it counts for. */
  size(): number;
  release(): void;
}

export function createUnverified({ maxBodyBytes, bytesMax }: UnverifiedLimits): Unverified {
  const reading = new Map<HeldBody, (verdict: Verdict) => void>();
  let heldBytes = 0;

  const hasRoom = (bytes: number): boolean => heldBytes + bytes <= bytesMax;

  /** Of those being read the largest gives way: whoever sends much must not shut out those who send little. */
  function take(bytes: number, ownBytes: number): boolean {
    while (!hasRoom(bytes)) {
      const largest = largestOf(reading.keys());
      if (largest === undefined || largest.size() <= ownBytes + bytes) return false;
      end(largest, failed("intake-full"));
    }
    heldBytes += bytes;
    return true;
  }

  function end(body: HeldBody, verdict: Verdict): void {
    const hear = reading.get(body);
    body.release();
    hear?.(verdict);
  }

  return {
    open: () => createHeldBody({ take, give: (bytes) => (heldBytes -= bytes), reading, maxBodyBytes }),
    close: () => {
      // A map bears that its entries go while one walks it.
      for (const body of reading.keys()) end(body, failed("closed"));
    },
  };
}

interface Room {
  /** Whether there is room for so many bytes more. */
  readonly take: (bytes: number, ownBytes: number) => boolean;
  readonly give: (bytes: number) => void;
  readonly reading: Map<HeldBody, (verdict: Verdict) => void>;
  readonly maxBodyBytes: number;
}

const noBytes = new Uint8Array();
const tooLarge: Verdict = { outcome: "rejected", reason: "body-too-large" };

function createHeldBody({ take, give, reading, maxBodyBytes }: Room): HeldBody {
  let buffer: Uint8Array = noBytes;
  let length = 0;

  /**
   * Most bodies come in one piece and get what they need. Others get twice what they had: a byte is moved once or twice, and
   * little is set aside for what has not come.
   */
  function grow(needed: number): boolean {
    const capacity = Math.max(needed, Math.min(2 * buffer.byteLength, maxBodyBytes));
    if (!take(capacity - buffer.byteLength, buffer.byteLength)) return false;
    const grown = Buffer.allocUnsafe(capacity);
    grown.set(buffer.subarray(0, length));
    buffer = grown;
    return true;
  }

  const body: HeldBody = {
    keep: (bytes) => {
      if (bytes.byteLength > maxBodyBytes) return tooLarge;
      if (!take(bytes.byteLength, 0)) return failed("intake-full");
      buffer = bytes;
      length = bytes.byteLength;
      return undefined;
    },
    // A piece kept for itself would cost a hundred times its byte, and hold what it was cut from.
    add: (piece) => {
      const needed = length + piece.byteLength;
      if (needed > maxBodyBytes) return tooLarge;
      if (needed > buffer.byteLength && !grow(needed)) return failed("intake-full");
      buffer.set(piece, length);
      length = needed;
      return undefined;
    },
    beginReading: (end) => void reading.set(body, end),
    endReading: () => void reading.delete(body),
    bytes: () => buffer.subarray(0, length),
    size: () => buffer.byteLength,
    release: () => {
      reading.delete(body);
      give(buffer.byteLength);
      buffer = noBytes;
      length = 0;
    },
  };
  return body;
}

function largestOf(bodies: Iterable<HeldBody>): HeldBody | undefined {
  let largest: HeldBody | undefined;
  for (const body of bodies) if (body.size() > (largest?.size() ?? 0)) largest = body;
  return largest;
}
