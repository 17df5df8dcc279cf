import { monotonicMs, setImmediate } from "../shared/timers.ts";

/**
 * Group commit: deliveries that arrive at the same time share one transaction, so they wait for the disk only once. Each one
 * is answered after the commit.
 */
export interface Intake<Item, Answer> {
  /** Resolves with the item's own answer after its commit; `undefined` when the queue is full or closed. */
  submit(item: Item, bytes: number): Promise<Answer> | undefined;
  /** Accepts no more items. Resolves when all accepted ones are answered. */
  close(): Promise<void>;
  readonly size: number;
}

export interface IntakeLimits {
  /** How many items wait at most. */
  readonly itemsMax: number;
  /** How many bytes wait at most. */
  readonly bytesMax: number;
  /** How many items one commit holds at most. */
  readonly batchMax: number;
}

/**
 * @param commit answers every item of a batch, in order, after the commit; it never rejects
 * @param gatherMs how long a batch waits at most for items that are still arriving
 */
export function createIntake<Item, Answer>(
  commit: (batch: readonly Item[]) => Promise<readonly Answer[]>,
  limits: IntakeLimits,
  gatherMs = 5,
): Intake<Item, Answer> {
  let queue: Waiting<Item, Answer>[] = [];
  let queuedBytes = 0;
  let closed = false;
  let draining: Promise<void> | undefined;

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      await gather();
      const batch = queue.slice(0, limits.batchMax);
      queue = queue.slice(limits.batchMax);
      for (const { bytes } of batch) queuedBytes -= bytes;
      const answers = await commit(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
    }
    draining = undefined;
  }

  /**
   * Waits while each turn of the event loop brings more: requests that arrive together are read over several turns. It stops
   * after `gatherMs`, because the host's own work can make turns long, and when half of a limit is used.
   */
  async function gather(): Promise<void> {
    const deadline = monotonicMs() + gatherMs;
    let before: number;
    do {
      before = queue.length;
      await new Promise<void>((resolve) => setImmediate(resolve));
    } while (queue.length > before && hasRoom() && monotonicMs() < deadline);
  }

  function hasRoom(): boolean {
    const { batchMax, itemsMax, bytesMax } = limits;
    return queue.length < Math.min(batchMax, itemsMax / 2) && queuedBytes < bytesMax / 2;
  }

  return {
    submit(item, bytes) {
      if (closed || queue.length >= limits.itemsMax || queuedBytes + bytes > limits.bytesMax)
        return undefined;
      queuedBytes += bytes;
      return new Promise<Answer>((resolve) => {
        queue.push({ item, bytes, resolve });
        draining ??= drain();
      });
    },
    close: async () => {
      closed = true;
      await draining;
    },
    get size() {
      return queue.length;
    },
  };
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly bytes: number;
  readonly resolve: (answer: Answer) => void;
}
