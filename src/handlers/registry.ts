/**
 * The handlers that this process runs, and their rows in `subscriptions`. Every process that commits adds jobs by these rows.
 * A new handler gets the deliveries since this mirror was created, or since its own `since`. Those that are older than its
 * row are read page by page. Each page is read under a lock that commits wait for: so no delivery is missed or comes twice.
 */
import type { Clock } from "../shared/clock.ts";
import { isEscrowMirrorError, nameOfError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { err, settle } from "../shared/result.ts";
import { createTurns } from "../shared/turns.ts";
import type { Store } from "../store/store.ts";
import { nameTaken, type Handler } from "./handler.ts";
import { turnPage } from "./older-news.ts";
import { registerAll } from "./register.ts";

export interface Registry {
  /** Adds a handler. Its row is written before this process commits anything more. The returned function stops it. */
  add(handler: Handler): () => void;
  /** The handler of that name, if this process runs it. */
  get(name: string): Handler | undefined;
  /** Handlers whose jobs this process may take. */
  names(): readonly string[];
  /** The names of the handlers whose rows this process has written, or found. */
  written(): readonly string[];
  /** Stops a handler in this process. */
  stop(handler: Handler): void;
  /** Writes the missing rows. Rejects with `store-unavailable` if the store is away. */
  ensure(): Promise<void>;
  /**
   * Resolves when all rows are written and older deliveries are read. Rejects with the error of the first refused handler, or
   * with the store's if it fails again and again.
   */
  caughtUp(): Promise<void>;
  /** For `health()`: handlers that were refused. */
  warnings(): readonly string[];
  /** Stops reading older deliveries. */
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
  const { store, logger, onJobs } = parts;
  const handlers = new Map<string, Handler>();
  const unwritten = new Set<Handler>();
  const refused = new Map<string, Error>();
  /** Handlers whose older deliveries are not all read. */
  const behind = new Set<string>();
  let writing: Promise<void> | undefined;
  let closed = false;

  async function writeAll(): Promise<void> {
    for (let page = nextPage(); page.length > 0; page = nextPage()) {
      const written = await settle(() => store.transaction((tx) => registerAll(tx, page, parts)));
      if (!written.ok && isEscrowMirrorError(written.error, "store-unavailable", "closed"))
        throw written.error;
      const failed = written.ok ? [] : page.map((handler) => ({ handler, ...err(written.error as Error) }));
      for (const each of written.ok ? written.value : failed) {
        unwritten.delete(each.handler);
        if (each.ok) accept(each.handler, each.value);
        else refuse(each.handler, each.error);
      }
    }
  }

  /** Handlers without `since` share a transaction, so that a thousand of them don't delay the first delivery. */
  function nextPage(): readonly Handler[] {
    const [first] = unwritten;
    if (first === undefined || first.since !== undefined) return first === undefined ? [] : [first];
    return [...unwritten].filter(({ since }) => since === undefined).slice(0, pageRows);
  }

  function accept({ name }: Handler, isBehind: boolean): void {
    refused.delete(name);
    onJobs();
    if (!isBehind) return;
    behind.add(name);
    turns.soon();
  }

  function refuse(handler: Handler, error: Error): void {
    if (handlers.get(handler.name) === handler) handlers.delete(handler.name);
    refused.set(handler.name, error);
    logger.error({ step: "notify", handler: handler.name }, error.message);
  }

  function isWanted(name: string): boolean {
    return !closed && handlers.has(name);
  }

  /** Writes the missing rows: in a process that receives nothing, nothing else does. Then it reads one page. */
  async function goOn(): Promise<void> {
    await ensure();
    const [name] = behind;
    if (name === undefined) return;
    // Where its page fails, the others go first the next time.
    behind.delete(name);
    behind.add(name);
    if (!isWanted(name) || (await readPage(name))) behind.delete(name);
    onJobs();
    if (behind.size > 0) turns.soon();
  }

  function stop(handler: Handler): void {
    if (handlers.get(handler.name) === handler) handlers.delete(handler.name);
    unwritten.delete(handler);
  }

  /** Resolves with whether it was the last. */
  const readPage = (name: string): Promise<boolean> =>
    store.transaction(async (tx) => {
      await tx.jobs.lockSubscriptions("exclusive");
      return turnPage(tx, name);
    });

  const turns = createTurns(
    goOn,
    () => !closed,
    (error) =>
      logger.error(
        { step: "notify", error: nameOfError(error) },
        "handlers can't be registered now, or can't read older deliveries: trying again",
      ),
  );

  const ensure = (): Promise<void> => {
    if (unwritten.size === 0) return Promise.resolve();
    return (writing ??= writeAll().finally(() => (writing = undefined)));
  };

  return {
    add(handler) {
      if (handlers.has(handler.name)) throw nameTaken(handler.name);
      handlers.set(handler.name, handler);
      unwritten.add(handler);
      turns.soon();
      return () => stop(handler);
    },
    get: (name) => handlers.get(name),
    names: () => [...handlers.keys()],
    written: () => [...handlers.values()].filter((each) => !unwritten.has(each)).map(({ name }) => name),
    stop,
    ensure,
    caughtUp: async () => {
      await turns.over();
      const [error] = refused.values();
      if (error !== undefined) throw error;
    },
    warnings: () => [...refused.values()].map(({ message }) => message),
    close: async () => {
      closed = true;
      await settle(() => turns.over());
    },
  };
}
