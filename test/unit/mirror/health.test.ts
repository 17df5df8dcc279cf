import { expect, it } from "vitest";
import { delivery } from "../../support/delivery.ts";
import { openMirror } from "../../support/mirror.ts";
import { freshSchema, openPool, postgresUrl } from "../../support/postgres.ts";
import { postgres } from "../../../src/store/postgres/store.ts";

it("health is not ok while the right to write deliveries is gone, and asking leaves no trace", async () => {
  const schema = freshSchema();
  const pool = openPool();
  const role = schema.replace("test_", "role_");
  await pool.query(`create role "${role}"`);
  try {
    await (await openMirror({ store: postgres({ connectionString: postgresUrl, schema }) })).close();
    await pool.query(`grant usage on schema "${schema}" to "${role}"`);
    await pool.query(`grant all on all tables in schema "${schema}" to "${role}"`);
    const url = new URL(postgresUrl);
    url.searchParams.set("options", `-c role=${role}`);
    const mirror = await openMirror({
      store: postgres({ connectionString: url.href, schema }),
      migrate: "check",
    });
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
    const rows = async () =>
      (await pool.query(`select *, xmin from "${schema}".deliveries`)).rows as unknown[];
    const before = await rows();
    expect((await mirror.health()).ok).toBe(true);
    expect(await rows()).toEqual(before);
    await pool.query(`revoke insert, update, delete on "${schema}".deliveries from "${role}"`);
    expect((await mirror.health()).ok).toBe(false);
    await mirror.close();
  } finally {
    await pool.query(`drop owned by "${role}"; drop role "${role}"`);
  }
});
