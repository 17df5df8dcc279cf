/** Whatever waits, a delivery is answered before the service gives up, and what was too late leaves nothing half done. */
import { Kysely, PostgresDialect } from "kysely";
import { Client } from "pg";
import { afterEach, describe, expect, it } from "vitest";
import type { Mirror } from "../../../src/mirror/create-mirror.ts";
import { postgres } from "../../../src/store/postgres/store.ts";
import { openReceiving, secret } from "../../property/receiving.ts";
import { delivery, type SendShape } from "../../support/delivery.ts";
import { openMirror } from "../../support/mirror.ts";
import { openProxy } from "../../support/proxy.ts";
import { freshSchema, openPool, postgresUrl, run } from "../../support/postgres.ts";

const deadlineMs = 1000;
const created = (id: number, send: SendShape = {}) =>
  delivery("contract.created", { id: `e-${id}`, seconds: id, contractId: `CNT-${id}` }, send);
/** Brings the first delivery until it is stored: on a busy machine a try may take longer than the short deadline. */
async function stored(mirror: Mirror): Promise<string> {
  for (;;) {
    const { status, outcome } = await mirror.receive(created(1));
    if (status === 200) return outcome;
  }
}

const unavailable = { status: 503, outcome: "failed", reason: "store-unavailable" };

function never(): Promise<never> {
  return new Promise(() => undefined);
}

function secretRow(fingerprint: string) {
  return { fingerprint, secretId: "s", verifiedAt: "" } as const;
}

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** A session of somebody else's, who holds a lock on a table until it is let go. */
async function lockTable(schema: string, table = "contracts"): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(`begin; lock table "${schema}".${table} in access exclusive mode`);
  const letGo = (): Promise<void> => client.end();
  undo.push(() => letGo().catch(() => undefined));
  return letGo;
}

/** Transactions of mirror.db that hold a connection each, until they are let go. */
async function holdConnections(mirror: Mirror, count: number): Promise<() => Promise<void>> {
  let free!: () => void;
  const freed = new Promise<void>((resolve) => (free = resolve));
  const begun: Promise<void>[] = [];
  const ended = Array.from({ length: count }, () => {
    let begin!: () => void;
    begun.push(new Promise((resolve) => (begin = resolve)));
    return mirror.db.transaction().execute(async (trx) => {
      await trx.selectFrom("contracts").selectAll().execute();
      begin();
      await freed;
    });
  });
  await Promise.all(begun);
  return async () => {
    free();
    await Promise.all(ended);
  };
}

/** What a trigger does before each row that goes into a table. */
async function beforeEachRow(schema: string, table: string, statement: string): Promise<void> {
  await run(
    `create function "${schema}".${table}_do() returns trigger language plpgsql as $$ begin ${statement}; return new; end $$;
     create trigger before_each before insert on "${schema}".${table} for each row execute function "${schema}".${table}_do()`,
  );
}

async function rowsIn(schema: string, table = "deliveries"): Promise<number> {
  const [row] = await run(`select count(*)::int as rows from "${schema}".${table}`);
  return Number(row?.["rows"]);
}

describe("a delivery is answered 503 at the deadline, and 200 afterwards, where", () => {
  it.each([1, 3])("transactions of mirror.db hold all %i connections", async (connectionsMax) => {
    const schema = freshSchema();
    const store = postgres({ connectionString: postgresUrl, schema, deadlineMs, connectionsMax });
    const mirror = await openMirror({ store });
    const letGo = await holdConnections(mirror, connectionsMax);
    expect(await mirror.receive(created(1))).toMatchObject(unavailable);
    expect((await mirror.health()).ok).toBe(false);
    await letGo();
    expect(await stored(mirror)).toBe("applied");
  });

  it("the app's pool gives up sooner than we do, each time", async () => {
    const pool = openPool(postgresUrl, { max: 1, connectionTimeoutMillis: deadlineMs * 0.6 });
    const mirror = await openMirror({ store: postgres({ pool, schema: freshSchema(), deadlineMs }) });
    const letGo = await holdConnections(mirror, 1);
    let asked = 0;
    const connect = pool.connect.bind(pool) as (callback: unknown) => void;
    Object.assign(pool, { connect: (callback: unknown) => connect((asked++, callback)) });
    expect(await mirror.receive(created(1))).toMatchObject(unavailable);
    // The time was up before the number of tries was.
    expect(asked).toBeLessThan(4);
    await letGo();
    expect(await stored(mirror)).toBe("applied");
  });

  it("the app's pool never gives a connection", async () => {
    const pool = openPool();
    const mirror = await openMirror({ store: postgres({ pool, schema: freshSchema(), deadlineMs }) });
    const connect = pool.connect.bind(pool);
    Object.assign(pool, { connect: never });
    expect(await mirror.receive(created(1))).toMatchObject(unavailable);
    Object.assign(pool, { connect });
    expect(await stored(mirror)).toBe("applied");
  });

  it("somebody holds a lock on a table", async () => {
    const schema = freshSchema();
    const mirror = await openMirror({
      store: postgres({ connectionString: postgresUrl, schema, deadlineMs }),
    });
    const letGo = await lockTable(schema);
    expect(await mirror.receive(created(1))).toMatchObject(unavailable);
    await letGo();
    expect(await stored(mirror)).toBe("applied");
  });

  it("the server lets everyone in and says nothing", async () => {
    const proxy = await openProxy(postgresUrl);
    undo.push(() => proxy.close());
    const schema = freshSchema();
    const mirror = await openMirror({ store: postgres({ connectionString: proxy.url, schema, deadlineMs }) });
    proxy.hang();
    // First on a connection that is there, then on none.
    expect(await mirror.receive(created(1))).toMatchObject(unavailable);
    expect(await mirror.receive(created(1))).toMatchObject(unavailable);
    proxy.goOn();
    expect(await stored(mirror)).toBe("applied");
  });

  it("each of its statements takes less than the deadline, and all together more", async () => {
    const schema = freshSchema();
    const mirror = await openMirror({
      store: postgres({ connectionString: postgresUrl, schema, deadlineMs }),
    });
    const slow = `perform pg_sleep(${(deadlineMs / 1000) * 0.6})`;
    for (const table of ["deliveries", "contracts"]) await beforeEachRow(schema, table, slow);
    expect(await mirror.receive(created(1))).toMatchObject(unavailable);
    expect(await rowsIn(schema)).toBe(0);
    await run(`drop trigger before_each on "${schema}".contracts`);
    expect(await stored(mirror)).toBe("applied");
  });

  it("another transaction is in its way each time", async () => {
    const schema = freshSchema();
    const mirror = await openMirror({
      store: postgres({ connectionString: postgresUrl, schema, deadlineMs }),
    });
    await run(`create sequence "${schema}".tries`);
    const conflict = `perform pg_sleep(${(deadlineMs / 1000) * 0.6}); perform nextval('"${schema}".tries'); raise exception using errcode = '40001'`;
    await beforeEachRow(schema, "contracts", conflict);
    expect(await mirror.receive(created(1))).toMatchObject(unavailable);
    const [row] = await run(`select last_value::int as tries from "${schema}".tries`);
    // The time was up before the number of tries was.
    expect(row?.["tries"]).toBeLessThan(3);
  });
});

describe("deliveries behind others", () => {
  it("are all answered in time, however many commits are before them and fail slowly", async () => {
    const schema = freshSchema();
    const store = postgres({ connectionString: postgresUrl, schema, deadlineMs });
    undo.push(() => store.close());
    const { receiver } = await openReceiving(store, { answerMs: 2 * deadlineMs, batchMax: 1 });
    const letGo = await lockTable(schema);
    const ids = Array.from({ length: 20 }, (_, id) => id);
    const receive = (id: number) => receiver.receive(created(id, { secret }));
    // One after the other they would take ten times as long as one may wait.
    const first = await Promise.race([
      Promise.all(ids.map(receive)),
      new Promise<string>((resolve) => setTimeout(resolve, 10 * deadlineMs, "some still wait")),
    ]);
    expect(first).toEqual(ids.map(() => expect.objectContaining(unavailable)));
    await letGo();
    for (const id of ids) while ((await receive(id)).status !== 200);
    expect(await rowsIn(schema)).toBe(ids.length);
    await receiver.close();
  });

  it("wait for a transaction of this process no longer than they may", async () => {
    const store = postgres({ connectionString: postgresUrl, schema: freshSchema(), deadlineMs });
    const mirror = await openMirror({ store });
    let free!: () => void;
    const freed = new Promise<void>((resolve) => (free = resolve));
    const long = store.transaction(() => freed);
    expect(await mirror.receive(created(1))).toMatchObject(unavailable);
    await expect(store.transaction(async () => 1)).rejects.toMatchObject({
      code: "store-unavailable",
      message: expect.stringContaining("is busy: earlier transactions of this process"),
    });
    free();
    await long.catch(() => undefined);
    expect(await stored(mirror)).toBe("applied");
  });
});

describe("a transaction that was given up", () => {
  it("writes nothing of what was asked for beside the statement that failed", async () => {
    const schema = freshSchema();
    const store = postgres({ pool: openPool(), schema, deadlineMs });
    await openMirror({ store });
    const failing = store.transaction((tx) =>
      Promise.all([
        tx.find("deliveries", { where: [{ field: "seq", op: "=", value: "no number" }] }),
        ...["a", "b", "c", "d"].map((each) => tx.insert("secrets", [secretRow(each)])),
      ]),
    );
    await expect(failing).rejects.toThrow();
    await store.transaction(async (tx) => tx.find("secrets"));
    expect(await rowsIn(schema, "secrets")).toBe(0);
  });

  it("leaves the connection of an app's Kysely outside of it, although nobody can destroy it", async () => {
    const proxy = await openProxy(postgresUrl);
    undo.push(() => proxy.close());
    const schema = freshSchema();
    const pool = openPool(proxy.url, { max: 1 });
    const kysely = new Kysely<Record<string, Record<string, unknown>>>({
      dialect: new PostgresDialect({ pool }),
    });
    const mirror = await openMirror({ store: postgres({ kysely, schema, deadlineMs }) });
    await run(`create table "${schema}".theirs (id int)`);
    const letGo = await lockTable(schema, "deliveries");
    const answering = mirror.receive(created(1));
    await waitingFor(schema, "deliveries");
    proxy.hang();
    expect(await answering).toMatchObject(unavailable);
    proxy.goOn();
    await letGo();
    await kysely.withSchema(schema).insertInto("theirs").values({ id: 1 }).execute();
    expect(await rowsIn(schema, "theirs")).toBe(1);
  });
});

/** Resolves once somebody waits for a lock on the table. */
async function waitingFor(schema: string, table: string): Promise<void> {
  const waiting = `select 1 from pg_locks where relation = '"${schema}".${table}'::regclass and not granted`;
  while ((await run(waiting)).length === 0);
}
