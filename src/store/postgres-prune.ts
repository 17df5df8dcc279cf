import type { TablePlace } from "./dialect.ts";
import {
  deleteOthers,
  deliverySpan,
  dropPartitions,
  emptyRows,
  layOutPayloads,
  type PayloadLayout,
  type PrunedPayloads,
} from "./postgres-payloads.ts";
import type { Engine } from "./session.ts";

export interface PruneParts {
  readonly engine: Engine;
  readonly place: TablePlace;
  readonly layout: PayloadLayout;
  readonly before: string;
  readonly now: Date;
}

/** How many deliveries one transaction looks at: none holds locks for long. */
const pageRows = 5000;

/** Takes old payloads away: partitions in one transaction under the migrations' lock, rows page by page. */
export async function prunePayloads(parts: PruneParts): Promise<PrunedPayloads> {
  const { engine, place, layout, before } = parts;
  const partitions = layout.partitioned ? await rollPartitions(parts) : [];
  let rows = layout.partitioned
    ? await engine.transaction((session) => deleteOthers(session, place, before))
    : 0;
  const [first, last] = await engine.read((session) => deliverySpan(session, place));
  for (let from = first; from <= last; from += pageRows)
    rows += await engine.transaction((session) =>
      emptyRows(session, place, { before, from, to: from + pageRows }),
    );
  return { partitions, rows };
}

/** Old ones go, and those of the periods to come are made: a process may run for years without being opened again. */
function rollPartitions({ engine, place, before, now }: PruneParts): Promise<string[]> {
  return engine.migration(async (session) => {
    await layOutPayloads(session, place, { period: undefined, mayCreate: true, now });
    return dropPartitions(session, place, before);
  });
}
