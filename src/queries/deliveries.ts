import { anomalyKinds, type AnomalyKind } from "../domain/anomaly.ts";
import { payloadOf } from "../store/payload.ts";
import type { Condition, Store, StoreReader } from "../store/store.ts";
import { heavyFields, storedOutcomes, type AnomalyRow, type DeliveryRow } from "../store/tables.ts";
import { checkFilter, checkText, choiceOf, idOf, textOf, timeOf } from "./arguments.ts";
import { findPage, type Page, type PageRequest } from "./page.ts";
import type { Anomaly, MirroredDelivery, QuarantinedDelivery } from "./shapes.ts";

export interface DeliveryQueries {
  /** By webhook id, or by the row id of one that is set aside. @throws EscrowMirrorError `invalid-argument` */
  get(webhookId: string): Promise<MirroredDelivery | undefined>;
  /** Newest first. @throws EscrowMirrorError `invalid-argument` */
  list(filter?: DeliveryFilter): Promise<Page<MirroredDelivery>>;
}

export interface DeliveryFilter extends PageRequest {
  readonly contractId?: string | undefined;
  readonly event?: string | undefined;
  readonly outcome?: DeliveryRow["outcome"] | undefined;
  /** Received at or after this time: ISO 8601, or a `Date`. */
  readonly since?: string | Date | undefined;
}

export function createDeliveryQueries(store: Store): DeliveryQueries {
  return {
    get: async (webhookId) => {
      checkText(webhookId);
      const row = await store.read((reader) => findOne(reader, webhookId));
      return row && toDelivery(store, row);
    },

    list: async (filter = {}) => {
      checkFilter(filter, { contractId: true, event: true, outcome: true, since: true });
      const query = {
        where: toConditions(filter),
        by: ["seq"],
        descending: true,
        without: heavyFields,
      } as const;
      const page = await store.read((reader) => findPage(reader, "deliveries", query, filter));
      return { ...page, items: page.items.map((row) => toDelivery(store, row)) };
    },
  };
}

export interface QuarantineQueries {
  /** Newest first. @throws EscrowMirrorError `invalid-argument` */
  list(request?: PageRequest): Promise<Page<QuarantinedDelivery>>;
}

export function createQuarantineQueries(store: Store): QuarantineQueries {
  return {
    list: async (request = {}) => {
      checkFilter(request, {});
      const where = [{ field: "outcome", op: "=", value: "quarantined" }] as const;
      const query = { where, by: ["seq"], descending: true, without: heavyFields } as const;
      return store.read(async (reader) => {
        const page = await findPage(reader, "deliveries", query, request);
        const keys = page.items.map(({ contentKey }) => contentKey);
        const payloads = await reader.lookup("payloads", "contentKey", keys, ["body"]);
        const headersOf = ({ contentKey, receivedAt }: DeliveryRow) =>
          payloads.find((each) => each.contentKey === contentKey && each.receivedAt === receivedAt)?.headers;
        const items = page.items.map((row) => ({
          ...toDelivery(store, row),
          headers: headersOf(row) ?? null,
        }));
        return { ...page, items };
      });
    },
  };
}

export interface AnomalyQueries {
  /** Newest first, by when we noticed. @throws EscrowMirrorError `invalid-argument` */
  list(filter?: AnomalyFilter): Promise<Page<Anomaly>>;
}

export interface AnomalyFilter extends PageRequest {
  readonly contractId?: string | undefined;
  readonly kind?: AnomalyKind | undefined;
}

export function createAnomalyQueries(store: Store): AnomalyQueries {
  return {
    list: async (filter = {}) => {
      checkFilter(filter, { contractId: true, kind: true });
      const where: Condition<AnomalyRow>[] = [];
      if (filter.contractId !== undefined)
        where.push({ field: "contractId", op: "=", value: idOf(filter.contractId) });
      if (filter.kind !== undefined)
        where.push({ field: "kind", op: "=", value: choiceOf(filter.kind, anomalyKinds, "kind") });
      const query = { where, by: ["seq"], descending: true } as const;
      const page = await store.read((reader) => findPage(reader, "anomalies", query, filter));
      return { ...page, items: page.items.map(toAnomaly) };
    },
  };
}

/**
 * A webhook id that an applied delivery bears is some row's id. One that only deliveries bear which were set aside stands for
 * the first of them; the index on outcomes finds these.
 */
async function findOne(reader: StoreReader, webhookId: string): Promise<DeliveryRow | undefined> {
  const byId = [{ field: "id", op: "=", value: webhookId }] as const;
  const [row] = await reader.find("deliveries", { where: byId, without: heavyFields });
  if (row !== undefined) return row;
  const where = [...isSetAside, { field: "webhookId", op: "=", value: webhookId }] as const;
  const rows = await reader.find("deliveries", { where, without: heavyFields });
  return rows.toSorted((a, b) => a.seq - b.seq)[0];
}

const isSetAside = [{ field: "outcome", op: "in", value: ["duplicate", "quarantined"] }] as const;

function toConditions(filter: DeliveryFilter): Condition<DeliveryRow>[] {
  const where: Condition<DeliveryRow>[] = [];
  if (filter.contractId !== undefined)
    where.push({ field: "contractId", op: "=", value: idOf(filter.contractId) });
  if (filter.event !== undefined)
    where.push({ field: "event", op: "=", value: textOf(filter.event, "event") });
  if (filter.outcome !== undefined)
    where.push({ field: "outcome", op: "=", value: choiceOf(filter.outcome, storedOutcomes, "outcome") });
  if (filter.since !== undefined)
    where.push({ field: "receivedAt", op: ">=", value: timeOf(filter.since, "since") });
  return where;
}

function toDelivery(store: Store, row: DeliveryRow): MirroredDelivery {
  return {
    id: row.id,
    webhookId: row.webhookId,
    payloadId: row.payloadId,
    event: row.event,
    contractId: row.contractId,
    milestoneId: row.milestoneId,
    outcome: row.outcome,
    reason: row.reason,
    attempts: row.attempts,
    occurredAt: row.occurredAt,
    receivedAt: row.receivedAt,
    lastReceivedAt: row.lastReceivedAt,
    secretId: row.secretId,
    body: () => loadBody(store, row),
  };
}

async function loadBody(store: Store, row: DeliveryRow): Promise<Uint8Array | null> {
  return (await store.read((reader) => payloadOf(reader, row)))?.body ?? null;
}

export function toAnomaly(row: AnomalyRow): Anomaly {
  const { kind, contractId, milestoneId, webhookId, detail, at } = row;
  return { kind, contractId, milestoneId, webhookId, detail, at };
}
