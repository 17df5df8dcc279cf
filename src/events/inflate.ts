import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { err, ok } from "../shared/result.ts";
import type { Result } from "../shared/result.ts";

/** Why a compressed body can't be read. */
export interface InflateProblem {
  readonly reason: "unknown-encoding" | "inflated-too-large" | "corrupt-encoding";
  /** Never a value: the header is not signed. */
  readonly detail: string;
}

/**
 * Undoes `Content-Encoding` of a body whose signature, over the bytes as received, has been checked: `gzip`,
 * `deflate` and `br`; `identity` and no header give the body itself. One encoding only: the service sends none,
 * so two are `unknown-encoding`, like any other name.
 *
 * At most `maxBytes` are produced, whatever the body claims: a bomb is `inflated-too-large` and costs no memory.
 * Synchronous, because bodies are small and nothing unauthentic gets here.
 */
export function inflateBody(
  body: Uint8Array,
  contentEncoding: string | undefined,
  maxBytes: number,
): Result<Uint8Array, InflateProblem> {
  const encodings = namedEncodings(contentEncoding);
  const [encoding] = encodings;
  if (encoding === undefined) return ok(body);
  const inflate = inflaters.get(encoding);
  if (inflate === undefined || encodings.length > 1) return err(unknownEncoding);
  try {
    return ok(inflate(body, { maxOutputLength: maxBytes }));
  } catch (error) {
    return err(
      isTooLarge(error) ? { reason: "inflated-too-large", detail: `over ${maxBytes} bytes` } : corrupt,
    );
  }
}

type Inflate = (body: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;

const inflaters: ReadonlyMap<string, Inflate> = new Map<string, Inflate>([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["deflate", (body, options) => (hasZlibHeader(body) ? inflateSync : inflateRawSync)(body, options)],
  ["br", brotliDecompressSync],
]);

const unknownEncoding: InflateProblem = {
  reason: "unknown-encoding",
  detail: "content-encoding: expected one of gzip, deflate, br, identity",
};

const corrupt: InflateProblem = {
  reason: "corrupt-encoding",
  detail: "the body is not what content-encoding says",
};

function namedEncodings(header: string | undefined): string[] {
  const names = (header ?? "").toLowerCase().split(",");
  return names.map((name) => name.trim()).filter((name) => name !== "" && name !== "identity");
}

// RFC 9110 means zlib's format by "deflate"; some senders leave its two header bytes out.
function hasZlibHeader(body: Uint8Array): boolean {
  const [first = 0, second = 0] = body;
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}
