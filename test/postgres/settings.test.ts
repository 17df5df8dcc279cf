/** What a server, a database or an app's driver may be set to: the mirror comes out the same, or refuses to start. */
import { EventEmitter } from "node:events";
import { Kysely, PostgresDialect } from "kysely";
import { types } from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { postgres } from "../../src/store/postgres/store.ts";
import type { PgPool } from "../../src/store/postgres/pg.ts";
import { connectionsOfPool } from "../../src/store/postgres/pool.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";
import { freshDatabase, freshSchema, openPool, run, targets } from "../support/postgres.ts";

const { BYTEA: bytea, TEXT: text } = types.builtins;
const parseBytea = types.getTypeParser(bytea);
const parseText = types.getTypeParser(text);

afterEach(() => {
  types.setTypeParser(bytea, parseBytea);
  types.setTypeParser(text, parseText);
});

describe.each(targets)("over %s", (_kind, target) => {
  it("takes a reference of any length, and finds it", async () => {
    const mirror = await openMirror({ store: postgres({ ...target(), schema: freshSchema() }) });
    const reference = Array.from({ length: 20_000 }, (_, at) => ((at * 7919) % 36).toString(36)).join("");
    const taken = await mirror.receive(delivery("contract.created", { seconds: 0, reference }));
    expect(taken).toMatchObject({ status: 200, outcome: "applied" });
    expect((await mirror.contracts.list({ reference })).items.map(({ contractId }) => contractId)).toEqual([
      "CNT-1",
    ]);
  });
});

describe("bytea_output = escape", () => {
  it.each(["month", undefined] as const)("changes nothing, partitions: %s", async (partition) => {
    const url = await freshDatabase();
    await run(`alter database "${new URL(url).pathname.slice(1)}" set bytea_output = 'escape'`, url);
    const mirror = await openMirror({
      store: postgres({ connectionString: url, ...(partition && { partition }) }),
    });
    const created = delivery("contract.created", { seconds: 0 });
    expect((await mirror.receive(created)).outcome).toBe("applied");
    expect((await mirror.receive(created)).outcome).toBe("duplicate");
    expect((await mirror.contracts.count()).total).toBe(1);
    const [stored] = (await mirror.deliveries.list()).items;
    expect(await stored?.body()).toEqual(created.body);
  });
});

describe("the app's Kysely", () => {
  it.each([
    ["bytea as text", bytea, (value: string) => value],
    ["bytea as other bytes", bytea, (value: string) => Buffer.from(value)],
    ["text in capitals", text, (value: string) => value.toUpperCase()],
  ])("is refused where this process reads %s", async (_, oid, parse) => {
    types.setTypeParser(oid, parse);
    const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool: openPool() }) });
    await expect(openMirror({ store: postgres({ kysely, schema: freshSchema() }) })).rejects.toMatchObject({
      code: "invalid-configuration",
      message: expect.stringContaining("setTypeParser"),
    });
    // A pool is read by parsers of our own.
    const mirror = await openMirror({ store: postgres({ pool: openPool(), schema: freshSchema() }) });
    expect((await mirror.receive(delivery("contract.created"))).outcome).toBe("applied");
  });
});

it("a database that can't hold every text is refused", async () => {
  const url = await freshDatabase("encoding 'LATIN1' locale 'C' template template0");
  await expect(openMirror({ store: postgres({ connectionString: url }) })).rejects.toMatchObject({
    code: "invalid-configuration",
    message: expect.stringMatching(/LATIN1.*UTF8/),
  });
});

it("a client is listened to from the moment at which the pool gives it", async () => {
  const client = Object.assign(new EventEmitter(), { release: () => undefined });
  // As pg-pool does it: its own listener is gone, and what the server said on its way out comes next.
  const pool = {
    on: () => undefined,
    end: async () => undefined,
    connect: (callback: (error: undefined, client: unknown) => void): void => {
      callback(undefined, client);
      client.emit("error", new Error("terminating connection due to administrator command"));
    },
  };
  const connection = await connectionsOfPool(pool as unknown as PgPool, 1000, false).connect(() => 1000);
  expect(client.listenerCount("error")).toBe(1);
  connection.release(false);
  expect(client.listenerCount("error")).toBe(0);
});
