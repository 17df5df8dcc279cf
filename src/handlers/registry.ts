/**
 * The handlers that this process runs, and their rows in `subscriptions`. Each commit adds jobs for all these rows, in
 * whatever process it runs. A new handler also gets deliveries that were stored before its row was: those since this mirror
 * was created, or since its own `since`. They are read page by page. Commits wait while a page is read. So the handler misses
 * no delivery, and gets none twice.
 */
import type { Clock } from "../shared/clock.ts";
import { isEscrowMirrorError, nameOfError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { err, settle, type Result } from "../shared/result.ts";
import { createTurns } from "../shared/turns.ts";
import type { Store } from "../store/store.ts";
import { nameTaken, type Handler } from "./handler.ts";
import { turnPage } from "./older-news.ts";
import { registerAll, type Registered } from "./register.ts";

export interface Registry {
  /** Adds a handler. Its row is written before this process commits anything more. The returned function stops it. */
  add(handler: Handler): () => void;
  /** The handler of that name, if this process runs it. `undefined` until its row is written or found: it may be refused. */
  get(name: string): Handler | undefined;
  /** The names of all such handlers: this process may take their jobs. */
  names(): readonly string[];
  /** Stops a handler in this process. If it was refused, nothing says so any more. */
  stop(handler: Handler): void;
  /** Writes the missing rows. Rejects with `store-unavailable` if the store is away. */
  ensure(): Promise<void>;
  /** Resolves when all rows are written and older deliveries are read. Rejects if the store fails again and again. */
  caughtUp(): Promise<void>;
  /** Throws the error of the first refused handler, if there is one. */
  throwRefusal(): void;
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

interface Refusal {
  readonly handler: Handler;
  readonly error: Error;
}

const pageRows = 200;

export function createRegistry(parts: RegistryParts): Registry {
  const { store, logger, onJobs } = parts;
  const handlers = new Map<string, Handler>();
  const unwritten = new Set<Handler>();
  const refused = new Map<string, Refusal>();
  /** Handlers whose older deliveries are not all read. */
  const behind = new Set<string>();
  let writing: Promise<void> | undefined;
  let closed = false;

  async function writeAll(): Promise<void> {
    for (let page = nextPage(); page.length > 0; page = nextPage())
      for (const each of await write(page)) {
        unwritten.delete(each.handler);
        if (each.ok) accept(each.handler, each.value);
        else refuse(each.handler, each.error);
      }
  }

  /** If a page fails, its handlers are written one by one. So only a handler that can't be written is refused. */
  async function write(page: readonly Handler[]): Promise<readonly Registered[]> {
    const together = await tryToWrite(page);
    if (together.ok) return together.value;
    const all: Registered[] = [];
    for (const handler of page) {
      const alone = await tryToWrite([handler]);
      all.push(...(alone.ok ? alone.value : [{ handler, ...alone }]));
    }
    return all;
  }

  /** Throws the store's own error: no handler is the cause. */
  async function tryToWrite(page: readonly Handler[]): Promise<Result<readonly Registered[], Error>> {
    const written = await settle(() => store.transaction((tx) => registerAll(tx, page, parts)));
    if (written.ok) return written;
    if (isEscrowMirrorError(written.error, "store-unavailable", "closed")) throw written.error;
    return err(written.error as Error);
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
    // It was stopped meanwhile.
    if (handlers.get(handler.name) !== handler) return;
    handlers.delete(handler.name);
    refused.set(handler.name, { handler, error });
    logger.error({ step: "notify", handler: handler.name }, error.message);
  }

  function isWanted(name: string): boolean {
    return !closed && handlers.has(name);
  }

  /**
   * Writes the missing rows, then reads one page of older deliveries. A commit writes the missing rows too, but some processes
   * never commit.
   */
  async function goOn(): Promise<void> {
    await ensure();
    const [name] = behind;
    if (name === undefined) return;
    // If its page fails, the others go first the next time.
    behind.delete(name);
    behind.add(name);
    if (!isWanted(name) || (await readPage(name))) behind.delete(name);
    onJobs();
    if (behind.size > 0) turns.soon();
  }

  function stop(handler: Handler): void {
    if (handlers.get(handler.name) === handler) handlers.delete(handler.name);
    if (refused.get(handler.name)?.handler === handler) refused.delete(handler.name);
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
    get: (name) => {
      const handler = handlers.get(name);
      return handler !== undefined && unwritten.has(handler) ? undefined : handler;
    },
    names: () => [...handlers.values()].filter((each) => !unwritten.has(each)).map(({ name }) => name),
    stop,
    ensure,
    caughtUp: () => turns.over(),
    throwRefusal: () => {
      const [refusal] = refused.values();
      if (refusal !== undefined) throw refusal.error;
    },
    warnings: () => [...refused.values()].map(({ error }) => error.message),
    close: async () => {
      closed = true;
      await settle(() => turns.over());
    },
  };
}
