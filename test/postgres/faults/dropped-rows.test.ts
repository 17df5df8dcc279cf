import { postgres } from "../../../src/store/postgres/store.ts";
import type { PostgresTarget } from "../../../src/store/postgres/options.ts";
import { describeDroppedRows, type MeddledStore } from "../../support/dropped-rows.ts";
import { openMirror } from "../../support/mirror.ts";
import { freshSchema, run, targets } from "../../support/postgres.ts";

const dropping = (target: () => PostgresTarget) => async (): Promise<MeddledStore> => {
  const schema = freshSchema();
  const open = () => postgres({ ...target(), schema });
  await (await openMirror({ store: open() })).close();
  await run(
    `create function "${schema}".drop_row() returns trigger language plpgsql as $$ begin return null; end $$`,
  );
  return {
    store: open(),
    meddle: async (table, operation) => {
      const at = `"${schema}".${table}`;
      await run(
        `create trigger meddle before ${operation} on ${at} for each row execute function "${schema}".drop_row()`,
      );
      return async () => void (await run(`drop trigger meddle on ${at}`));
    },
  };
};

for (const [name, target] of targets)
  describeDroppedRows(`${name}: a trigger that drops rows`, dropping(target));
