/** Promises that resolve once something holds. Whoever changes things calls `tell`. */
export class Waiters {
  readonly #waiting = new Set<{ done: () => boolean; resolve: () => void }>();

  when(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve) => void this.#waiting.add({ done, resolve }));
  }

  tell(): void {
    for (const waiter of this.#waiting) if (waiter.done()) this.#release(waiter);
  }

  /** The end: nobody waits any longer. */
  releaseAll(): void {
    for (const waiter of this.#waiting) this.#release(waiter);
  }

  #release(waiter: { done: () => boolean; resolve: () => void }): void {
    this.#waiting.delete(waiter);
    waiter.resolve();
  }
}
