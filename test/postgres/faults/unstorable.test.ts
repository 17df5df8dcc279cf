import { postgres } from "../../../src/store/postgres/store.ts";
import { freshSchema, postgresUrl, run } from "../../support/postgres.ts";
import {
  describeLacks,
  describeRefusals,
  describeUnstorable,
  poison,
  type Sabotaged,
} from "../../support/unstorable.ts";

describeUnstorable("Postgres", () => {
  const schema = freshSchema();
  return () => postgres({ connectionString: postgresUrl, schema });
});

const sabotaged = (): Sabotaged => {
  const schema = freshSchema();
  const whole = (name: string) => `"${schema}".${name}`;
  return {
    store: postgres({ connectionString: postgresUrl, schema }),
    say: (sql) => run(sql),
    before: whole(""),
    prefix: "",
    refusing: (table) => [
      `create function ${whole("poison")}() returns trigger language plpgsql as $$ begin raise exception 'poison'; end $$;
       create trigger poison before insert on ${whole(table)} for each row when (new.contract_id = '${poison}') execute function ${whole("poison")}()`,
      `drop trigger poison on ${whole(table)}`,
    ],
  };
};

describeRefusals("Postgres", sabotaged);
describeLacks("Postgres", sabotaged);
