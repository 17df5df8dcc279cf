/** The last of what was seen, up to a bound. */
export interface Recent {
  /** Whether it is new here. It is not from now on. */
  add(id: string): boolean;
}

export function createRecent(idsMax: number): Recent {
  const ids = new Set<string>();
  return {
    add: (id) => {
      if (ids.has(id)) return false;
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > idsMax && oldest !== undefined) ids.delete(oldest);
      return true;
    },
  };
}
