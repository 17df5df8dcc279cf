import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contentKeyOf } from "../../../../src/receiver/deliveries/content-key.ts";
import { eventBody, sha256 } from "../../../support/delivery.ts";

const keyOf = (body: Uint8Array | string) => contentKeyOf(Buffer.from(body), sha256(body));

describe("a content key", () => {
  it("is the body's first minute, then its digest", () => {
    const body = eventBody("contract.created", { createdAt: "2026-01-19T14:30:59.1234567Z", seconds: 0 });
    expect(keyOf(body)).toBe(`202601191430${sha256(body)}`);
  });

  it("sorts by the minute in the body, whatever the digests", () => {
    const times = [
      "2025-12-31T23:59:00Z",
      "2026-01-01T00:00:00Z",
      "2026-01-01T00:01:00Z",
      "2026-10-01T00:00:00Z",
    ];
    const keys = times.map((createdAt) => keyOf(eventBody("contract.created", { createdAt, seconds: 0 })));
    expect(keys.toSorted()).toEqual(keys);
  });

  it.each([
    ["no time", '{"id":"e-1"}'],
    ["a time far from the beginning", " ".repeat(512) + "2026-01-19T14:30:59Z"],
    ["compressed bytes", gzipSync('"2026-01-19T14:30:59Z"')],
    ["no bytes", ""],
  ])("of %s begins with zeros", (__, body) => {
    expect(keyOf(body)).toBe(`000000000000${sha256(body)}`);
  });

  it("hangs on the bytes alone, not on the memory that they lie in", () => {
    const body = Buffer.from(eventBody("contract.created", { seconds: 0 }));
    const amid = Buffer.concat([Buffer.from("1999-12-31T23:59"), body, Buffer.from("later")]);
    const view = new Uint8Array(amid.buffer, amid.byteOffset + 16, body.byteLength);
    expect(contentKeyOf(view, sha256(body))).toBe(keyOf(body));
  });

  it("is hex of one length for any bytes, and told apart by the digest", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(keyOf(bytes)).toMatch(/^[0-9a-f]{76}$/);
        expect(keyOf(bytes).endsWith(sha256(bytes))).toBe(true);
      }),
    );
  });
});
