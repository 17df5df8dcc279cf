import { systemClock, toIsoTime, type Clock } from "../../shared/clock.ts";
import { sqlNamesIn, type TablePlace } from "../sql/dialect.ts";
import type { Session } from "../sql/session.ts";
import { texts } from "./array.ts";

/**
 * When the next job of these handlers is due, by the clock of this process: that of the database, which times the jobs, may
 * differ.
 *
 * @param clock the clock that was injected, which times the jobs too
 */
export async function nextArrayJobAt(
  look: Session["all"],
  place: TablePlace,
  handlers: readonly string[],
  clock: Clock | undefined,
): Promise<string | null> {
  const jobs = sqlNamesIn(place)("jobs");
  const [row] = await look(
    `select min(head.next_attempt_at), (extract(epoch from clock_timestamp()) * 1000)::bigint
     from unnest($1::text[]) as h(name)
     cross join (values (0), (1)) as l(lost)
     cross join lateral (
       select next_attempt_at from ${jobs}
       where handler = h.name and lost = l.lost and state = 'due' order by next_attempt_at limit 1
     ) as head`,
    [texts(handlers)],
  );
  const [dueAt, now] = (row ?? [null]) as [string | null, unknown];
  if (dueAt === null || clock !== undefined) return dueAt;
  return toIsoTime(Date.parse(dueAt) - Number(now) + systemClock.now());
}
