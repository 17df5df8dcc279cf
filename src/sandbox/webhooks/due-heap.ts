/**
 * Items by the time when they are due: a binary heap, so that 100,000 pending retries cost one timer (its owner's, for
 * the first)
 * and not 100,000. Items due at the same time come out in the order in which they went in.
 */
export class DueHeap<T> {
  readonly #heap: Entry<T>[] = [];
  #added = 0;

  get size(): number {
    return this.#heap.length;
  }

  add(dueMs: number, item: T): void {
    this.#heap.push({ dueMs, order: this.#added++, item });
    this.#rise(this.#heap.length - 1);
  }

  /** The item that is due first; it stays. */
  first(): { readonly dueMs: number; readonly item: T } | undefined {
    return this.#heap[0];
  }

  /** Removes and returns the first item that is due at `nowMs`. */
  takeDue(nowMs: number): T | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.dueMs > nowMs) return undefined;
    const last = this.#heap.pop();
    if (last !== undefined && last !== first) {
      this.#heap[0] = last;
      this.#sink(0);
    }
    return first.item;
  }

  #rise(from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfEarlier(index, parent)) return;
      index = parent;
    }
  }

  #sink(from: number): void {
    let index = from;
    for (;;) {
      const left = 2 * index + 1;
      const earlierChild = this.#isEarlier(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfEarlier(earlierChild, index)) return;
      index = earlierChild;
    }
  }

  #isEarlier(one: number, other: number): boolean {
    const a = this.#heap[one];
    const b = this.#heap[other];
    if (a === undefined || b === undefined) return false;
    return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
  }

  #swapIfEarlier(lower: number, upper: number): boolean {
    const a = this.#heap[lower];
    const b = this.#heap[upper];
    if (a === undefined || b === undefined || !this.#isEarlier(lower, upper)) return false;
    this.#heap[lower] = b;
    this.#heap[upper] = a;
    return true;
  }
}

interface Entry<T> {
  dueMs: number;
  order: number;
  item: T;
}
