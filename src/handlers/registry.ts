/**
 * Which handlers this process runs, and their rows: every process that commits writes jobs by these rows. A new handler gets
 * what was received since this mirror was created, or since a time of its own. Deliveries older than its row are read page by
 * page. Each page holds the lock that keeps commits out: so none is missed, and none comes twice.
 */

import { isDeepStrictEqual } from "node:util";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { EscrowMirrorError, isEscrowMirrorError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { createPace } from "../shared/pace.ts";
import { settle } from "../shared/result.ts";
import { sleep } from "../shared/timers.ts";
import { holdPayloads } from "../store/payload.ts";
import type { Store, StoreTransaction, Stretch } from "../store/store.ts";
import { allBut } from "../store/tables.ts";
import type { DeliveryRow } from "../store/tables/deliveries.ts";
import type { Handler } from "./handler.ts";
import { newsOf } from "./older-news.ts";
import { jobsFor, type Subscription } from "./subscription.ts";

export interface Registry {
  /** Adds a handler at once; its row is written before this process commits anything more. Gives the way to stop it. */
  add(handler: Handler): () => void;
  /** The handler of that name, if this process runs it. */
  get(name: string): Handler | undefined;
  /** Handlers whose jobs this process may take. */
  names(): readonly string[];
  /** Writes the rows that are not written yet. Rejects with `store-unavailable` where it can't now. */
  ensure(): Promise<void>;
  /** Resolves when every row is written, and its older deliveries are read. Rejects with the reason of the first that was refused. */
  caughtUp(): Promise<void>;
  /** For `health()`: handlers that were refused. */
  warnings(): readonly string[];
  /** Stops going through older deliveries. */
  close(): Promise<void>;
}

export interface RegistryParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when jobs were added. */
  readonly onJobs: () => void;
  /** The `seq` of the newest delivery when the mirror was created. */
  readonly startAt: number;
}

const pageRows = 200;

export function createRegistry(parts: RegistryParts): Registry {
  const { store, clock, logger, onJobs } = parts;
  const handlers = new Map<string, Handler>();
  const unwritten = new Set<Handler>();
  const refused = new Map<string, Error>();
  let writing: Promise<void> | undefined;
  let catching: Promise<void> = Promise.resolve();
  let closed = false;

  async function writeAll(): Promise<void> {
    for (let page = nextPage(); page.length > 0; page = nextPage()) {
      const written = await settle(() => store.transaction((tx) => registerAll(tx, page)));
      if (!written.ok && isEscrowMirrorError(written.error, "store-unavailable", "closed"))
        throw written.error;
      for (const [index, handler] of page.entries()) {
        const error = written.ok ? written.value[index] : (written.error as Error);
        unwritten.delete(handler);
        if (error === undefined) catchUp(handler.name);
        else refuse(handler, error);
      }
    }
  }

  /** Handlers that start now share a transaction, so that a thousand of them don't hold up the first delivery. */
  function nextPage(): readonly Handler[] {
    const [first] = unwritten;
    if (first === undefined || first.since !== undefined) return first === undefined ? [] : [first];
    return [...unwritten].filter(({ since }) => since === undefined).slice(0, pageRows);
  }

  /** Gives the reason of each that is refused, at its place. */
  async function registerAll(
    tx: StoreTransaction,
    page: readonly Handler[],
  ): Promise<readonly (Error | undefined)[]> {
    await tx.jobs.lockSubscriptions("exclusive");
    const reasons: (Error | undefined)[] = [];
    for (const handler of page) reasons.push(await register(tx, handler));
    return reasons;
  }

  function refuse(handler: Handler, error: Error): void {
    if (handlers.get(handler.name) === handler) handlers.delete(handler.name);
    refused.set(handler.name, error);
    logger.error({ step: "notify", handler: handler.name }, error.message);
  }

  /** Gives the reason where it is refused. */
  async function register(
    tx: StoreTransaction,
    { name, kind, filter, since }: Handler,
  ): Promise<Error | undefined> {
    const [known] = await tx.lookup("subscriptions", "name", [name]);
    if (known === undefined) {
      const cursor = since === undefined ? parts.startAt : await seqBefore(tx, since);
      await tx.insert("subscriptions", [{ name, kind, filter, cursor, createdAt: toIsoTime(clock.now()) }]);
      await turnPage(tx, name);
      return undefined;
    }
    if (known.kind !== kind) return otherKind(name, known.kind, kind);
    if (isDeepStrictEqual(known.filter, filter)) return undefined;
    logger.warn({ step: "notify", handler: name }, "the handler has another filter from now on");
    await tx.updateEach("subscriptions", "name", [{ name, filter }]);
    return undefined;
  }

  function isWanted(name: string): boolean {
    return !closed && handlers.has(name);
  }

  function catchUp(name: string): void {
    const more = (): Promise<boolean> =>
      store.transaction(async (tx) => {
        await tx.jobs.lockSubscriptions("exclusive");
        return turnPage(tx, name);
      });
    const goOn = async (): Promise<void> => {
      while (isWanted(name) && !(await whenItCan(more))) onJobs();
      onJobs();
    };
    catching = catching.then(goOn);
  }

  const ensure = (): Promise<void> => {
    if (unwritten.size === 0) return Promise.resolve();
    return (writing ??= writeAll().finally(() => (writing = undefined)));
  };

  return {
    add(handler) {
      if (handlers.has(handler.name)) throw taken(handler.name);
      handlers.set(handler.name, handler);
      unwritten.add(handler);
      // The next call of ensure() rejects with it.
      ensure().catch(() => undefined);
      return () => {
        if (handlers.get(handler.name) === handler) handlers.delete(handler.name);
        unwritten.delete(handler);
      };
    },
    get: (name) => handlers.get(name),
    names: () => [...handlers.keys()],
    ensure,
    caughtUp: async () => {
      await ensure();
      await catching;
      const [error] = refused.values();
      if (error !== undefined) throw error;
    },
    warnings: () => [...refused.values()].map(({ message }) => message),
    close: async () => {
      closed = true;
      await catching;
    },
  };
}

/** Whether the handler has caught up. */
async function turnPage(tx: StoreTransaction, name: string): Promise<boolean> {
  const [row] = await tx.lookup("subscriptions", "name", [name]);
  if (row === undefined || row.cursor === null) return true;
  const page = await tx.find("deliveries", {
    where: [{ field: "seq", op: ">", value: row.cursor }],
    orderBy: ["seq"],
    limit: pageRows,
  });
  const subscription = row as Subscription;
  const jobs = jobsFor([subscription], await newsOf(tx, page, subscription.filter));
  await holdPayloads(
    tx,
    jobs.flatMap(({ contentKey }) => contentKey ?? []),
  );
  await tx.jobs.insert(jobs);
  const cursor = page.length < pageRows ? null : (page.at(-1)?.seq ?? null);
  await tx.updateEach("subscriptions", "name", [{ name, cursor }]);
  return cursor === null;
}

/** The store may be away for a while: the pages that are done stay done. */
async function whenItCan(work: () => Promise<boolean>): Promise<boolean> {
  const done = await settle(work);
  if (done.ok) return done.value;
  if (!isEscrowMirrorError(done.error, "store-unavailable")) return true;
  await sleep(1000);
  return false;
}

/** Deliveries commit in another order than they arrive. But each commits within this time, even where clocks differ. */
const outOfOrderMs = 60_000;

/**
 * Where a handler with `since` begins: before the least number among the deliveries of the first minute. It reads the index
 * of arrivals in pages, so its cost depends on the deliveries of that minute alone.
 */
async function seqBefore(tx: StoreTransaction, since: string): Promise<number> {
  const pace = createPace();
  const without = allBut("deliveries", ["receivedAt", "seq"]);
  let least = Number.MAX_SAFE_INTEGER;
  let stretch: Pick<Stretch<DeliveryRow>, "from" | "after" | "until"> = { from: since };
  for (;;) {
    const asked = { by: ["receivedAt", "seq"], ...stretch, rowsMax: pageRows } as const;
    const rows = await tx.walk("deliveries", asked, { without });
    for (const { seq } of rows) least = Math.min(least, seq);
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined || rows.length < pageRows) break;
    const until = stretch.until ?? toIsoTime(Date.parse(first.receivedAt) + outOfOrderMs);
    stretch = { after: [last.receivedAt, last.seq], until };
    await pace();
  }
  return least === Number.MAX_SAFE_INTEGER ? least : least - 1;
}

function otherKind(name: string, known: string, given: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "invalid-configuration",
    `handler ${name} is registered with the kind ${known} and can't change to ${given}: use another name, or end the old handler with mirror.handlers.remove("${name}")`,
  );
}

function taken(name: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "invalid-argument",
    `a handler named ${name} is registered in this process already: names are unique`,
  );
}
