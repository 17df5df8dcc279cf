import { toIsoTime, type Clock } from "../shared/clock.ts";
import { lostForGood, openStates, fateOf, type JobQueue } from "../store/queue.ts";
import type { Condition, StoreTransaction } from "../store/store.ts";
import type { JobRow } from "../store/tables/handlers.ts";

type Plain = Pick<StoreTransaction, "find" | "insert" | "updateEach" | "upsert" | "remove">;

/** The queue in its simplest form: a model that the databases' queues are tested against. */
export function createPlainQueue(tx: Plain, clock: () => Clock): JobQueue {
  const nowPlus = (ms: number): string => toIsoTime(clock().now() + ms);
  const find = (where: readonly Condition<JobRow>[]): Promise<JobRow[]> =>
    tx.find("jobs", { where, orderBy: ["seq"] });
  const set = (seq: number, change: Partial<JobRow>): Promise<void> =>
    tx.updateEach("jobs", "seq", [{ seq, ...change }]);
  const lineOf = async (handler: string, contractId: string | null): Promise<JobRow[]> =>
    contractId === null
      ? []
      : find([
          { field: "handler", op: "=", value: handler },
          { field: "contractId", op: "=", value: contractId },
          { field: "state", op: "in", value: openStates },
        ]);
  const promote = async ({ handler, contractId }: JobRow): Promise<void> => {
    const [head] = await lineOf(handler, contractId);
    if (head?.state === "waiting") await set(head.seq, { state: "due" });
  };
  const runsOf = (workerId: string): Promise<JobRow[]> =>
    find([
      { field: "workerId", op: "=", value: workerId },
      { field: "state", op: "=", value: "running" },
    ]);
  const isRedacted = async ({ contractId }: JobRow): Promise<boolean> => {
    if (contractId === null) return false;
    const where = [{ field: "contractId", op: "=", value: contractId }] as const;
    return (await tx.find("contracts", { where })).some(({ redactedAt }) => redactedAt !== null);
  };
  const forget = (workerId: string): Promise<void> =>
    tx.remove("workers", [{ field: "workerId", op: "=", value: workerId }]);

  return {
    async insert(added) {
      const wentIn: boolean[] = [];
      for (const job of added) {
        const isWaiting = (await lineOf(job.handler, job.contractId)).length > 0;
        const fresh = { ...job, ...unrun, nextAttemptAt: nowPlus(0), createdAt: nowPlus(0) };
        const [went] = await tx.insert("jobs", [{ ...fresh, state: isWaiting ? "waiting" : "due" }]);
        wentIn.push(went === true);
      }
      return wentIn;
    },

    async claim({ workerId, handlers, limit, lost }) {
      const due = await find([{ field: "state", op: "=", value: "due" }]);
      const ready = due.filter((job) => job.lost === lost && job.nextAttemptAt <= nowPlus(0));
      const inTurn = handlers.flatMap((handler) =>
        ready
          .filter((job) => job.handler === handler)
          .sort((a, b) => (a.nextAttemptAt < b.nextAttemptAt ? -1 : 1)),
      );
      const claimed = inTurn.slice(0, limit).map((job) => ({
        ...job,
        state: "running" as const,
        workerId,
        attempts: job.attempts + 1,
        claims: job.claims + 1,
      }));
      for (const { seq, state, attempts, claims } of claimed)
        await set(seq, { state, workerId, attempts, claims });
      return claimed.sort((a, b) => a.seq - b.seq);
    },

    async end(endings) {
      const held: boolean[] = [];
      for (const ending of endings) {
        const [job] = await find([
          { field: "seq", op: "=", value: ending.seq },
          { field: "claims", op: "=", value: ending.claims },
          { field: "state", op: "=", value: "running" },
        ]);
        held.push(job !== undefined);
        if (job === undefined) continue;
        const { state, attemptsBack, error, afterMs } = fateOf(ending);
        await set(job.seq, {
          ...idle,
          state,
          attempts: job.attempts - attemptsBack,
          nextAttemptAt: nowPlus(afterMs),
          lastError: (await isRedacted(job)) ? null : (error ?? job.lastError),
          finishedAt: state === "due" ? null : nowPlus(0),
        });
        if (state !== "due") await promote(job);
      }
      return held;
    },

    async beat({ workerId, handlers, leaseMs, isListening }) {
      const known = await tx.find("workers", { where: [{ field: "workerId", op: "=", value: workerId }] });
      await tx.upsert("workers", [
        { workerId, handlers, aliveUntil: nowPlus(leaseMs), listening: isListening },
      ]);
      return known.length > 0;
    },

    async retire(workerId) {
      for (const { seq, attempts } of await runsOf(workerId))
        await set(seq, {
          state: "due",
          attempts: attempts - 1,
          nextAttemptAt: nowPlus(0),
          workerId: null,
        });
      await forget(workerId);
    },

    async reclaim({ attemptsMax }) {
      await tx.remove("workers", [{ field: "aliveUntil", op: "<", value: nowPlus(0) }]);
      const alive = new Set((await tx.find("workers")).map(({ workerId }) => workerId));
      const running = await find([{ field: "state", op: "=", value: "running" }]);
      const dead: JobRow[] = [];
      for (const job of running.filter(({ workerId }) => !alive.has(workerId ?? ""))) {
        const isOver = job.lost && job.attempts >= attemptsMax;
        const fate = isOver
          ? ({ ...idle, state: "dead", lastError: lostForGood, finishedAt: nowPlus(0) } as const)
          : ({ workerId: null, state: "due", lost: true, nextAttemptAt: nowPlus(0) } as const);
        // Others ran beside it, or it had not begun: who ended the process is not known. Next time it is alone.
        const attempts = job.lost ? job.attempts : job.attempts - 1;
        await set(job.seq, { ...fate, attempts });
        if (isOver) dead.push({ ...job, ...fate });
      }
      for (const job of dead) await promote(job);
      return dead;
    },

    async revive(seqs) {
      for (const seq of seqs) {
        const [job] = await find([
          { field: "seq", op: "=", value: seq },
          { field: "state", op: "=", value: "dead" },
        ]);
        if (job === undefined) continue;
        const isWaiting = (await lineOf(job.handler, job.contractId)).length > 0;
        const state = isWaiting ? "waiting" : "due";
        await set(seq, { state, attempts: 0, nextAttemptAt: nowPlus(0), finishedAt: null });
      }
    },

    async hasten(seqs) {
      const due = await find([
        { field: "seq", op: "in", value: seqs },
        { field: "state", op: "=", value: "due" },
        { field: "nextAttemptAt", op: ">", value: nowPlus(0) },
      ]);
      for (const { seq } of due) await set(seq, { nextAttemptAt: nowPlus(0) });
    },

    async remove(seqs, states) {
      const where = [
        { field: "seq", op: "in", value: seqs },
        { field: "state", op: "in", value: states },
      ] as const;
      const gone = await find(where);
      await tx.remove("jobs", where);
      for (const job of gone) await promote(job);
    },

    async owedFor(contentKeys) {
      const owed = await find([
        { field: "contentKey", op: "in", value: contentKeys },
        { field: "state", op: "in", value: openStates },
      ]);
      return owed.flatMap(({ contentKey }) => contentKey ?? []);
    },

    lockSubscriptions: async () => {},

    async lease({ name, holder, leaseMs }) {
      const [known] = await tx.find("leases", { where: [{ field: "name", op: "=", value: name }] });
      if (known !== undefined && known.holder !== holder && known.heldUntil >= nowPlus(0)) return false;
      await tx.upsert("leases", [{ name, holder, heldUntil: nowPlus(leaseMs), state: known?.state ?? null }]);
      return true;
    },
  };
}

const idle = { workerId: null, lost: false } as const;

/** A job that nobody has run. */
const unrun = { ...idle, attempts: 0, claims: 0, lastError: null, finishedAt: null } as const;
