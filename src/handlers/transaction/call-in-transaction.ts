/** Handlers that run in the delivery's own transaction. Their rows are committed with the delivery, or not at all. */
import type { Logger } from "../../shared/logger.ts";
import type { Lent, StoreTransaction } from "../../store/store.ts";
import { callInTime } from "../call-in-time.ts";
import type { Handler } from "../handler.ts";
import type { HandlerScope } from "../handler-scope.ts";
import { readable } from "../thrown.ts";

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

/** Rejects with what the handler threw, or with a `TimeoutError`. If the store failed meanwhile, with the store's error. */
export async function callInTransaction(
  tx: StoreTransaction,
  { handler, event, idempotencyKey, timeoutMs }: Call,
  scope: HandlerScope,
  logger: Logger,
): Promise<void> {
  const lent = tx.lend();
  const { trx, connection } = lent;
  const call = (signal: AbortSignal): Promise<unknown> => {
    const context: TransactionContext = { trx, connection, idempotencyKey, signal, logger };
    return scope.transaction(tx, async () => handler.run(event as never, context as never));
  };
  try {
    await callInTime({ handler: handler.name, timeoutMs }, call);
  } catch (thrown) {
    const error = readable(thrown);
    throw lent.faultOf(error) ?? error;
  } finally {
    lent.takeBack();
  }
}
