/** How deliveries are written where their payloads are kept apart (`postgres/payloads.ts`): both tables in one statement. */
import { sql, type RawBuilder } from "kysely";
import { namesIn, type TablePlace } from "../sql/dialect.ts";
import { identityOf, refs, unnest, written } from "./columns.ts";
import { restNames } from "../sql/statements.ts";

/** What goes into the other table. */
const heavy: ReadonlySet<string> = new Set(["headers", "body"]);
const all = written("deliveries").map(({ name }) => name);
const slim = refs(all.filter((name) => !heavy.has(name)));

const given = sql`given as (
  select * from ${unnest(written("deliveries"))} with ordinality as given(${refs([...all, "place"])})
)`;

/** What is there of a delivery that was removed since is of no more use. */
const replacePayload = sql`
  on conflict (received_at, content_key)
  do update set headers = excluded.headers, body = excluded.body`;

/** Deliveries without their payloads; the payloads of those that went in. */
export function insertApart(place: TablePlace): RawBuilder<unknown> {
  const { deliveries, payloads } = tablesIn(place);
  const identity = identityOf("deliveries").map(({ name }) => name);
  return sql`
    with ${given}, fresh as (
      insert into ${deliveries} (${slim})
      select ${slim} from given
      on conflict do nothing
      returning ${refs(new Set([...identity, "content_key", "received_at", "id"]))}
    ), payload as (
      insert into ${payloads} (received_at, content_key, headers, body)
      select distinct on (fresh.content_key)
        fresh.received_at, fresh.content_key, given.headers, given.body
      from fresh
      join given on given.id = fresh.id and given.content_key = fresh.content_key
      order by fresh.content_key, given.place
      ${replacePayload}
    )
    select ${refs(identity)} from fresh`;
}

export function upsertApart(place: TablePlace): RawBuilder<unknown> {
  const { deliveries, payloads } = tablesIn(place);
  const rest = restNames("deliveries").filter((name) => !heavy.has(name));
  const pairs = rest.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);
  return sql`
    with ${given}, payload as (
      insert into ${payloads} (received_at, content_key, headers, body)
      select received_at, content_key, headers, body from given
      where headers is not null or body is not null
      ${replacePayload}
    )
    insert into ${deliveries} (${slim})
    select ${slim} from given
    on conflict (id) do update set ${sql.join(pairs)}, headers = null, body = null`;
}

function tablesIn(place: TablePlace) {
  const named = namesIn(place);
  return { deliveries: sql.table(named("deliveries")), payloads: sql.table(named("payloads")) };
}
