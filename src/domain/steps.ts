/**
 * Work that may be large, in steps of some milliseconds: whoever drives it decides what happens between two of them. It
 * stays pure, for it waits for nothing itself.
 */
export type Steps<Result> = Generator<undefined, Result>;

/** Does all steps at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** How many items one step takes. */
export const stepItems = 256;

/** Sorts stably: runs of one step each, which are then merged two by two. */
export function* sortInSteps<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<Item[]> {
  let runs: Item[][] = [];
  for (let start = 0; start < items.length; start += stepItems) {
    if (start > 0) yield;
    runs.push(items.slice(start, start + stepItems).sort(compare));
  }
  // Each round leaves half as many.
  for (let count = runs.length; count > 1; count = Math.ceil(count / 2)) {
    const merged: Item[][] = [];
    for (const [place, run] of runs.entries()) {
      if (place % 2 === 1) continue;
      const next = runs[place + 1];
      merged.push(next === undefined ? run : yield* mergeInSteps(run, next, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergeInSteps<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<Item[]> {
  const merged: Item[] = [];
  let [l, r] = [0, 0];
  for (let rest = left.length + right.length; rest > 0; rest--) {
    const [fromLeft, fromRight] = [left[l], right[r]];
    // Of equal ones the left goes first: that is what makes it stable.
    const isLeft =
      r >= right.length || (l < left.length && compare(fromLeft as Item, fromRight as Item) <= 0);
    merged.push((isLeft ? fromLeft : fromRight) as Item);
    if (isLeft) l++;
    else r++;
    if (merged.length % stepItems === 0) yield;
  }
  return merged;
}
