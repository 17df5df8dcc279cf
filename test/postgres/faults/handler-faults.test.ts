/** Whose fault it is when a handler inside the delivery's transaction fails on Postgres: its own is counted, the store's is not. */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { PoolClient } from "pg";
import { describe, expect, it } from "vitest";
import type { TransactionContext } from "../../../src/handlers/transaction/call-in-transaction.ts";
import type { Mirror } from "../../../src/mirror/create-mirror.ts";
import type { PostgresTarget } from "../../../src/store/postgres/options.ts";
import { postgres } from "../../../src/store/postgres/store.ts";
import { delivery } from "../../support/delivery.ts";
import { openMirror } from "../../support/mirror.ts";
import { freshSchema, kyselyOn, openPool, postgresUrl } from "../../support/postgres.ts";

const deadlineMs = 1500;
type Run = (context: TransactionContext) => Promise<unknown>;

const targets: readonly (readonly [string, () => PostgresTarget])[] = [
  ["a connection string", () => ({ connectionString: postgresUrl })],
  ["the app's pool", () => ({ pool: openPool() })],
  ["the app's Kysely", () => ({ kysely: kyselyOn(postgresUrl) })],
];

async function open(target: PostgresTarget, run: Run, handlerTimeoutMs = 500): Promise<Mirror> {
  const store = postgres({ ...target, schema: freshSchema(), deadlineMs });
  const mirror = await openMirror({ store, handlerTimeoutMs });
  mirror.inTransaction("contract.created", (_event, context) => run(context), { name: "theirs" });
  await mirror.idle();
  return mirror;
}

/** One that the handler hears of, and one that it does not. */
const created = delivery("contract.created", { id: "c", seconds: 1, contractId: "CNT-1" });
const others = (time = 0) =>
  delivery("contract.approved", { id: `a${time}`, seconds: 2, contractId: `CNT-${time + 2}` });

const ignore = (): undefined => undefined;
const never = (): Promise<never> => new Promise(ignore);
const query = (context: TransactionContext, text: string): Promise<unknown> =>
  (context.connection as PoolClient | undefined)?.query(text) ?? sql.raw(text).execute(context.trx);

describe.each(targets)("over %s", (_, target) => {
  it.each<[string, Run]>([
    ["asks for a table that is missing", ({ trx }) => sql`select * from nowhere`.execute(trx)],
    ["asks so over the connection itself", (context) => query(context, "select * from nowhere")],
    [
      "breaks a rule of its own table",
      ({ trx }) => sql`do $$ begin raise unique_violation; end $$`.execute(trx),
    ],
    [
      "has what it sends ended as too slow",
      ({ trx }) => sql`set local statement_timeout = 5; select pg_sleep(9)`.execute(trx),
    ],
    ["goes on after an error", ({ trx }) => sql`select 1 / 0`.execute(trx).catch(ignore)],
    [
      "goes on after one over the connection itself",
      (context) => query(context, "select 1 / 0").catch(ignore),
    ],
    ["does not end", never],
    ["waits for a statement for longer than it may", ({ trx }) => sql`select pg_sleep(60)`.execute(trx)],
  ])("a handler that %s is left out at the third time", async (_title, run) => {
    const mirror = await open(target(), run);
    const [first, neighbour] = await Promise.all([mirror.receive(created), mirror.receive(others())]);
    expect(first).toMatchObject({ status: 503, reason: "handler-failed" });
    expect(neighbour).toMatchObject({ status: 200, outcome: "applied" });
    expect(await mirror.receive(created)).toMatchObject({ status: 503, reason: "handler-failed" });
    expect(await mirror.receive(created)).toMatchObject({ status: 200, outcome: "applied" });
    expect((await mirror.jobs.list({ state: "dead" })).items).toMatchObject([{ handler: "theirs" }]);
  });

  it("a handler's time is its own: it may take longer than the store has", async () => {
    const mirror = await open(target(), () => sleep(deadlineMs + 200), 10_000);
    expect(await mirror.receive(created)).toMatchObject({ status: 200, outcome: "applied" });
  });

  it.each<[string, string]>([
    ["its connection is ended", "select pg_terminate_backend(pg_backend_pid())"],
    ["another transaction is in its way", "do $$ begin raise deadlock_detected; end $$"],
    ["the disk is full", "do $$ begin raise disk_full; end $$"],
    ["a lock is not to be had", "do $$ begin raise lock_not_available; end $$"],
    ["the operator's time for transactions is over", "do $$ begin raise transaction_timeout; end $$"],
  ])("a handler is not blamed where %s", async (_title, text) => {
    let isBroken = true;
    const mirror = await open(target(), async (context) => isBroken && query(context, text));
    for (let time = 0; time < 4; time++)
      expect(await mirror.receive(created)).toMatchObject({ status: 503, reason: "store-unavailable" });
    isBroken = false;
    expect(await mirror.receive(created)).toMatchObject({ status: 200, outcome: "applied" });
    expect((await mirror.jobs.list({})).items).toEqual([]);
  });

  it.each<[string, Run]>([
    ["ends its connection", (context) => query(context, "select pg_terminate_backend(pg_backend_pid())")],
    [
      "is each time in another's way",
      (context) => query(context, "do $$ begin raise deadlock_detected; end $$"),
    ],
  ])("a handler that %s is left out at the fifth time, and its neighbours are not", async (_title, run) => {
    const mirror = await open(target(), run);
    for (let time = 0; time < 4; time++) {
      const answers = await Promise.all([mirror.receive(created), mirror.receive(others(time))]);
      expect(answers).toMatchObject([
        { status: 503, reason: "store-unavailable" },
        { status: 200, outcome: "applied" },
      ]);
    }
    expect(await mirror.receive(created)).toMatchObject({ status: 200, outcome: "applied" });
    expect((await mirror.jobs.list({ state: "dead" })).items).toMatchObject([{ handler: "theirs" }]);
  });
});
