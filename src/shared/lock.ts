/** One at a time, in the order of asking. */
export interface Lock {
  /** Resolves with the way to let go, once it is one's turn. */
  acquire(): Promise<() => void>;
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createLock(): Lock {
  let tail: Promise<void> = Promise.resolve();
  const acquire = async (): Promise<() => void> => {
    const before = tail;
    let release!: () => void;
    tail = new Promise((resolve) => (release = resolve));
    await before;
    return release;
  };
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    const release = await acquire();
    try {
      return await work();
    } finally {
      release();
    }
  };
  return { acquire, run };
}
