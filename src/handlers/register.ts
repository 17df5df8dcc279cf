/** Writes the rows of handlers in `subscriptions`. From the commit on, every process adds jobs for them. */
import { isDeepStrictEqual } from "node:util";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { err, ok, type Result } from "../shared/result.ts";
import type { StoreTransaction } from "../store/store.ts";
import type { Handler } from "./handler.ts";
import { seqBefore, turnPage } from "./older-news.ts";

export interface RegisterParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The `seq` of the newest delivery when the mirror was created. */
  readonly startAt: number;
}

/** A handler, and whether it has older deliveries left to read, or why it was refused. */
export type Registered = Result<boolean, Error> & { readonly handler: Handler };

export async function registerAll(
  tx: StoreTransaction,
  handlers: readonly Handler[],
  parts: RegisterParts,
): Promise<readonly Registered[]> {
  await tx.jobs.lockSubscriptions("exclusive");
  const all: Registered[] = [];
  for (const handler of handlers) all.push({ handler, ...(await register(tx, handler, parts)) });
  return all;
}

async function register(
  tx: StoreTransaction,
  handler: Handler,
  parts: RegisterParts,
): Promise<Result<boolean, Error>> {
  const { name, kind, filter } = handler;
  const [known] = await tx.lookup("subscriptions", "name", [name]);
  if (known === undefined) return ok(await insert(tx, handler, parts));
  if (known.kind !== kind) return err(otherKind(name, known.kind, kind));
  if (!isDeepStrictEqual(known.filter, filter)) {
    parts.logger.warn({ step: "notify", handler: name }, "the handler has another filter from now on");
    await tx.updateEach("subscriptions", "name", [{ name, filter }]);
  }
  return ok(known.cursor !== null);
}

/** Resolves with whether older deliveries are left to read. */
async function insert(
  tx: StoreTransaction,
  { name, kind, filter, since }: Handler,
  { clock, startAt }: RegisterParts,
): Promise<boolean> {
  const cursor = since === undefined ? startAt : await seqBefore(tx, since);
  await tx.insert("subscriptions", [{ name, kind, filter, cursor, createdAt: toIsoTime(clock.now()) }]);
  return !(await turnPage(tx, name));
}

function otherKind(name: string, known: string, given: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "invalid-configuration",
    `handler ${name} is registered with the kind ${known} and can't change to ${given}: use another name, or end the old handler with mirror.handlers.remove("${name}")`,
  );
}
