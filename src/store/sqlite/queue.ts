import { toIsoTime, type Clock } from "../../shared/clock.ts";
import { columnsOf, decodeRows, decodeValue, encodeValue, type SqlValue } from "../sql/codec.ts";
import { sqlNamesIn, type TablePlace } from "../sql/dialect.ts";
import type { RowSession } from "../sql/session.ts";
import type { Store } from "../store.ts";
import { guarded, type SqliteHandle } from "./handle.ts";
import { lostForGood, fateOf, type JobQueue, type Ending } from "../queue.ts";
import type { JobRow } from "../tables/handlers.ts";

export type RowQueueStatements = ReturnType<typeof rowQueueStatements>;

/**
 * The queue where one transaction writes at a time: a line can't change between two of its statements.
 *
 * @param sql made once: long texts cost more to put together and to look up than most of these statements to run
 */
export function createRowQueue(session: RowSession, sql: RowQueueStatements, clock: () => Clock): JobQueue {
  const nowPlus = (ms: number): string => toIsoTime(clock().now() + ms);
  const jobs = async (statement: string, values: readonly SqlValue[]): Promise<JobRow[]> =>
    decodeRows("jobs", await session.all(statement, values)).sort(bySeq);

  /** Ends one run if it still holds its job, and says so. */
  async function endRun(ending: Ending): Promise<boolean> {
    const { state, attemptsBack, error, afterMs } = fateOf(ending);
    const isOver = state !== "due";
    const change = [state, attemptsBack, nowPlus(afterMs), encodeText(error), isOver ? nowPlus(0) : null];
    const [line] = await session.all(sql.end, [...change, ending.seq, ending.claims]);
    if (line !== undefined && error !== null) await session.run(sql.hush, [ending.seq]);
    if (line !== undefined && isOver) await session.run(sql.promote, line as SqlValue[]);
    return line !== undefined;
  }

  return {
    async insert(added) {
      const now = nowPlus(0);
      const runs = added.map((job) => {
        const [handler, contractId] = [encodeText(job.handler), encodeText(job.contractId)];
        const known = [encodeText(job.jobKey), encodeValue("hex", job.contentKey), encodeText(job.webhookId)];
        const payload = encodeValue("json", job.payload);
        return [handler, contractId, ...known, payload, handler, contractId, now, now];
      });
      return (await session.runEach(sql.insert, runs)).map((count) => count > 0);
    },

    async claim({ workerId, handlers, limit, lost }) {
      const claimed: JobRow[] = [];
      for (const handler of handlers) {
        const left = limit - claimed.length;
        if (left <= 0) break;
        const where = [encodeText(handler), lost ? 1 : 0, nowPlus(0), left];
        claimed.push(...(await jobs(sql.claim, [workerId, ...where])));
      }
      return claimed.sort(bySeq);
    },

    async end(endings) {
      const held: boolean[] = [];
      for (const ending of endings) held.push(await endRun(ending));
      return held;
    },

    async beat({ workerId, handlers, leaseMs, isListening }) {
      const [known] = await session.all(sql.isAlive, [workerId]);
      await session.run(sql.beat, [
        workerId,
        JSON.stringify(handlers),
        nowPlus(leaseMs),
        Number(isListening),
      ]);
      return known !== undefined;
    },

    async retire(workerId) {
      await session.run(sql.giveBack, [nowPlus(0), workerId]);
      await session.run(sql.forget, [workerId]);
    },

    async reclaim({ attemptsMax }) {
      await session.run(sql.forgetSilent, [nowPlus(0)]);
      const dead = await jobs(sql.bury, [lostForGood, nowPlus(0), attemptsMax]);
      await session.run(sql.lose, [nowPlus(0)]);
      for (const { handler, contractId } of dead)
        await session.run(sql.promote, [encodeText(handler), encodeText(contractId)]);
      return dead;
    },

    async revive(seqs) {
      for (const seq of seqs) await session.run(sql.revive, [nowPlus(0), seq]);
    },

    async hasten(seqs) {
      for (const seq of seqs) await session.run(sql.hasten, [nowPlus(0), seq, nowPlus(0)]);
    },

    async remove(seqs, states) {
      const runs = seqs.map((seq) => [seq, JSON.stringify(states)]);
      await session.runEach(sql.promote, (await session.allEach(sql.remove, runs)) as SqlValue[][]);
    },

    async owedFor(contentKeys) {
      const runs = contentKeys.map((key) => [encodeValue("hex", key)]);
      const rows = await session.allEach(sql.owedFor, runs);
      return rows.map(([key]) => decodeValue("hex", key) as string);
    },

    lockSubscriptions: async () => {},

    lease: async ({ name, holder, leaseMs }) =>
      (await session.all(sql.lease, [name, holder, nowPlus(leaseMs), nowPlus(0)])).length > 0,
  };
}

/** When the next job of these handlers is due. */
export async function nextRowJobAt(
  session: RowSession,
  place: TablePlace,
  handlers: readonly string[],
): Promise<string | null> {
  const jobs = sqlNamesIn(place)("jobs");
  const sql = `select min(next_attempt_at) from ${jobs} where handler = ? and lost = ? and state = 'due'`;
  const runs = handlers.flatMap((handler) => [0, 1].map((lost) => [encodeText(handler), lost]));
  const times = (await session.allEach(sql, runs)).map(([time]) => time as string | null);
  return times.filter((time) => time !== null).sort()[0] ?? null;
}

/** Looks only where something was committed since the last look: a look at that is a microsecond or two. */
export function lookAgainWhenChanged(reader: SqliteHandle, look: Store["nextJobAt"]): Store["nextJobAt"] {
  // The only connection of a database in memory does not count what it commits itself.
  if (reader.memory) return look;
  const statement = reader.prepare("pragma data_version");
  statement.raw(true);
  const read = (): unknown => (statement.all()[0] as unknown[])[0];
  let [seenVersion, seenNames]: [unknown, string] = [undefined, ""];
  let next: string | null = null;
  return async (handlers) => {
    const [version, names] = [guarded(read), JSON.stringify(handlers)];
    if (seenVersion === version && seenNames === names) return next;
    next = await look(handlers);
    [seenVersion, seenNames] = [version, names];
    return next;
  };
}

function bySeq(a: JobRow, b: JobRow): number {
  return a.seq - b.seq;
}

function encodeText(text: string | null): SqlValue {
  return encodeValue("text", text);
}

const open = "state in ('waiting', 'due', 'running')";

export function rowQueueStatements(place: TablePlace) {
  const at = sqlNamesIn(place);
  const [jobs, workers, leases] = [at("jobs"), at("workers"), at("leases")];
  const columns = columnsOf("jobs").map(({ name }) => name);
  // Not only those of the workers that are forgotten now: a worker that was paused can claim jobs after it was forgotten.
  const orphaned = `state = 'running' and not exists (select 1 from ${workers} as w where w.worker_id = ${jobs}.worker_id)`;
  const line = `(select 1 from ${jobs} where handler = ? and contract_id = ? and ${open})`;
  return {
    insert: `insert into ${jobs}
      (handler, contract_id, job_key, content_key, webhook_id, payload, state, attempts, claims, next_attempt_at, lost, created_at)
      values (?, ?, ?, ?, ?, ?, case when exists ${line} then 'waiting' else 'due' end, 0, 0, ?, 0, ?)
      on conflict do nothing`,
    claim: `update ${jobs} set state = 'running', worker_id = ?, attempts = attempts + 1, claims = claims + 1
      where seq in (
        select seq from ${jobs}
        where handler = ? and lost = ? and state = 'due' and next_attempt_at <= ?
        order by next_attempt_at, seq limit ?)
      returning ${columns.join(", ")}`,
    end: `update ${jobs} set state = ?, attempts = attempts - ?, next_attempt_at = ?,
        last_error = coalesce(?, last_error), finished_at = ?, worker_id = null, lost = 0
      where seq = ? and claims = ? and state = 'running'
      returning handler, contract_id`,
    // The error of a handler may quote erased data.
    hush: `update ${jobs} set last_error = null where seq = ? and exists (
        select 1 from ${at("contracts")} as c where c.contract_id = ${jobs}.contract_id and c.redacted_at is not null)`,
    promote: `update ${jobs} set state = 'due'
      where state = 'waiting' and seq = (
        select seq from ${jobs} where handler = ? and contract_id = ? and ${open} order by seq limit 1)`,
    isAlive: `select 1 from ${workers} where worker_id = ?`,
    beat: `insert into ${workers} (worker_id, handlers, alive_until, listening) values (?, ?, ?, ?)
      on conflict (worker_id) do update set handlers = excluded.handlers, alive_until = excluded.alive_until,
        listening = excluded.listening`,
    forget: `delete from ${workers} where worker_id = ?`,
    forgetSilent: `delete from ${workers} where alive_until < ?`,
    giveBack: `update ${jobs} set state = 'due', attempts = attempts - 1, next_attempt_at = ?, worker_id = null
      where worker_id = ? and state = 'running'`,
    bury: `update ${jobs} set state = 'dead', last_error = ?, finished_at = ?, worker_id = null, lost = 0
      where ${orphaned} and lost = 1 and attempts >= ?
      returning ${columns.join(", ")}`,
    // The attempt counts if the job was alone (`lost` is 1): else it may never have begun, and another may have ended the process.
    lose: `update ${jobs} set state = 'due', attempts = attempts - 1 + lost, next_attempt_at = ?, worker_id = null, lost = 1
      where ${orphaned}`,
    revive: `update ${jobs} set attempts = 0, next_attempt_at = ?, finished_at = null, state = case
        when exists (
          select 1 from ${jobs} as other
          where other.handler = ${jobs}.handler and other.contract_id = ${jobs}.contract_id and other.${open})
        then 'waiting' else 'due' end
      where seq = ? and state = 'dead'`,
    hasten: `update ${jobs} set next_attempt_at = ? where seq = ? and state = 'due' and next_attempt_at > ?`,
    remove: `delete from ${jobs} where seq = ? and state in (select value from json_each(?))
      returning handler, contract_id`,
    lease: `insert into ${leases} as l (name, holder, held_until) values (?, ?, ?)
      on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
      where l.holder = excluded.holder or l.held_until < ?
      returning 1`,
    owedFor: `select content_key from ${jobs} where content_key = ? and ${open} limit 1`,
  };
}
