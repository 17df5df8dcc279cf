import { anomalyKinds, type AnomalyKind } from "../domain/anomaly.ts";
import { payloadOf } from "../store/payload.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Condition, StoreReader, View } from "../store/store.ts";
import { heavyFields, storedOutcomes, type DeliveryRow } from "../store/tables/deliveries.ts";
import type { AnomalyRow } from "../store/tables/contracts.ts";
import { checkFilter, checkText, choiceOf, idOf, shown, textOf, timeOf } from "./arguments.ts";
import { findPage, type Page, type PageRequest } from "./page.ts";
import type { List } from "./paths.ts";
import type { Anomaly, MirroredDelivery, QuarantinedDelivery } from "./shapes.ts";

/** Reads deliveries. */
export interface DeliveryQueries {
  /**
   * Finds a delivery by its webhook id, or a quarantined one by its `id`.
   *
   * @throws EscrowMirrorError `invalid-argument`
   */
  get(webhookId: string): Promise<MirroredDelivery | undefined>;
  /**
   * Lists deliveries, newest first by `receivedAt`.
   *
   * @throws EscrowMirrorError `invalid-argument`
   */
  list(filter?: DeliveryFilter): Promise<Page<MirroredDelivery>>;
}

/** Selects deliveries that fit all given fields. */
export interface DeliveryFilter extends PageRequest {
  /** The contract. */
  readonly contractId?: string | undefined;
  /** The event type as sent. */
  readonly event?: string | undefined;
  /** The result: `applied`, `quarantined` and so on. */
  readonly outcome?: DeliveryRow["outcome"] | undefined;
  /** Received at or after this time: ISO 8601, or a `Date`. */
  readonly since?: string | Date | undefined;
}

export function createDeliveryQueries(store: View): DeliveryQueries {
  return {
    get: async (webhookId) => {
      checkText(webhookId);
      const row = await store.read((reader) => findOne(reader, webhookId));
      return row && toDelivery(store, row);
    },

    list: async (filter = {}) => {
      checkFilter(filter, { contractId: true, event: true, outcome: true, since: true });
      const where = toConditions(filter);
      const page = await store.read((reader) => findPage(reader, deliveryList, where, filter));
      return { ...page, items: page.items.map((row) => toDelivery(store, row)) };
    },
  };
}

const deliveryList: List<"deliveries"> = {
  table: "deliveries",
  paths: [
    { of: "contractId", by: ["receivedAt", "seq"] },
    { of: "event", by: ["receivedAt", "seq"] },
    { of: "outcome", by: ["receivedAt", "seq"], present: ["reason"] },
    { by: ["receivedAt", "seq"] },
  ],
  descending: true,
  without: heavyFields,
};

/** Reads quarantined deliveries. */
export interface QuarantineQueries {
  /**
   * Finds one by its `id`, dismissed or not. `undefined` if there is none, or if it was released.
   *
   * @throws EscrowMirrorError `invalid-argument`
   */
  get(id: string): Promise<QuarantinedDelivery | undefined>;
  /** Newest first. @throws EscrowMirrorError `invalid-argument` */
  list(filter?: QuarantineFilter): Promise<Page<QuarantinedDelivery>>;
}

/** Selects quarantined deliveries. */
export interface QuarantineFilter extends PageRequest {
  /** `true`: the dismissed ones instead of the open ones. Default `false`. */
  readonly dismissed?: boolean | undefined;
}

export function createQuarantineQueries(store: View): QuarantineQueries {
  return {
    get: async (id) => {
      checkText(id);
      return store.read(async (reader) => {
        const rows = await reader.lookup("deliveries", "id", [id], heavyFields);
        const aside = rows.filter(({ outcome }) => outcome === "quarantined" || outcome === "dismissed");
        return (await withHeaders(store, reader, aside))[0];
      });
    },

    list: async (request = {}) => {
      checkFilter(request, { dismissed: true });
      const where = ofOutcome(isDismissed(request) ? "dismissed" : "quarantined");
      return store.read(async (reader) => {
        const page = await findPage(reader, deliveryList, where, request);
        return { ...page, items: await withHeaders(store, reader, page.items) };
      });
    },
  };
}

async function withHeaders(
  store: View,
  reader: StoreReader,
  rows: readonly DeliveryRow[],
): Promise<QuarantinedDelivery[]> {
  const keys = rows.map(({ contentKey }) => contentKey);
  const payloads = await reader.lookup("payloads", "contentKey", keys, ["body"]);
  const headers = new Map(payloads.map((each) => [payloadKeyOf(each), each.headers]));
  return rows.map((row) => ({
    ...toDelivery(store, row),
    headers: headers.get(payloadKeyOf(row)) ?? null,
  }));
}

function isDismissed({ dismissed = false }: QuarantineFilter): boolean {
  if (typeof dismissed === "boolean") return dismissed;
  throw new EscrowMirrorError(
    "invalid-argument",
    `dismissed is ${shown(dismissed)}: true or false is expected`,
  );
}

/** Reads anomalies. */
export interface AnomalyQueries {
  /**
   * Lists anomalies, newest first by `at`.
   *
   * @throws EscrowMirrorError `invalid-argument`
   */
  list(filter?: AnomalyFilter): Promise<Page<Anomaly>>;
}

/** Selects anomalies that fit all given fields. */
export interface AnomalyFilter extends PageRequest {
  /** The contract. */
  readonly contractId?: string | undefined;
  /** The kind of anomaly. */
  readonly kind?: AnomalyKind | undefined;
}

export function createAnomalyQueries(store: View): AnomalyQueries {
  return {
    list: async (filter = {}) => {
      checkFilter(filter, { contractId: true, kind: true });
      const where: Condition<AnomalyRow>[] = [];
      if (filter.contractId !== undefined)
        where.push({ field: "contractId", op: "=", value: idOf(filter.contractId) });
      if (filter.kind !== undefined)
        where.push({ field: "kind", op: "=", value: choiceOf(filter.kind, anomalyKinds, "kind") });
      const page = await store.read((reader) => findPage(reader, anomalyList, where, filter));
      return { ...page, items: page.items.map(toAnomaly) };
    },
  };
}

/** The shared key of a delivery and its payload. */
function payloadKeyOf({ contentKey, receivedAt }: Pick<DeliveryRow, "contentKey" | "receivedAt">): string {
  return contentKey + receivedAt;
}

const anomalyList: List<"anomalies"> = {
  table: "anomalies",
  paths: [{ of: "contractId", by: ["at", "seq"] }, { of: "kind", by: ["at", "seq"] }, { by: ["at", "seq"] }],
  descending: true,
};

/**
 * A webhook id that an applied delivery bears is some row's id. One that only deliveries bear which were set aside stands for
 * the first of them.
 */
async function findOne(reader: StoreReader, webhookId: string): Promise<DeliveryRow | undefined> {
  const [claimed] = await reader.lookup("deliveries", "id", [webhookId], heavyFields);
  if (claimed !== undefined) return claimed;
  const of = { field: "webhookId", value: webhookId } as const;
  const asideBy = { of, by: ["seq"], present: ["reason"], rowsMax: 1 } as const;
  const [aside] = await reader.walk("deliveries", asideBy, { without: heavyFields });
  return aside;
}

function toConditions(filter: DeliveryFilter): Condition<DeliveryRow>[] {
  const where: Condition<DeliveryRow>[] = [];
  if (filter.contractId !== undefined)
    where.push({ field: "contractId", op: "=", value: idOf(filter.contractId) });
  if (filter.event !== undefined)
    where.push({ field: "event", op: "=", value: textOf(filter.event, "event") });
  if (filter.outcome !== undefined)
    where.push(...ofOutcome(choiceOf(filter.outcome, storedOutcomes, "outcome")));
  if (filter.since !== undefined)
    where.push({ field: "receivedAt", op: ">=", value: timeOf(filter.since, "since") });
  return where;
}

/** Quarantined deliveries have a reason, and so an index that most deliveries are not in. */
function ofOutcome(value: DeliveryRow["outcome"]): Condition<DeliveryRow>[] {
  const isOne = { field: "outcome", op: "=", value } as const;
  return value === "applied" ? [isOne] : [isOne, { field: "reason", op: "not-null" }];
}

function toDelivery(store: View, row: DeliveryRow): MirroredDelivery {
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

async function loadBody(store: View, row: DeliveryRow): Promise<Uint8Array | null> {
  return (await store.read((reader) => payloadOf(reader, row)))?.body ?? null;
}

export function toAnomaly(row: AnomalyRow): Anomaly {
  const { kind, contractId, milestoneId, webhookId, detail, at } = row;
  return { kind, contractId, milestoneId, webhookId, detail, at };
}
