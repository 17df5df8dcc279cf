/** What a database administrator sets on the mirror's role: 503 while it is in the way, nothing lost or doubled. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";
import { createServerOfOurs, type PostgresServer } from "../support/postgres-server.ts";
import { freshSchema, run } from "../support/postgres.ts";

const count = 60;
let server: PostgresServer;
beforeAll(async () => {
  server = await createServerOfOurs();
});
afterAll(() => server.remove());

const event = (index: number) =>
  delivery("contract.created", { id: `e-${index}`, seconds: index, contractId: `CNT-${index % 20}` });

/** Brings each once, a few at a time; those that were not answered 200. */
async function bring(mirror: Mirror, indexes: readonly number[]): Promise<number[]> {
  const queue = [...indexes];
  const failed: number[] = [];
  const worker = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const { status } = await mirror.receive(event(next));
      expect([200, 503]).toContain(status);
      if (status !== 200) failed.push(next);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return failed;
}

/** A role with what the mirror needs, and its address. */
async function roleFor(schema: string): Promise<{ role: string; url: string }> {
  const role = freshSchema();
  await run(
    `create role "${role}" login password 'tests';
     grant usage on schema "${schema}" to "${role}";
     grant select, insert, update, delete on all tables in schema "${schema}" to "${role}"`,
    server.url,
  );
  const url = new URL(server.url);
  [url.username, url.password] = [role, "tests"];
  return { role, url: url.href };
}

const endSessions = (role: string): Promise<unknown> =>
  run(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`, server.url);

it.each([
  "statement_timeout = 1",
  "lock_timeout = 1",
  "idle_in_transaction_session_timeout = 1",
  "idle_session_timeout = 5",
  "transaction_timeout = 2",
  "transaction_timeout = 50",
  "default_transaction_read_only = on",
  "default_transaction_isolation = serializable",
  "synchronous_commit = off",
  "bytea_output = escape",
  "client_encoding = latin1",
  "lc_messages = 'C'",
  "search_path = ''",
])("a role with %s loses and doubles nothing, and recovers", async (setting) => {
  const schema = freshSchema();
  await (await openMirror({ store: postgres({ connectionString: server.url, schema }) })).close();
  const { role, url } = await roleFor(schema);
  const mirror = await openMirror({ store: postgres({ connectionString: url, schema }) });
  let left = await bring(mirror, [0, 1, 2]);
  expect(left).toEqual([]);
  await run(`alter role "${role}" set ${setting}`, server.url);
  await endSessions(role);
  left = await bring(
    mirror,
    Array.from({ length: count }, (_, index) => index),
  );
  await run(`alter role "${role}" reset all`, server.url);
  await endSessions(role);
  while (left.length > 0) left = await bring(mirror, left);
  const [row] = await run(
    `select count(*)::int as rows, (select count(*)::int from "${schema}".contracts) as contracts from "${schema}".deliveries`,
    server.url,
  );
  expect(row).toEqual({ rows: count, contracts: 20 });
  expect((await mirror.health()).ok).toBe(true);
});

it("a server that only reads for a while, as after a failover, loses and doubles nothing", async () => {
  const schema = freshSchema();
  const mirror = await openMirror({ store: postgres({ connectionString: server.url, schema }) });
  const turn = async (way: string): Promise<void> => {
    await run(`alter system set default_transaction_read_only = ${way}`, server.url);
    await run("select pg_reload_conf()", server.url);
    await run(`do $$ begin perform pg_sleep(0.2); end $$`, server.url);
  };
  const all = Array.from({ length: count }, (_, index) => index);
  let left = await bring(mirror, all.slice(0, 20));
  await turn("on");
  left = [...left, ...(await bring(mirror, all.slice(20)))];
  expect(left.length).toBeGreaterThan(0);
  expect((await mirror.health()).ok).toBe(false);
  await turn("off");
  while (left.length > 0) left = await bring(mirror, left);
  const [row] = await run(`select count(*)::int as rows from "${schema}".deliveries`, server.url);
  expect(row).toEqual({ rows: count });
  expect((await mirror.health()).ok).toBe(true);
});
