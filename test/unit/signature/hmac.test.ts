import * as fc from "fast-check";
import { createHmac, createSecretKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hmac } from "../../../src/signature/hmac.ts";

const algorithms = ["sha1", "sha256", "sha512"] as const;

function keyed(key: string | Buffer, text: string): string {
  return hmac("sha256", createSecretKey(Buffer.from(key)), null, text, "hex");
}

describe("HMAC", () => {
  it("gives the digests of RFC 4231 §4.2, §4.3 and §4.7", () => {
    expect(keyed(Buffer.alloc(20, 0x0b), "Hi There")).toBe(
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    );
    expect(keyed("Jefe", "what do ya want for nothing?")).toBe(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
    expect(keyed(Buffer.alloc(131, 0xaa), "Test Using Larger Than Block-Size Key - Hash Key First")).toBe(
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    );
  });

  it("is Node's own for any key, head and body, whatever was hashed before", () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
    const message = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string(),
      fc.constant(Buffer.alloc(40_000, 7)),
    );
    const head = fc.option(fc.uint8Array({ maxLength: 60 }));
    fc.assert(
      fc.property(fc.constantFrom(...algorithms), bytes, head, message, (algorithm, secret, before, body) => {
        const key = createSecretKey(secret);
        const expected = createHmac(algorithm, key)
          .update(before ?? "")
          .update(body);
        expect(hmac(algorithm, key, before, body, "base64")).toBe(expected.digest("base64"));
      }),
    );
  });
});
