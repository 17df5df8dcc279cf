/** Handlers that run in the delivery's own transaction. Their rows are committed with the delivery, or not at all. */
import type { Logger } from "../shared/logger.ts";
import { clearTimeout, setTimeout } from "../shared/timers.ts";
import type { Lent, StoreTransaction } from "../store/store.ts";
import type { Handler } from "./handler.ts";
import type { Inside } from "./inside.ts";
import { readable } from "./outcome.ts";

/** The second argument of an `inTransaction` handler. */
export interface TransactionContext extends Pick<Lent, "trx" | "connection"> {
  /** The same for every attempt at one delivery. */
  readonly idempotencyKey: string;
  /** Aborted when the handler's time is over. The transaction is then rolled back. */
  readonly signal: AbortSignal;
  /** The mirror's logger. */
  readonly logger: Logger;
}

export interface Call {
  readonly handler: Handler;
  readonly event: unknown;
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
}

/** Rejects with what the handler threw, with a `TimeoutError`, or with the store's own fault where one was in the way. */
export async function callInTransaction(
  tx: StoreTransaction,
  { handler, event, idempotencyKey, timeoutMs }: Call,
  inside: Inside,
  logger: Logger,
): Promise<void> {
  const lent = tx.lend();
  const controller = new AbortController();
  const { signal } = controller;
  const { trx, connection } = lent;
  const context: TransactionContext = { trx, connection, idempotencyKey, signal, logger };
  const timer = setTimeout(() => controller.abort(timedOut(handler.name, timeoutMs)), timeoutMs);
  const over = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
  try {
    const running = inside.transaction(tx, async () => handler.run(event as never, context as never));
    await Promise.race([running, over]);
  } catch (thrown) {
    const error = readable(thrown);
    throw lent.faultOf(error) ?? error;
  } finally {
    clearTimeout(timer);
    lent.takeBack();
  }
}

export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

function timedOut(name: string, timeoutMs: number): Error {
  return new DOMException(`handler ${name} did not end within ${timeoutMs} ms`, "TimeoutError");
}
