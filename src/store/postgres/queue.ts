import { toIsoTime, type Clock } from "../../shared/clock.ts";
import { columnsOf, decodeRows, decodeValue, encodeValue, type SqlValue } from "../sql/codec.ts";
import { sqlNamesIn, type TablePlace } from "../sql/dialect.ts";
import type { ArraySession } from "../sql/session.ts";
import { lostForGood, fateOf, type JobQueue, type NewJob } from "../queue.ts";
import type { JobRow } from "../tables/handlers.ts";
import { bigints, encodeText, texts, toArray } from "./array.ts";
import { channelOf } from "./listen.ts";

export type ArrayQueueStatements = ReturnType<typeof arrayQueueStatements>;

/**
 * The queue where many transactions write at a time. Whoever adds to a contract's lines, or moves one on, holds that
 * contract's lock until the commit: else a job that comes while the head of its line ends would wait for ever.
 *
 * @param sql made once, and not for each transaction
 * @param clock the clock that was injected; without one the times of jobs are the database's
 */
export function createArrayQueue(
  session: ArraySession,
  sql: ArrayQueueStatements,
  clock: () => Clock | undefined,
): JobQueue {
  const now = (): SqlValue => {
    const injected = clock();
    return injected === undefined ? null : toIsoTime(injected.now());
  };
  const jobs = async (statement: string, values: readonly SqlValue[]): Promise<JobRow[]> =>
    decodeRows("jobs", await session.all(statement, values)).sort((a, b) => a.seq - b.seq);

  /** In one order, so that two transactions never wait for each other crosswise. */
  const lockLines = (contractIds: readonly (string | null)[]): void => {
    const ids = [...new Set(contractIds)].filter((id) => id !== null).sort();
    if (ids.length > 0) session.send(sql.lockLines, [sql.lockName, texts(ids)]);
  };

  /** Lines as the database gave them: handler and contract. */
  const promote = (lines: readonly (readonly unknown[])[]): void => {
    const moving = lines.filter(([, contractId]) => contractId !== null) as [string, string][];
    if (moving.length === 0) return;
    lockLines(moving.map(([, contractId]) => contractId));
    const column = (place: 0 | 1): Buffer =>
      toArray(
        "text",
        moving.map((line) => line[place]),
      );
    session.send(sql.promote, [column(0), column(1)]);
  };

  return {
    async insert(added) {
      if (added.length === 0) return [];
      lockLines(added.map(({ contractId }) => encodeValue("text", contractId) as string | null));
      const rows = await session.all(sql.insert, [now(), ...columnsOfNew(added), sql.channel]);
      const wentIn = new Set(rows.map(([seat]) => Number(seat)));
      return added.map((_, index) => wentIn.has(index + 1));
    },

    claim: ({ workerId, handlers, limit, lost }) =>
      jobs(sql.claim, [now(), workerId, texts(handlers), lost ? 1 : 0, limit]),

    async end(endings) {
      if (endings.length === 0) return [];
      const changes = endings.map(fateOf);
      const rows = await session.all(sql.end, [
        now(),
        bigints(endings.map(({ seq }) => seq)),
        bigints(endings.map(({ claims }) => claims)),
        texts(changes.map(({ state }) => state)),
        bigints(changes.map(({ attemptsBack }) => attemptsBack)),
        bigints(changes.map(({ afterMs }) => Math.ceil(afterMs))),
        texts(changes.map(({ error }) => error)),
      ]);
      const failed = endings.filter((_, index) => changes[index]?.error != null);
      if (failed.length > 0) session.send(sql.hush, [bigints(failed.map(({ seq }) => seq))]);
      promote(rows.filter(([, , , state]) => state !== "due").map(([, ...line]) => line));
      const held = new Set(rows.map(([seq]) => Number(seq)));
      return endings.map(({ seq }) => held.has(seq));
    },

    async beat({ workerId, handlers, leaseMs, isListening }) {
      const values = [now(), workerId, JSON.stringify(handlers), leaseMs, Number(isListening)];
      const [[isNew] = [true]] = await session.all(sql.beat, values);
      return Number(isNew) === 0;
    },

    async retire(workerId) {
      session.send(sql.giveBack, [now(), workerId]);
      await session.run(sql.forget, [workerId]);
    },

    async reclaim({ attemptsMax }) {
      session.send(sql.forgetSilent, [now()]);
      const dead = await jobs(sql.bury, [now(), attemptsMax, lostForGood]);
      session.send(sql.lose, [now()]);
      promote(dead.map(({ handler, contractId }) => [handler, contractId].map(encodeText)));
      return dead;
    },

    async revive(seqs) {
      if (seqs.length === 0) return;
      const rows = await session.all(sql.linesOf, [bigints(seqs)]);
      lockLines(rows.map(([contractId]) => contractId as string | null));
      await session.run(sql.revive, [now(), bigints(seqs), sql.channel]);
    },

    async hasten(seqs) {
      await session.run(sql.hasten, [now(), bigints(seqs), sql.channel]);
    },

    async remove(seqs, states) {
      promote(await session.all(sql.remove, [bigints(seqs), texts(states)]));
    },

    async owedFor(contentKeys) {
      const keys = toArray(
        "bytea",
        contentKeys.map((key) => encodeValue("hex", key)),
      );
      const rows = await session.all(sql.owedFor, [keys]);
      return rows.map(([key]) => decodeValue("hex", key) as string);
    },

    lockSubscriptions: async (how) => {
      session.send(how === "shared" ? sql.share : sql.exclude, [sql.lockName]);
    },

    lease: async ({ name, holder, leaseMs }) =>
      (await session.all(sql.lease, [now(), name, holder, Math.ceil(leaseMs)])).length > 0,
  };
}

function columnsOfNew(added: readonly NewJob[]): SqlValue[] {
  return [
    texts(added.map(({ handler }) => handler)),
    texts(added.map(({ contractId }) => contractId)),
    texts(added.map(({ jobKey }) => jobKey)),
    toArray(
      "bytea",
      added.map(({ contentKey }) => encodeValue("hex", contentKey)),
    ),
    texts(added.map(({ webhookId }) => webhookId)),
    toArray(
      "text",
      added.map(({ payload }) => encodeValue("json", payload)),
    ),
  ];
}

const open = "state in ('waiting', 'due', 'running')";

/** A time as our columns have it, so many milliseconds from now; `$1` is an injected clock's. */
function timeIn(ms = "0"): string {
  return `to_char((coalesce($1::timestamptz, clock_timestamp()) + ${ms} * interval '1 millisecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

export function arrayQueueStatements(place: TablePlace) {
  const at = sqlNamesIn(place);
  const [jobs, workers, leases] = [at("jobs"), at("workers"), at("leases")];
  const columns = columnsOf("jobs")
    .map(({ name }) => `j.${name}`)
    .join(", ");
  // Not only those of the workers that are forgotten now: a worker that was paused can claim jobs after it was forgotten.
  const orphaned = `j.state = 'running' and not exists (select from ${workers} as w where w.worker_id = j.worker_id)`;
  // Notifies the processes that listen of due jobs. If none listens, no NOTIFY is sent: it makes commits wait for one another.
  const tell = (channel: string, changed: string): string => `(
        select count(told.of) from (
          select pg_notify(${channel}, handler) is null as of
          from (select distinct handler from ${changed} where state = 'due') as due
        ) as told
        where exists (select from ${workers} where listening = 1 and alive_until >= ${timeIn()})
      )`;
  return {
    channel: channelOf(place),
    lockName: `escrow-mirror ${at("")}`,
    lockLines: `select count(pg_advisory_xact_lock(hashtextextended($1 || ' line ' || id, 0))) from unnest($2::text[]) as id`,
    share: `select pg_advisory_xact_lock_shared(hashtextextended($1 || ' subscriptions', 0))`,
    exclude: `select pg_advisory_xact_lock(hashtextextended($1 || ' subscriptions', 0))`,
    // "offset 0" keeps the look at the line a look-up for each row: the planner would hash all open jobs instead.
    insert: `with given as (
        select *, row_number() over (partition by handler, contract_id order by seat) as place
        from (
          select distinct on (handler, job_key) *
          from unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[])
            with ordinality as t(handler, contract_id, job_key, content_key, webhook_id, payload, seat)
          order by handler, job_key, seat
        ) as t
        where not exists (select from ${jobs} as k where k.handler = t.handler and k.job_key = t.job_key offset 0)
      ), fresh as (
        insert into ${jobs} (handler, contract_id, job_key, content_key, webhook_id, payload, state, attempts, claims, next_attempt_at, lost, created_at)
        select g.handler, g.contract_id, g.job_key, g.content_key, g.webhook_id, g.payload,
          case when g.contract_id is not null and (g.place > 1 or exists (
            select from ${jobs} as o where o.handler = g.handler and o.contract_id = g.contract_id and o.${open} offset 0
          )) then 'waiting' else 'due' end,
          0, 0, ${timeIn()}, 0, ${timeIn()}
        from given as g order by g.seat
        on conflict do nothing
        returning handler, job_key, state
      )
      select g.seat, ${tell("$8", "fresh")}
      from fresh join given as g using (handler, job_key)`,
    // Chosen once, before the join: inside it the choice can run again for each row, and takes others than before each time.
    claim: `with picked as materialized (
        select due.seq
        from unnest($3::text[]) with ordinality as h(name, place)
        cross join lateral (
          select seq from ${jobs}
          where handler = h.name and lost = $4 and state = 'due' and next_attempt_at <= ${timeIn()}
          order by next_attempt_at, seq limit $5 for update skip locked
        ) as due
        order by h.place limit $5
      )
      update ${jobs} as j set state = 'running', worker_id = $2, attempts = j.attempts + 1, claims = j.claims + 1
      from picked where j.seq = picked.seq
      returning ${columns}`,
    end: `update ${jobs} as j set state = g.state, attempts = j.attempts - g.back, next_attempt_at = ${timeIn("g.after")},
        last_error = coalesce(g.error, j.last_error), worker_id = null, lost = 0,
        finished_at = case when g.state = 'due' then null else ${timeIn()} end
      from unnest($2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
        as g(seq, claims, state, back, after, error)
      where j.seq = g.seq and j.claims = g.claims and j.state = 'running'
      returning j.seq, j.handler, j.contract_id, j.state`,
    // The error of a handler may quote erased data. A statement of its own, once the jobs are locked: that of the run's end
    // may have begun before a redaction was committed. A redaction that is committed later finds the error, and erases it.
    hush: `update ${jobs} as j set last_error = null where seq = any($1::bigint[]) and exists (
        select from ${at("contracts")} as c where c.contract_id = j.contract_id and c.redacted_at is not null)`,
    promote: `update ${jobs} as j set state = 'due'
      from (
        select distinct head.seq from unnest($1::text[], $2::text[]) as line(handler, contract_id)
        cross join lateral (
          select seq from ${jobs} as o
          where o.handler = line.handler and o.contract_id = line.contract_id and o.${open} order by seq limit 1
        ) as head
      ) as moved
      where j.seq = moved.seq and j.state = 'waiting'`,
    beat: `insert into ${workers} as w (worker_id, handlers, alive_until, listening)
      values ($2, $3, ${timeIn("$4::bigint")}, $5)
      on conflict (worker_id) do update set handlers = excluded.handlers, alive_until = excluded.alive_until,
        listening = excluded.listening
      returning (xmax = 0)::int::bigint`,
    forget: `delete from ${workers} where worker_id = $1`,
    forgetSilent: `delete from ${workers} where worker_id in (
        select worker_id from ${workers} where alive_until < ${timeIn()} for update skip locked)`,
    giveBack: `update ${jobs} set state = 'due', attempts = attempts - 1, next_attempt_at = ${timeIn()}, worker_id = null
      where worker_id = $2 and state = 'running'`,
    bury: `update ${jobs} as j set state = 'dead', last_error = $3, finished_at = ${timeIn()}, worker_id = null, lost = 0
      where ${orphaned} and lost = 1 and attempts >= $2
      returning ${columns}`,
    // The attempt counts if the job was alone (`lost` is 1): else it may never have begun, and another may have ended the process.
    lose: `update ${jobs} as j set state = 'due', attempts = attempts - 1 + lost, next_attempt_at = ${timeIn()}, worker_id = null, lost = 1
      where ${orphaned}`,
    linesOf: `select distinct contract_id from ${jobs} where seq = any($1::bigint[])`,
    // Of several of one line the first alone is due: a statement does not see what it has done to the others.
    revive: `with back as (
        update ${jobs} as j set attempts = 0, next_attempt_at = ${timeIn()}, finished_at = null, state = case
          when j.contract_id is not null and (p.place > 1 or exists (
            select from ${jobs} as o where o.handler = j.handler and o.contract_id = j.contract_id and o.${open}
          )) then 'waiting' else 'due' end
        from (
          select seq, row_number() over (partition by handler, contract_id order by seq) as place
          from ${jobs} where seq = any($2::bigint[]) and state = 'dead'
        ) as p
        where j.seq = p.seq and j.state = 'dead'
        returning j.handler, j.state
      )
      select ${tell("$3", "back")}`,
    hasten: `with back as (
        update ${jobs} set next_attempt_at = ${timeIn()}
        where seq = any($2::bigint[]) and state = 'due' and next_attempt_at > ${timeIn()}
        returning handler, state
      )
      select ${tell("$3", "back")}`,
    remove: `delete from ${jobs} where seq = any($1::bigint[]) and state = any($2::text[])
      returning handler, contract_id`,
    lease: `insert into ${leases} as l (name, holder, held_until) values ($2, $3, ${timeIn("$4::bigint")})
      on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
      where l.holder = excluded.holder or l.held_until < ${timeIn()}
      returning 1::bigint`,
    owedFor: `select distinct content_key from ${jobs} where content_key = any($1::bytea[]) and ${open}`,
  };
}
