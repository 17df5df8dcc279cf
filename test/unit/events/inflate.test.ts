import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { inflateBody } from "../../../src/events/inflate.ts";

const plain = Buffer.from(`{"event":"webhook.test"}`.repeat(50));
const maxBytes = 2_048;
const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

function inflated(body: Uint8Array, encoding: string | undefined): Buffer {
  const result = inflateBody(body, encoding, maxBytes);
  if (!result.ok) throw new Error(result.error.detail);
  return Buffer.from(result.value);
}

function reasonOf(body: Uint8Array, encoding: string, bound = maxBytes): string {
  const result = inflateBody(body, encoding, bound);
  return result.ok ? "ok" : result.error.reason;
}

describe("inflateBody", () => {
  it.each([undefined, "", "identity", " Identity ,", "identity, identity"])(
    "leaves the body alone for %j",
    (encoding) => {
      const result = inflateBody(plain, encoding, 1);
      expect(result.ok && result.value).toBe(plain);
    },
  );

  it.each([
    ["gzip", gzipSync(plain)],
    ["GZip ", gzipSync(plain)],
    ["x-gzip", gzipSync(plain)],
    ["identity, gzip", gzipSync(plain)],
    ["deflate", deflateSync(plain)],
    ["deflate", deflateRawSync(plain)],
    ["br", brotliCompressSync(plain)],
  ])("undoes %s", (encoding, body) => {
    expect(inflated(body, encoding)).toEqual(plain);
  });

  it.each(["zstd", "gzip, gzip", "gzip, br", "compress", "__proto__", "gzip;q=1"])(
    "does not know %s",
    (encoding) => {
      expect(reasonOf(gzipSync(plain), encoding)).toBe("unknown-encoding");
    },
  );

  it.each([
    ["gzip", gzipSync(plain)],
    ["deflate", deflateSync(plain)],
    ["br", brotliCompressSync(plain)],
  ])("names a body that is no %s, or half of one, corrupt", (encoding, whole) => {
    expect(reasonOf(plain, encoding)).toBe("corrupt-encoding");
    expect(reasonOf(whole.subarray(0, -5), encoding)).toBe("corrupt-encoding");
    expect(reasonOf(new Uint8Array(), encoding)).toBe("corrupt-encoding");
  });

  it("gives exactly as many bytes as allowed, and not one more", () => {
    expect(reasonOf(gzipSync(plain), "gzip", plain.length)).toBe("ok");
    expect(reasonOf(gzipSync(plain), "gzip", plain.length - 1)).toBe("inflated-too-large");
  });

  it("stops a bomb at the bound, with flat memory", () => {
    const zeros = Buffer.alloc(64_000_000);
    const bombs = [gzipSync(zeros), brotliCompressSync(zeros, quick)] as const;
    const before = process.memoryUsage();
    expect(reasonOf(bombs[0], "gzip", 1_048_576)).toBe("inflated-too-large");
    expect(reasonOf(bombs[1], "br", 1_048_576)).toBe("inflated-too-large");
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(32_000_000);
  });
});
