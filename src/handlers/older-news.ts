import { groupBy } from "../shared/group-by.ts";
import type { StoreTransaction } from "../store/store.ts";
import type { AnomalyRow } from "../store/tables/contracts.ts";
import type { DeliveryRow } from "../store/tables/deliveries.ts";
import { toAnomaly } from "../queries/deliveries.ts";
import { toTransition } from "../queries/contracts.ts";
import type { Filter, Move, News } from "./subscription.ts";

/**
 * The news in stored deliveries for a new handler. Moves are those of the present history: the mirror's state before
 * each delivery is not kept.
 */
export async function newsOf(
  reader: StoreTransaction,
  page: readonly DeliveryRow[],
  filter: Filter,
): Promise<News> {
  const applied = page.filter(({ outcome }) => outcome === "applied");
  const ofTransitions = "entity" in filter;
  const ofAnomalies = !ofTransitions && filter.events.includes("anomaly");
  return {
    deliveries: applied.map(({ contentKey, webhookId, event, contractId }) => ({
      contentKey,
      webhookId,
      event: event ?? "",
      contractId,
    })),
    moves: ofTransitions ? await movesOf(reader, applied) : [],
    anomalies: ofAnomalies ? (await anomaliesOf(reader, page)).map(toAnomaly) : [],
  };
}

async function movesOf(reader: StoreTransaction, applied: readonly DeliveryRow[]): Promise<Move[]> {
  if (applied.length === 0) return [];
  const rows = await reader.find("transitions", {
    where: [
      { field: "contractId", op: "in", value: contractsOf(applied) },
      { field: "webhookId", op: "in", value: webhookIdsOf(applied) },
      { field: "moved", op: "=", value: true },
    ],
  });
  const moved = groupBy(rows, (row) => row.webhookId);
  return applied.flatMap(({ webhookId, contentKey }) =>
    (moved.get(webhookId) ?? []).map((row) => ({
      inputKey: contentKey,
      contentKey,
      transition: toTransition(row),
    })),
  );
}

function anomaliesOf(reader: StoreTransaction, page: readonly DeliveryRow[]): Promise<AnomalyRow[]> {
  return reader.lookup("anomalies", "webhookId", webhookIdsOf(page));
}

function webhookIdsOf(page: readonly DeliveryRow[]): string[] {
  return [...new Set(page.map(({ webhookId }) => webhookId))];
}

function contractsOf(page: readonly DeliveryRow[]): string[] {
  return [...new Set(page.map(({ contractId }) => contractId))].filter((id) => id !== null);
}
