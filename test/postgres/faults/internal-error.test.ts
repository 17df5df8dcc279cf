/** What the log says of a fault that nobody foresaw: the operation and the table, the server's code, never a value. */
import { expect, it } from "vitest";
import { postgres } from "../../../src/store/postgres/store.ts";
import { delivery } from "../../support/delivery.ts";
import { openMirror, recordingLogger } from "../../support/mirror.ts";
import { freshSchema, postgresUrl, run } from "../../support/postgres.ts";

const personal = "sara@example.com";

async function told(sabotage: (schema: string) => string): Promise<string> {
  const schema = freshSchema();
  const logger = recordingLogger();
  const mirror = await openMirror({ store: postgres({ connectionString: postgresUrl, schema }), logger });
  await run(sabotage(`"${schema}"`));
  const sent = delivery("contract.created", { id: "e-1", seconds: 0, reference: personal });
  expect((await mirror.receive(sent)).status).toBe(503);
  expect(JSON.stringify(logger.lines)).not.toContain(personal);
  const line = logger.lines.find(({ level }) => level === "error");
  return `${String(line?.fields["step"])}: ${String(line?.fields["error"])}: ${line?.message}`;
}

it.each([
  [
    "a check that somebody added",
    (schema: string) => `alter table ${schema}.contracts add constraint short check (length(reference) < 5)`,
    /^persist: error 23514: .*insert into "\w+"\."contracts" failed \(error 23514: new row for relation "contracts" violates check constraint "short"\)$/,
  ],
  [
    "a type that somebody changed",
    (schema: string) => `alter table ${schema}.contracts alter column title type integer using null`,
    /^persist: error 42804: .*(insert into "\w+"\."contracts" failed|can't be used now) \(.*42804/,
  ],
  [
    "a trigger of somebody else's, which quotes a row",
    (schema: string) =>
      `create function ${schema}.refuse() returns trigger language plpgsql as $$ begin raise exception '%', new.reference; end $$;
       create trigger refuse before insert on ${schema}.contracts for each row when (new.reference is not null) execute function ${schema}.refuse()`,
    /^persist: error P0001: storing the changes failed: insert into "\w+"\."contracts" failed \(error P0001\)$/,
  ],
  [
    "a dropped table",
    (schema: string) => `drop table ${schema}.transitions`,
    /^persist: error 42P01: .*relation "\w+\.transitions" does not exist/,
  ],
])("names %s", async (_, sabotage, expected) => {
  expect(await told(sabotage)).toMatch(expected);
});
