/** Writes the rows of handlers in `subscriptions`. From the commit on, every process adds jobs for them. */
import { isDeepStrictEqual } from "node:util";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import type { StoreTransaction } from "../store/store.ts";
import type { Handler } from "./handler.ts";
import { seqBefore, turnPage } from "./older-news.ts";

export interface RegisterParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The `seq` of the newest delivery when the mirror was created. */
  readonly startAt: number;
}

/** Resolves with one entry for each handler: the error of a refused one, else `undefined`. */
export async function registerAll(
  tx: StoreTransaction,
  handlers: readonly Handler[],
  parts: RegisterParts,
): Promise<readonly (Error | undefined)[]> {
  await tx.jobs.lockSubscriptions("exclusive");
  const reasons: (Error | undefined)[] = [];
  for (const handler of handlers) reasons.push(await register(tx, handler, parts));
  return reasons;
}

async function register(
  tx: StoreTransaction,
  handler: Handler,
  parts: RegisterParts,
): Promise<Error | undefined> {
  const { name, kind, filter } = handler;
  const [known] = await tx.lookup("subscriptions", "name", [name]);
  if (known === undefined) return insert(tx, handler, parts);
  if (known.kind !== kind) return otherKind(name, known.kind, kind);
  if (isDeepStrictEqual(known.filter, filter)) return undefined;
  parts.logger.warn({ step: "notify", handler: name }, "the handler has another filter from now on");
  await tx.updateEach("subscriptions", "name", [{ name, filter }]);
  return undefined;
}

async function insert(
  tx: StoreTransaction,
  { name, kind, filter, since }: Handler,
  { clock, startAt }: RegisterParts,
): Promise<undefined> {
  const cursor = since === undefined ? startAt : await seqBefore(tx, since);
  await tx.insert("subscriptions", [{ name, kind, filter, cursor, createdAt: toIsoTime(clock.now()) }]);
  await turnPage(tx, name);
}

function otherKind(name: string, known: string, given: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "invalid-configuration",
    `handler ${name} is registered with the kind ${known} and can't change to ${given}: use another name, or end the old handler with mirror.handlers.remove("${name}")`,
  );
}
