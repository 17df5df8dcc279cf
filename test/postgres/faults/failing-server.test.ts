/** What a failing server does to those who receive: 503 and a later 200, never a lost delivery or an ended process. */
import type { Pool, PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMirror, type Mirror } from "../../../src/mirror/create-mirror.ts";
import type { PostgresTarget } from "../../../src/store/postgres/options.ts";
import { postgres } from "../../../src/store/postgres/store.ts";
import { delivery, secret } from "../../support/delivery.ts";
import { openMirror } from "../../support/mirror.ts";
import { createServerOfOurs, type PostgresServer } from "../../support/postgres-server.ts";
import { openProxy } from "../../support/proxy.ts";
import { freshSchema, openPool, postgresUrl, run } from "../../support/postgres.ts";
import { prunePayloads } from "../../support/prune.ts";

const isSoak = process.env["SOAK"] === "1";
const count = isSoak ? 5_000 : 500;

let server: PostgresServer;
beforeAll(async () => {
  server = await createServerOfOurs();
});
afterAll(() => server.remove());

const event = (index: number) =>
  delivery(
    "contract.created",
    { id: `e-${index}`, seconds: index, contractId: `CNT-${index % 50}` },
    { webhookId: `wh-${index}` },
  );

/** Brings every delivery until it is answered 200, many at a time; what was answered, by status and outcome. */
async function bringAll(mirror: Mirror, onAnswer: () => void = () => {}): Promise<Map<string, number>> {
  const answers = new Map<string, number>();
  const queue = Array.from({ length: count }, (_, index) => index);
  const worker = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const { status, outcome } = await mirror.receive(event(next));
      answers.set(`${status} ${outcome}`, (answers.get(`${status} ${outcome}`) ?? 0) + 1);
      onAnswer();
      if (status === 200) continue;
      queue.unshift(next);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  return answers;
}

async function checkStored(mirror: Mirror): Promise<void> {
  const [row] = await mirror.db
    .selectFrom("deliveries")
    .select((eb) => [eb.fn.countAll<number>().as("rows"), eb.fn.sum<number>("attempts").as("attempts")])
    .execute();
  expect(row?.rows).toBe(count);
  expect(Number(row?.attempts)).toBeGreaterThanOrEqual(count);
  expect((await mirror.contracts.count()).total).toBe(Math.min(50, count));
}

const kinds: readonly (readonly [string, () => PostgresTarget])[] = [
  ["a connection string", () => ({ connectionString: server.url })],
  ["the app's pool", () => ({ pool: openPool(server.url) })],
];

describe.each(kinds)("with %s", (_, target) => {
  it("backends terminated at random lose nothing and end no process", { timeout: 120_000 }, async () => {
    const mirror = await openMirror({ store: postgres({ ...target(), schema: freshSchema() }) });
    let answered = 0;
    // It waits for the end of each, so that nothing dies after the last.
    const kill =
      "select count(*) filter (where pg_terminate_backend(pid, 5000))::int as killed from pg_stat_activity where pid <> pg_backend_pid() and usename = 'postgres'";
    const kills: Promise<Record<string, unknown>[]>[] = [];
    const answers = await bringAll(mirror, () => {
      // One that kills is itself killed by another now and then.
      if (++answered % 60 === 0) kills.push(run(kill, server.url).catch(() => []));
    });
    const killed = (await Promise.all(kills)).flat().map((row) => Number(row["killed"]));
    expect(killed.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0);
    expect([...answers.keys()].filter((each) => !/^(200 |503 failed)/.test(each))).toEqual([]);
    await checkStored(mirror);
    expect((await mirror.health()).ok).toBe(true);
  });

  it(
    "a restart of the server under load loses nothing, and health says what happens",
    { timeout: 120_000 },
    async () => {
      const mirror = await openMirror({ store: postgres({ ...target(), schema: freshSchema() }) });
      let answered = 0;
      let restarted: Promise<boolean> | undefined;
      const restart = async (): Promise<boolean> => {
        await server.stop();
        const { ok } = await mirror.health();
        await server.start();
        return ok;
      };
      await bringAll(mirror, () => {
        if (++answered === Math.round(count / 3)) restarted = restart();
      });
      expect(await restarted).toBe(false);
      await checkStored(mirror);
      expect((await mirror.health()).ok).toBe(true);
    },
  );
});

/** A pool whose next transaction for writing does not begin, as one that is cancelled at that moment. */
function poolThatRefuses(url: string): { pool: Pool; refuseNext: () => void } {
  const pool = openPool(url);
  const connect = pool.connect.bind(pool);
  let refusing = false;
  const lend = (callback: (error: Error | undefined, client: PoolClient | undefined) => void): void =>
    connect((error, client) => callback(error, client && refusing ? refuseOnce(client) : client));
  const refuseOnce = (client: PoolClient): PoolClient => {
    refusing = false;
    const cancelled = Object.assign(new Error("canceling statement due to user request"), { code: "57014" });
    const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
    return Object.assign(client, {
      query: (...parameters: unknown[]): unknown => {
        Object.assign(client, { query });
        return parameters.length > 0 ? Promise.reject(cancelled) : undefined;
      },
    });
  };
  return { pool: Object.assign(pool, { connect: lend }), refuseNext: () => (refusing = true) };
}

describe("a transaction that does not begin", () => {
  it("writes nothing: without one, each statement would commit by itself", async () => {
    const { pool, refuseNext } = poolThatRefuses(postgresUrl);
    const mirror = await openMirror({ store: postgres({ pool, schema: freshSchema() }) });
    expect((await mirror.receive(event(1))).status).toBe(200);
    refuseNext();
    const answer = await mirror.receive(event(2));
    expect(answer).toMatchObject({ status: 503, reason: "store-unavailable" });
    expect((await mirror.deliveries.list({})).items.map(({ webhookId }) => webhookId)).toEqual(["wh-1"]);
    expect(await mirror.receive(event(2))).toMatchObject({ status: 200, outcome: "applied" });
  });
});

describe("a server that hangs", () => {
  it("is given up at the deadline, and its connection with it", async () => {
    const proxy = await openProxy(postgresUrl);
    // With another connection idle, the read would be given that one, and wait for its answer instead.
    const store = postgres({
      connectionString: proxy.url,
      schema: freshSchema(),
      deadlineMs: 1000,
      connectionsMax: 1,
    });
    const mirror = await openMirror({ store });
    expect((await mirror.receive(event(1))).status).toBe(200);
    proxy.hang();
    expect(await mirror.receive(event(2))).toMatchObject({ status: 503, reason: "store-unavailable" });
    await expect(store.read((reader) => reader.find("contracts"))).rejects.toMatchObject({
      code: "store-unavailable",
      message: `${store.description} gave no connection in time: is its pool exhausted, or does the server hang?`,
    });
    proxy.goOn();
    let comesAgain = 10;
    while ((await mirror.receive(event(2))).status !== 200) expect(--comesAgain).toBeGreaterThan(0);
    await mirror.close();
    await proxy.close();
  });
});

describe("a database", () => {
  it("that can only be read is refused when the store is opened", async () => {
    const schema = freshSchema();
    await (await openMirror({ store: postgres({ connectionString: postgresUrl, schema }) })).close();
    const url = new URL(postgresUrl);
    url.searchParams.set("options", "-c default_transaction_read_only=on");
    const mirror = await openMirror({
      store: postgres({ connectionString: url.href, schema }),
      migrate: "check",
    }).catch((error: unknown) => error);
    expect(mirror).toMatchObject({ code: "store-unavailable" });
  });

  it("that is not there is told of with its place, and without its password", async () => {
    const store = postgres({ connectionString: "postgres://someone:hush-hush@127.0.0.1:1/none" });
    const opening = createMirror({ store, webhook: { secrets: secret } });
    await expect(opening).rejects.toMatchObject({
      code: "store-unavailable",
      message:
        "postgres 127.0.0.1:1/none schema escrow_mirror can't be used now (ECONNREFUSED): is it running and reachable from here?",
    });
    expect(store.description).not.toContain("hush");
  });

  it.each<[string, (url: URL) => unknown, RegExp]>([
    [
      "a wrong password",
      (url) => (url.password = "hush-hush"),
      /\(28P01\): password authentication failed for/,
    ],
    ["no password", (url) => (url.password = ""), /\(28P01\): empty password/],
    ["a missing database", (url) => (url.pathname = "/none"), /\(3D000\): database "none" does not exist/],
    ["an unknown host", (url) => (url.hostname = "none.invalid"), /\(E\w+\): no such host is known here/],
    ["TLS that is not spoken there", (url) => (url.search = "?ssl=1"), /: The server does not support SSL/],
  ])("that refuses %s says where it is and why, and no password", async (_, change, message) => {
    const url = new URL(server.url);
    change(url);
    const opening = openMirror({ store: postgres({ connectionString: url.href, schema: "somewhere" }) });
    const error = await opening.then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error).toMatchObject({ code: "store-unavailable", message: expect.stringMatching(message) });
    expect(error?.message).toContain(
      `postgres ${url.host}${url.pathname} schema somewhere can't be used now`,
    );
    expect(error?.message).not.toMatch(/hush/);
  });

  it("in which we lack a right says which", async () => {
    const [schema, role] = [freshSchema(), freshSchema()];
    await (await openMirror({ store: postgres({ connectionString: postgresUrl, schema }) })).close();
    await run(`create role "${role}" login password 'hush-hush'`);
    const url = new URL(postgresUrl);
    [url.username, url.password] = [role, "hush-hush"];
    const store = postgres({ connectionString: url.href, schema });
    await expect(openMirror({ store, migrate: "check" })).rejects.toMatchObject({
      code: "store-unavailable",
      message: `${store.description} can't be used now (42501): permission denied for schema ${schema}`,
    });
    await run(`drop role "${role}"`);
  });

  it("that is closed in the middle of pruning says closed, and where it was", async () => {
    const store = postgres({ connectionString: postgresUrl, schema: freshSchema() });
    const mirror = await openMirror({ store });
    await mirror.receive(event(1));
    const pruning = prunePayloads(store, new Date());
    await Promise.all([
      expect(pruning).rejects.toMatchObject({
        code: "closed",
        message: `${store.description} is closed, and the mirror with it`,
      }),
      store.close(),
    ]);
  });
});
