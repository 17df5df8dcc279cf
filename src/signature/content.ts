import type { KeyObject } from "node:crypto";
import { hmac } from "./hmac.ts";
import type { ResolvedScheme, SignedParts } from "./scheme.ts";

/** Where the parts of the signed content come from; `""` stands for a part that is not there. */
export interface PartSource {
  readonly body: Uint8Array;
  id(): string;
  timestamp(): string;
}

/** The signed content, put together once and hashed under each secret; and which parts it holds. */
export interface Content {
  /** The text before the body. `null` for none. */
  readonly head: Buffer | null;
  readonly body: Uint8Array | string;
  /** The signed id and timestamp as received, `""` when missing; `null` where the scheme does not sign it. */
  readonly id: string | null;
  readonly timestamp: string | null;
}

/** The bytes that the scheme signs, without a copy of the body. `undefined` when a content function fails. */
export function toContent(scheme: ResolvedScheme, source: PartSource): Content | undefined {
  if (scheme.content === "body") return { head: null, body: source.body, id: null, timestamp: null };
  if (typeof scheme.content === "function") return callContent(scheme.content, source);
  const id = scheme.content === "id.timestamp.body" ? source.id() : null;
  const timestamp = source.timestamp();
  const head = id === null ? `${timestamp}.` : `${id}.${timestamp}.`;
  return { head: headerBytes(head), body: source.body, id, timestamp };
}

/** The HMAC of the content under one key, as the scheme writes it. */
export function digestOf(scheme: ResolvedScheme, key: KeyObject, { head, body }: Content): string {
  return hmac(scheme.algorithm, key, head, body, scheme.encoding);
}

/**
 * Runs the integrator's function and notes which parts it reads: what it signs is required. It meets what strangers
 * send, so a throw, or a result that can't be hashed, is a signature that does not match and not an exception.
 */
function callContent(
  content: (parts: SignedParts) => Uint8Array | string,
  source: PartSource,
): Content | undefined {
  const read: { id: string | null; timestamp: string | null } = { id: null, timestamp: null };
  const parts: SignedParts = {
    body: Buffer.from(source.body.buffer, source.body.byteOffset, source.body.byteLength),
    get id() {
      return (read.id ??= source.id());
    },
    get timestamp() {
      return (read.timestamp ??= source.timestamp());
    },
  };
  try {
    const body = content(parts);
    if (typeof body === "string") return { head: null, body, ...read };
    if (!ArrayBuffer.isView(body)) return undefined;
    return { head: null, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength), ...read };
  } catch {
    return undefined;
  }
}

/** Node hands header bytes over as Latin-1 text, so that is the way back to them; wider text never came by wire. */
function headerBytes(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  return bytes.toString("latin1") === text ? bytes : Buffer.from(text, "utf8");
}
