/** Tables with which somebody meddled: opening and health say so, before a delivery finds out. */
import { afterAll, describe, expect, it } from "vitest";
import { postgres } from "../../../src/store/postgres/store.ts";
import { tables, type TableName } from "../../../src/store/tables.ts";
import { delivery } from "../../support/delivery.ts";
import { openMirror } from "../../support/mirror.ts";
import { freshSchema, postgresUrl, run } from "../../support/postgres.ts";

const roles: string[] = [];
afterAll(async () => {
  for (const role of roles) await run(`drop owned by "${role}"; drop role "${role}"`);
});

/** The address of a user who may read and write rows, and whom policies bind. */
async function userOf(schema: string): Promise<string> {
  const role = freshSchema();
  roles.push(role);
  await run(
    `create role "${role}" login password 'tests';
     grant usage on schema "${schema}" to "${role}";
     grant select, insert, update, delete on all tables in schema "${schema}" to "${role}"`,
  );
  const url = new URL(postgresUrl);
  [url.username, url.password] = [role, "tests"];
  return url.href;
}

const policy = (which: string) => (table: string) =>
  `alter table ${table} enable row level security;
   create policy everything on ${table} using (true) with check (true);
   create policy hidden on ${table} as restrictive ${which}`;

const trigger = (name: string, when: string, body: string) => (table: string, schema: string) =>
  `create function "${schema}".${name}() returns trigger language plpgsql as $$ begin ${body} end $$;
   create trigger meddle ${when} on ${table} for each row execute function "${schema}".${name}()`;

const instead = (rest: string) => (table: string, schema: string) => {
  const theirs = table.replace(/\.(\w+)$/, ".$1_theirs");
  return `alter table ${table} rename to ${table.split(".")[1] ?? ""}_theirs;
    create view ${table} as select * from ${theirs} ${rest};
    grant select, insert, update, delete on ${table} to public; grant usage on schema "${schema}" to public`;
};

type Meddling = (table: string, schema: string) => string;

const meddlings: readonly (readonly [what: string, meddle: Meddling])[] = [
  ["a policy that hides rows", policy("for select using (false)")],
  ["a policy that hides rows from who changes them", policy("for update using (false)")],
  ["a policy that takes no rows", policy("for insert with check (false)")],
  ["policies and none that lets anyone in", (table) => `alter table ${table} enable row level security`],
  ["a trigger that drops rows", trigger("drop_row", "before insert", "return null;")],
  [
    "a trigger that removes them afterwards",
    trigger("gone", "after insert", "execute format('delete from %s', tg_relid::regclass); return null;"),
  ],
  ["a trigger that fails", trigger("fail", "before insert", "raise exception 'no'; return new;")],
  ["a view that shows no rows", instead("where false")],
  ["a view that can't be written", instead("limit 10")],
  [
    "a rule that writes nothing",
    (table) => `create rule nothing as on insert to ${table} do instead nothing`,
  ],
  ["a column that nobody fills", (table) => `alter table ${table} add column theirs int not null`],
  [
    "another type",
    (table) =>
      `alter table ${table} alter ${table.endsWith("contracts") ? "title" : "received_at"} type int using 0`,
  ],
];

describe.each(["deliveries", "payloads", "contracts"])("%s", (table) => {
  it.each(meddlings)("with %s are told of by opening and health", async (_, meddle) => {
    const schema = freshSchema();
    await (await openMirror({ store: postgres({ connectionString: postgresUrl, schema }) })).close();
    const store = postgres({ connectionString: await userOf(schema), schema });
    const running = await openMirror({ store });
    expect((await running.health()).ok).toBe(true);
    await run(meddle(`"${schema}".${table}`, schema));
    expect((await running.health()).ok).toBe(false);
    const another = postgres({ connectionString: await userOf(schema), schema });
    await expect(openMirror({ store: another })).rejects.toMatchObject({ code: "store-unavailable" });
  });
});

describe("opening", () => {
  it.each(Object.keys(tables))(
    "finds a trigger that drops rows of %s, and names the table",
    async (table) => {
      const schema = freshSchema();
      const open = () => openMirror({ store: postgres({ connectionString: postgresUrl, schema }) });
      await (await open()).close();
      await run(trigger("drop_row", "before insert", "return null;")(`"${schema}".${table}`, schema));
      await expect(open()).rejects.toMatchObject({
        code: "store-unavailable",
        message: expect.stringContaining(`the table ${table} does not return what was written to it`),
      });
    },
  );
});

it("what opening and health write to prove it leaves no row behind", async () => {
  const schema = freshSchema();
  const mirror = await openMirror({ store: postgres({ connectionString: postgresUrl, schema }) });
  await mirror.receive(delivery("contract.created"));
  const names = Object.keys(tables) as TableName[];
  const everything = () =>
    Promise.all(names.map((table) => run(`select * from "${schema}".${table} as t order by t::text`)));
  const before = await everything();
  expect((await mirror.health()).ok).toBe(true);
  await openMirror({ store: postgres({ connectionString: postgresUrl, schema }), migrate: "check" });
  expect(await everything()).toEqual(before);
});
