import { compareStored } from "../../store/stored-text.ts";
import type { Store, StoreReader } from "../../store/store.ts";
import { allBut } from "../../store/tables.ts";

const pageRows = 500;

/** The ids of all contracts that have stored inputs, each once and in order, a page at a time. */
export async function* contractIdPages(store: Store): AsyncGenerator<string[]> {
  let after = "";
  for (;;) {
    const { ids, end } = await store.read((reader) => idsBehind(reader, after));
    if (ids.length > 0) yield ids;
    if (end === undefined) return;
    after = end;
  }
}

interface IdPage {
  readonly ids: string[];
  /** Up to where they are all there are; `undefined` on the last page. */
  readonly end: string | undefined;
}

async function idsBehind(reader: StoreReader, after: string): Promise<IdPage> {
  const deliveries = await reader.walk(
    "deliveries",
    { by: ["contractId", "receivedAt", "seq"], after: [after], rowsMax: pageRows },
    { without: allBut("deliveries", ["contractId"]) },
  );
  const inputs = await reader.walk(
    "inputs",
    { by: ["contractId", "digest"], after: [after], rowsMax: pageRows },
    { without: allBut("inputs", ["contractId"]) },
  );
  const [first, second] = [deliveries, inputs].map(toPage) as [IdPage, IdPage];
  const ends = [first.end, second.end].filter((end) => end !== undefined).sort(compareStored);
  const [end] = ends;
  const ids = [...new Set([...first.ids, ...second.ids])].sort(compareStored);
  return { ids: ids.filter((id) => end === undefined || compareStored(id, end) <= 0), end };
}

/** Behind a full page there may be more. Its last id may have more rows, which are passed over. */
function toPage(rows: readonly { readonly contractId: string | null }[]): IdPage {
  const ids = rows.flatMap(({ contractId }) => contractId ?? []);
  return { ids, end: rows.length < pageRows ? undefined : ids.at(-1) };
}
