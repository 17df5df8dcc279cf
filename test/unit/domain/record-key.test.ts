import { describe, expect, it } from "vitest";
import { recordKey } from "../../../src/domain/record-key.ts";
import { encodeText } from "../../../src/store/stored-text.ts";
import { event, foldOf } from "../../support/delivery.ts";

const bytesOf = (key: string): number => Buffer.byteLength(encodeText(key));

const paid = (milestoneId: string, paymentId: string) =>
  event("milestone.payment.completed", { seconds: 0, milestoneId, paymentId });

/** 255 units, each as long as it can get: three bytes, or five for a character that no database holds. */
const worstIds = {
  "CJK ideographs": "餐".repeat(255),
  "lone surrogates": "\ud800".repeat(255),
  "control characters": "\u0000".repeat(255),
  "escape characters": "\u0010".repeat(255),
  emoji: "🎉".repeat(127),
  "quotes and slashes": `"\\/`.repeat(85),
};

describe("the key of a record", () => {
  it.each(Object.entries(worstIds))("is bounded in bytes whatever the ids hold: %s", (_, id) => {
    expect(bytesOf(recordKey(id, id, id))).toBeLessThanOrEqual(360);
    for (const length of [1, 20, 39, 60, 119, 130, 254])
      expect(bytesOf(recordKey(id.slice(0, length), "x"))).toBeLessThanOrEqual(360);
  });

  it("tells any two lists of parts apart, short and long", () => {
    const long = "x".repeat(200);
    const lists = [
      ["a/b", "c"],
      ["a", "b/c"],
      ["a", "b", "c"],
      [null, "a"],
      ["null", "a"],
      ["", "a"],
      ['a","b', "c"],
      [long, "a"],
      [`${long}a`, ""],
      [long, "b"],
      [recordKey(long, "a")],
    ];
    expect(new Set(lists.map((parts) => recordKey(...parts))).size).toBe(lists.length);
  });

  it("keeps payments apart whose ids only look alike when they are put together", () => {
    expect(foldOf(paid("a/b", "c"), paid("a", "b/c")).payments.size).toBe(2);
  });

  it("leaves the ids themselves whole", () => {
    const id = worstIds["lone surrogates"];
    const [payment] = foldOf(paid(id, id)).payments.values();
    expect(payment).toMatchObject({ paymentId: id, milestoneId: id });
  });
});

const ofLength = (length: number) => recordKey("x".repeat(length - '[""]'.length));

it("a key of up to 120 characters stands as it is, a longer one as its digest in hex", () => {
  expect(ofLength(120)).toBe(`["${"x".repeat(116)}"]`);
  expect(ofLength(121)).toMatch(/^sha256:[0-9a-f]{64}$/);
});
