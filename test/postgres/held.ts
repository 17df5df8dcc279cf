/** A mirror on Postgres that is held up at a lock, for what happens in one moment with something else. */
import { Client } from "pg";
import { onTestFinished, vi } from "vitest";
import { arrayQueueStatements } from "../../src/store/postgres/queue.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { openMirror, testClock } from "../support/mirror.ts";
import { freshSchema, postgresUrl, run } from "../support/postgres.ts";

/** A mirror, and a connection beside it that holds it up. */
export async function openHeld(maxAttempts = 1) {
  const schema = freshSchema();
  const store = postgres({ connectionString: postgresUrl, schema });
  const clock = testClock();
  const mirror = await openMirror({ store, clock, jobs: { run: false, maxAttempts } });
  const beside = new Client({ connectionString: postgresUrl });
  await beside.connect();
  await beside.query("begin");
  onTestFinished(() => beside.end());
  const { rows } = await beside.query<{ pid: number }>("select pg_backend_pid() as pid");
  const pid = rows[0]?.pid ?? 0;
  const { lockLines, exclude, lockName } = arrayQueueStatements({ schema, prefix: "" });
  return {
    store,
    clock,
    mirror,
    /** The same in another process. */
    other: await openMirror({
      store: postgres({ connectionString: postgresUrl, schema }),
      clock,
      jobs: { run: false },
    }),
    /** Holds the lines of a contract's jobs: whoever adds one waits. */
    holdLines: (contractId: string) => beside.query(lockLines, [lockName, [contractId]]),
    holdJob: (seq: string) => beside.query(`select from "${schema}".jobs where seq = $1 for update`, [seq]),
    /** Removes a handler: whoever reads the handlers to add jobs waits. */
    removeHandler: async (name: string) => {
      await beside.query(exclude, [lockName]);
      await beside.query(`delete from "${schema}".subscriptions where name = $1`, [name]);
    },
    release: () => beside.query("commit"),
    /** Resolves when so many transactions of this mirror wait for a lock. */
    waiting: (count: number) =>
      vi.waitUntil(async () => (await run(blockedBy(pid))).length >= count, { timeout: 20_000 }),
  };
}

/** Those that wait for this connection, and those that wait for them. */
function blockedBy(pid: number): string {
  return `with recursive held as (
      select ${pid} as pid union
      select a.pid from pg_stat_activity as a join held on held.pid = any(pg_blocking_pids(a.pid))
    ) select 1 as one from held where pid <> ${pid}`;
}
