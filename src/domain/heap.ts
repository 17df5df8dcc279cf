/** Whole numbers, of which the least comes out first. */
export interface Heap {
  push(value: number): void;
  /** The least, taken out; `undefined` when there is none. */
  pop(): number | undefined;
}

/** A binary heap: each value costs the logarithm of how many there are. */
export function createHeap(): Heap {
  const values: number[] = [];
  const at = (index: number): number => values[index] ?? Number.POSITIVE_INFINITY;

  function swap(a: number, b: number): void {
    [values[a], values[b]] = [at(b), at(a)];
  }

  function rise(index: number): void {
    const parent = (index - 1) >> 1;
    if (index === 0 || at(parent) <= at(index)) return;
    swap(parent, index);
    rise(parent);
  }

  function sink(index: number): void {
    const [left, right] = [2 * index + 1, 2 * index + 2];
    const least = at(right) < at(left) ? right : left;
    if (at(index) <= at(least)) return;
    swap(index, least);
    sink(least);
  }

  return {
    push(value) {
      values.push(value);
      rise(values.length - 1);
    },
    pop() {
      const [least] = values;
      const last = values.pop();
      if (values.length > 0 && last !== undefined) {
        values[0] = last;
        sink(0);
      }
      return least;
    },
  };
}
