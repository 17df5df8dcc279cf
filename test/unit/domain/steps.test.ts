import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHeap } from "../../../src/domain/heap.ts";
import { finish, sortInSteps, stepItems } from "../../../src/domain/steps.ts";

interface Numbered {
  readonly key: number;
  readonly place: number;
}

const byKey = (a: Numbered, b: Numbered): number => a.key - b.key;

const pausesOf = (count: number): number => [...sortInSteps(numbered(count, 97), byKey)].length;

function numbered(count: number, keys: number): Numbered[] {
  return Array.from({ length: count }, (_, place) => ({ key: (place * 7919) % keys, place }));
}

describe("sorting in steps", () => {
  it.each([
    0,
    1,
    2,
    stepItems - 1,
    stepItems,
    stepItems + 1,
    2 * stepItems,
    3 * stepItems + 5,
    5 * stepItems + 1,
  ])("of %i items gives what sorting at once gives, equal ones in the order in which they were", (count) => {
    for (const keys of [1, 3, 1009]) {
      const items = numbered(count, keys);
      expect(finish(sortInSteps(items, byKey))).toEqual(items.toSorted(byKey));
    }
  });

  it("leaves what it is given as it was", () => {
    const items = Object.freeze(numbered(2000, 11));
    expect(finish(sortInSteps(items, byKey))).toHaveLength(2000);
  });

  it("pauses between its steps, and not for what takes one", () => {
    expect(pausesOf(stepItems)).toBe(0);
    // Between the runs, and for each 256 items of the three rounds of merging.
    expect(pausesOf(8 * stepItems)).toBe(7 + 3 * 8);
  });
});

describe("a heap", () => {
  it("gives the least first, whatever was put in and taken out before", () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer(), { freq: 3 })), (steps) => {
        const heap = createHeap();
        let model: number[] = [];
        for (const step of steps) {
          if (step === null) {
            const [least] = model;
            model = model.slice(1);
            expect(heap.pop()).toBe(least);
          } else {
            heap.push(step);
            model = [...model, step].sort((a, b) => a - b);
          }
        }
        for (const least of model) expect(heap.pop()).toBe(least);
        expect(heap.pop()).toBeUndefined();
      }),
    );
  });
});
