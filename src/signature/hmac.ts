/**
 * HMAC (RFC 2104) from Node's one-shot hash: half the cost of `createHmac`, which makes an object for each message that
 * also has to be collected. Every authentic delivery passes here.
 */
import { hash, type KeyObject } from "node:crypto";
import type { ResolvedScheme } from "./scheme.ts";

type Algorithm = ResolvedScheme["algorithm"];

/** The HMAC of `head` and `body`, one after the other, as text. */
export function hmac(
  algorithm: Algorithm,
  key: KeyObject,
  head: Uint8Array | null,
  body: Uint8Array | string,
  encoding: ResolvedScheme["encoding"],
): string {
  const { inner, outer } = padsOf(algorithm, key);
  const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body;
  const message = bufferOf(inner.length + (head?.length ?? 0) + bytes.length);
  message.set(inner);
  if (head !== null) message.set(head, inner.length);
  message.set(bytes, message.length - bytes.length);
  outer.write(hash(algorithm, message, "binary"), blockBytes[algorithm], "latin1");
  return hash(algorithm, outer, encoding);
}

/** The key, padded to a block, as it stands before the message; and before the inner digest, with room for that. */
interface Pads {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

const blockBytes = { sha1: 64, sha256: 64, sha512: 128 } as const;
export const digestBytes = { sha1: 20, sha256: 32, sha512: 64 } as const;

const made = new WeakMap<KeyObject, Partial<Record<Algorithm, Pads>>>();

function padsOf(algorithm: Algorithm, key: KeyObject): Pads {
  const known = made.get(key);
  const pads = known?.[algorithm] ?? makePads(algorithm, key);
  if (known?.[algorithm] === undefined) made.set(key, { ...known, [algorithm]: pads });
  return pads;
}

function makePads(algorithm: Algorithm, key: KeyObject): Pads {
  const block = blockBytes[algorithm];
  const bytes = key.export();
  const short = bytes.length > block ? Buffer.from(hash(algorithm, bytes, "hex"), "hex") : bytes;
  const inner = Buffer.alloc(block, 0x36);
  const outer = Buffer.alloc(block + digestBytes[algorithm]).fill(0x5c, 0, block);
  for (const [at, byte] of short.entries()) {
    inner.writeUInt8(byte ^ 0x36, at);
    outer.writeUInt8(byte ^ 0x5c, at);
  }
  return { inner, outer };
}

/** Most messages fit in here. Hashing is synchronous, so one buffer serves them all. */
const kept = Buffer.alloc(16_384);

function bufferOf(length: number): Buffer {
  return length <= kept.length ? kept.subarray(0, length) : Buffer.allocUnsafe(length);
}
