import { contractMachine } from "../domain/contract.ts";
import { canonicalStatus, type ContractStatus } from "../domain/status.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { clearTimeout, setTimeout } from "../shared/timers.ts";
import type { Store } from "../store/store.ts";
import { checkOptions, idOf, textOf } from "./arguments.ts";
import { contractsOf } from "./contracts.ts";
import type { MirroredContract } from "./shapes.ts";

/** Options of `mirror.contracts.waitFor()`. */
export interface WaitOptions {
  /** How long to wait at most. Milliseconds, default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Ends the wait: the promise rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** The commits of this process. */
export interface Commits {
  /** Calls `listener` after each. Returns a function that stops this. */
  listen(listener: () => void): () => void;
  /** Calls the listeners. */
  announce(): void;
}

export function createCommits(): Commits {
  const listeners = new Set<() => void>();
  return {
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    announce: () => {
      for (const listener of listeners) listener();
    },
  };
}

/** Waits for a contract to reach a status, or one of several. */
export type WaitFor = (
  contractId: string,
  status: ContractStatus | readonly ContractStatus[],
  options?: WaitOptions,
) => Promise<MirroredContract>;

const timeoutDefaultMs = 30_000;

/** Reads a contract at the service and folds the answer in. */
export type Refresh = (contractId: string, signal: AbortSignal) => Promise<unknown>;

/** When the service is asked first, where no webhook has come. Each wait after it is twice as long. */
const firstReadMs = 2000;

/**
 * Looks after each commit of this process, and from time to time for those of others.
 *
 * @param refresh asked where webhooks are late; `undefined` without a client
 */
export function createWaitFor(store: Store, commits: Commits, refresh?: Refresh): WaitFor {
  return async (contractId, status, options = {}) => {
    checkOptions(options, ["timeoutMs", "signal"], "contracts.waitFor");
    const { timeoutMs = timeoutDefaultMs, signal } = options;
    const id = idOf(contractId);
    const wanted = toStatuses(status);
    const over = new AbortController();
    const abort = (): void => over.abort(aborted(id, signal?.reason));
    const timer = setTimeout(() => over.abort(timedOut(id, wanted, timeoutMs)), timeoutMs);
    if (signal?.aborted === true) abort();
    signal?.addEventListener("abort", abort);
    const reads = refresh && startReads((ended) => refresh(id, ended), timeoutMs, over.signal);
    try {
      for (;;) {
        const news = nextNews(commits, store.lookEveryMs, over.signal);
        const found = await lookFor(store, id, wanted);
        if (found !== undefined) return found;
        over.signal.throwIfAborted();
        await news;
      }
    } finally {
      over.abort();
      reads?.stop();
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  };
}

/** Asks the service from time to time. What comes of it is a commit like any other; a fault of it changes nothing. */
function startReads(
  read: (signal: AbortSignal) => Promise<unknown>,
  timeoutMs: number,
  over: AbortSignal,
): { stop(): void } {
  const wait = (ms: number) =>
    setTimeout(() => {
      timer = wait(2 * ms);
      read(over).catch(() => undefined);
    }, ms);
  let timer = wait(Math.min(firstReadMs, timeoutMs / 2));
  return { stop: () => clearTimeout(timer) };
}

/** The contract, once its history holds a move to one of these; throws when none can come any more. */
async function lookFor(
  store: Store,
  id: string,
  wanted: ReadonlySet<string>,
): Promise<MirroredContract | undefined> {
  return store.read(async (reader) => {
    const contract = (await contractsOf(reader, [id])).get(id);
    if (contract === undefined || wanted.has(contract.status)) return contract;
    const where = [
      { field: "contractId", op: "=", value: id },
      { field: "entity", op: "=", value: "contract" },
      { field: "to", op: "in", value: [...wanted] },
    ] as const;
    if ((await reader.find("transitions", { where })).some(({ moved }) => moved)) return contract;
    if (contractMachine.terminal.includes(contract.status)) throw unreachable(id, contract.status, wanted);
    return undefined;
  });
}

/** Resolves after the next commit of this process, or when it is time to look for others'. */
function nextNews(commits: Commits, lookEveryMs: number, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, lookEveryMs);
    const stop = commits.listen(done);
    over.addEventListener("abort", done);
    function done(): void {
      clearTimeout(timer);
      stop();
      over.removeEventListener("abort", done);
      resolve();
    }
  });
}

function toStatuses(status: unknown): ReadonlySet<string> {
  const names = Array.isArray(status) ? (status as unknown[]) : [status];
  if (names.length === 0)
    throw new EscrowMirrorError("invalid-argument", "pass at least one status to wait for");
  return new Set(names.map((name) => canonicalStatus(contractMachine, textOf(name as string, "status"))));
}

function unreachable(id: string, status: string, wanted: ReadonlySet<string>): EscrowMirrorError {
  const message = `contract ${id} has ended as ${status} and was never ${[...wanted].join(" or ")}`;
  return new EscrowMirrorError("unreachable-status", message);
}

function timedOut(id: string, wanted: ReadonlySet<string>, timeoutMs: number): EscrowMirrorError {
  const message = `contract ${id} was not ${[...wanted].join(" or ")} within ${timeoutMs} ms`;
  return new EscrowMirrorError("timeout", message);
}

function aborted(id: string, cause: unknown): EscrowMirrorError {
  return new EscrowMirrorError("aborted", `waiting for contract ${id} was aborted`, { cause });
}
