import { describe, expect, it } from "vitest";
import type { Verdict } from "../../../../src/receiver/outcome.ts";
import { createUnverified, type HeldBody } from "../../../../src/receiver/body/unverified.ts";

const limits = { maxBodyBytes: 1000, bytesMax: 3000 };
const bytes = (count: number, fill = 1) => new Uint8Array(count).fill(fill);

/** A body that is being read, and the verdict that it was ended with. */
function reading(open: () => HeldBody, count: number): { body: HeldBody; ends: Verdict[] } {
  const body = open();
  const ends: Verdict[] = [];
  body.beginReading((verdict) => void ends.push(verdict));
  expect(body.add(bytes(count))).toBeUndefined();
  return { body, ends };
}

describe("a held body", () => {
  it("is its pieces one behind the other, whatever their sizes", () => {
    const whole = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 251));
    for (const size of [1, 2, 3, 7, 64, 999, 1000]) {
      const body = createUnverified(limits).open();
      for (let at = 0; at < whole.length; at += size) body.add(whole.subarray(at, at + size));
      expect(Buffer.from(body.bytes()).equals(whole)).toBe(true);
    }
  });

  it("keeps no piece itself: the host may use its buffer again", () => {
    const body = createUnverified(limits).open();
    const piece = bytes(3);
    body.add(piece);
    piece.fill(9);
    expect([...body.bytes()]).toEqual([1, 1, 1]);
  });

  it("counts for no more than twice its bytes, in whatever pieces they come, and for its limit at most", () => {
    for (const size of [1, 3, 100, 333]) {
      const body = createUnverified(limits).open();
      for (let length = size; length <= 1000; length += size) {
        expect(body.add(bytes(size))).toBeUndefined();
        expect(body.size()).toBeGreaterThanOrEqual(length);
        expect(body.size()).toBeLessThanOrEqual(Math.min(2 * length, 1000));
      }
    }
  });

  it("counts for no more than its one piece", () => {
    const body = createUnverified(limits).open();
    body.add(bytes(700));
    expect(body.size()).toBe(700);
  });

  it("is refused over its own limit, whole or in pieces, before anything is copied", () => {
    const body = createUnverified(limits).open();
    expect(body.keep(bytes(1001))).toMatchObject({ reason: "body-too-large" });
    expect(body.size()).toBe(0);
    body.add(bytes(999));
    expect(body.add(bytes(1))).toBeUndefined();
    expect(body.add(bytes(1))).toMatchObject({ outcome: "rejected", reason: "body-too-large" });
    expect(body.size()).toBe(1000);
  });
});

describe("all held bodies together", () => {
  it("stay within the bound, and give back what they held, once", () => {
    const { open } = createUnverified(limits);
    const held = [open(), open(), open()];
    for (const body of held) expect(body.keep(bytes(1000))).toBeUndefined();
    const late = open();
    expect(late.keep(bytes(1))).toMatchObject({ outcome: "failed", reason: "intake-full" });
    held[0]?.release();
    held[0]?.release();
    expect(late.keep(bytes(1000))).toBeUndefined();
    expect(open().keep(bytes(1))).toMatchObject({ reason: "intake-full" });
  });

  it("make room for a smaller one: the largest that is being read is ended", () => {
    const { open } = createUnverified(limits);
    const [small, large, middle] = [300, 1000, 900].map((count) => reading(open, count));
    const late = reading(open, 801);
    expect(large?.ends).toMatchObject([{ outcome: "failed", reason: "intake-full" }]);
    expect([small?.ends, middle?.ends, late.ends]).toEqual([[], [], []]);
    expect(large?.body.size()).toBe(0);
  });

  it("don't make room for what would be the largest itself", () => {
    const { open } = createUnverified(limits);
    const held = [1000, 1000, 900].map((count) => reading(open, count));
    const late = open();
    late.beginReading(() => {});
    expect(late.add(bytes(1000))).toMatchObject({ reason: "intake-full" });
    expect(held.flatMap(({ ends }) => ends)).toEqual([]);
  });

  it("don't make room by what is read already, whose signature is being checked", () => {
    const { open } = createUnverified(limits);
    const held = [1000, 1000, 1000].map((count) => reading(open, count));
    for (const { body } of held) body.endReading();
    expect(open().keep(bytes(1))).toMatchObject({ reason: "intake-full" });
    expect(held.flatMap(({ ends }) => ends)).toEqual([]);
  });

  it("let a flood of large ones shut no small one out, however many come", () => {
    const { open } = createUnverified(limits);
    for (let round = 0; round < 500; round++) {
      const flood = open();
      flood.beginReading(() => {});
      flood.add(bytes(600 + (round % 400)));
      const genuine = open();
      expect(genuine.keep(bytes(200))).toBeUndefined();
      genuine.release();
    }
  });

  it("that are being read are ended when the mirror closes", () => {
    const { open, close } = createUnverified(limits);
    const { ends } = reading(open, 10);
    close();
    expect(ends).toMatchObject([{ outcome: "failed", reason: "closed" }]);
  });
});
