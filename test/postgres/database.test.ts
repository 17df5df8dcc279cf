import { execFileSync } from "node:child_process";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { postgres } from "../../src/store/postgres/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";
import { openProxy } from "../support/proxy.ts";
import { freshSchema, kyselyOn, openPool, postgresUrl, targets } from "../support/postgres.ts";

it.each(targets)("mirror.db on %s reads amounts as numbers, and writes nothing", async (_, target) => {
  const mirror = await openMirror({ store: postgres({ ...target(), schema: freshSchema(), prefix: "e_" }) });
  await mirror.receive(delivery("contract.created", { seconds: 0, amount: "90071992547409.91" }));
  const rows = await mirror.db
    .selectFrom("contracts")
    .innerJoin("deliveries", "deliveries.contract_id", "contracts.contract_id")
    .select(["contracts.amount_minor", "deliveries.attempts", "contracts.status_derived"])
    .execute();
  expect(rows).toEqual([{ amount_minor: 9007199254740991, attempts: 1, status_derived: 0 }]);
  await expect(mirror.db.deleteFrom("contracts").execute()).rejects.toThrow(/mirror\.db can only read/);
  await expect(sql`delete from pg_class`.execute(mirror.db)).rejects.toThrow(/read-only/);
  const counted = await mirror.db
    .transaction()
    .execute((trx) => trx.selectFrom("contracts").select("contract_id").execute());
  expect(counted).toEqual([{ contract_id: "CNT-1" }]);
});

const deadlineMs = 700;

/** Ends the connections of this name while the event loop stands, so that no pool hears of it; how many there were. */
function endedWhileThisProcessIsDeaf(applicationName: string): number {
  const kill = `select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = '${applicationName}'`;
  const script = `
    import pg from "pg";
    const client = new pg.Client({ connectionString: ${JSON.stringify(postgresUrl)} });
    await client.connect();
    console.log((await client.query(${JSON.stringify(kill)})).rowCount);
    await client.end();`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "--eval", script]));
}

describe("mirror.db that waits for itself", () => {
  it.each([1, 2])("ends with an error that says why, in a pool of %i", async (connectionsMax) => {
    const store = postgres({
      connectionString: postgresUrl,
      schema: freshSchema(),
      connectionsMax,
      deadlineMs,
    });
    const mirror = await openMirror({ store });
    const count = () => mirror.db.selectFrom("contracts").select("status").execute();
    const nested = (depth: number): Promise<unknown> =>
      mirror.db.transaction().execute(() => (depth === 1 ? count() : nested(depth - 1)));
    await expect(nested(connectionsMax)).rejects.toMatchObject({
      code: "store-unavailable",
      message: expect.stringMatching(
        /^mirror\.db on postgres .* got no connection in time: .* make it on the transaction, or give the pool/,
      ),
    });
    // Nothing is held any more.
    expect(await count()).toEqual([]);
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
  });

  it.each([
    ["the app's pool", () => ({ pool: openPool(postgresUrl, { max: 1 }) })],
    ["the app's Kysely", () => ({ kysely: kyselyOn(postgresUrl, { max: 1 }) })],
  ])("does so in %s too, and nobody waits there afterwards", async (_, target) => {
    const mirror = await openMirror({ store: postgres({ ...target(), schema: freshSchema(), deadlineMs }) });
    const reading = mirror.db.transaction().execute(() => mirror.contracts.count());
    await expect(reading).rejects.toMatchObject({ code: "store-unavailable" });
    const querying = mirror.db
      .transaction()
      .execute(() => mirror.db.selectFrom("contracts").selectAll().execute());
    await expect(querying).rejects.toMatchObject({ code: "store-unavailable" });
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
  });

  it("is refused a stream, with what to do instead", async () => {
    const mirror = await openMirror({
      store: postgres({ connectionString: postgresUrl, schema: freshSchema() }),
    });
    const read = async (): Promise<void> => {
      for await (const { contract_id } of mirror.db.selectFrom("contracts").selectAll().stream())
        await mirror.db.selectFrom("deliveries").selectAll().where("contract_id", "=", contract_id).execute();
    };
    await expect(read()).rejects.toMatchObject({
      code: "invalid-configuration",
      message: expect.stringContaining("does not stream on Postgres: read in pages"),
    });
  });
});

describe.each([
  ["a connection string", (url: string) => ({ connectionString: url })],
  ["the app's pool", (url: string) => ({ pool: openPool(url) })],
  ["the app's Kysely", (url: string) => ({ kysely: kyselyOn(url) })],
])("mirror.db on %s", (_, target) => {
  it("tells of a server that is gone or hangs where it was, and not the password", async () => {
    const proxy = await openProxy(postgresUrl);
    const mirror = await openMirror({
      store: postgres({ ...target(proxy.url), schema: freshSchema(), deadlineMs }),
    });
    const failure = (): Promise<unknown> =>
      mirror.db
        .selectFrom("contracts")
        .selectAll()
        .execute()
        .catch((error: unknown) => error);
    proxy.hang();
    const hanging = await failure();
    proxy.goOn();
    await proxy.close();
    const gone = await failure();
    const { hostname, port, password } = new URL(proxy.url);
    for (const error of [hanging, gone]) {
      expect(error).toMatchObject({ code: "store-unavailable" });
      expect(String(error)).toMatch(/mirror\.db on postgres/);
      expect(String(error)).not.toContain(password);
    }
    expect(String(gone)).toContain(`${hostname}:${port}`);
  });

  it("reads on another connection when those that are idle have just been ended", async () => {
    const schema = freshSchema();
    const url = new URL(postgresUrl);
    url.searchParams.set("application_name", schema);
    const mirror = await openMirror({ store: postgres({ ...target(url.href), schema }) });
    await Promise.all(Array.from({ length: 4 }, () => sql`select pg_sleep(0.1)`.execute(mirror.db)));
    expect(endedWhileThisProcessIsDeaf(schema)).toBeGreaterThanOrEqual(4);
    expect(await mirror.db.selectFrom("contracts").selectAll().execute()).toEqual([]);
    expect(endedWhileThisProcessIsDeaf(schema)).toBeGreaterThanOrEqual(1);
    expect((await mirror.contracts.count()).total).toBe(0);
    expect((await mirror.health()).ok).toBe(true);
  });

  it("leaves to the driver what is wrong with a query", async () => {
    const mirror = await openMirror({ store: postgres({ ...target(postgresUrl), schema: freshSchema() }) });
    await expect(sql`select 1 / 0`.execute(mirror.db)).rejects.toMatchObject({ code: "22012" });
    await expect(sql`select from nowhere`.execute(mirror.db)).rejects.toMatchObject({ code: "42P01" });
    const patient = sql`set local statement_timeout = 20; select pg_sleep(5)`;
    await expect(patient.execute(mirror.db)).rejects.toMatchObject({ code: "57014" });
  });
});
