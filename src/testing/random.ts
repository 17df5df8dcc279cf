/** Numbers that a seed repeats, for stories without fast-check. */
export interface Random {
  /** A whole number from 0 to `end`, without `end`. */
  below(end: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** The same items in another order. */
  shuffled<Item>(items: readonly Item[]): Item[];
}

/** Mulberry32: short, and good enough to choose stories with. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    pick: <Item>(items: readonly Item[]) => items[below(items.length)] as Item,
    shuffled: (items) => {
      const keyed = items.map((item) => ({ item, key: next() }));
      return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
    },
  };
}
