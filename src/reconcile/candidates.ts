/**
 * Which contracts to read. The service has no list of them, and a delivery that was dropped leaves no trace, so it is derived: from the
 * service's delivery log, from what is quarantined, and from a walk over the mirror.
 */
import { contractMachine } from "../domain/contract.ts";
import { milestoneMachine } from "../domain/milestone.ts";
import { canonicalId } from "../shared/ids.ts";
import { orderKeyToMs, orderKeyOf, parseWireTime } from "../shared/wire-time.ts";
import type { WebhookLogEntry } from "../client/answer/webhook.ts";
import type { Store, StoreReader } from "../store/store.ts";
import { allBut } from "../store/tables.ts";
import type { ContractRow } from "../store/tables/contracts.ts";
import { heavyFields } from "../store/tables/deliveries.ts";
import type { MirrorClient } from "./mirror-client.ts";

/** The limits of a run. */
export interface RunLimits {
  /** ISO 8601: older entries of the log, and contracts that had ended before, are left out. */
  readonly since: string | undefined;
  /** Contracts that were read since then are left out; `undefined` in a dry run, which reads nothing into the mirror. */
  readonly startedAt: string | undefined;
  /** Contracts that changed or were read later than this are left out of the walk; `undefined` for none. */
  readonly newsBefore: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Contracts whose delivery failed, and those that the log knows and the mirror does not. */
export async function* contractsOfLog(
  client: MirrorClient,
  store: Store,
  scope: RunLimits,
): AsyncGenerator<string[]> {
  let entries: WebhookLogEntry[] = [];
  for await (const entry of client.webhooks.allLogs({}, { signal: scope.signal })) {
    if (!isNamed(entry) || isBefore(entry.createdAt, scope.since)) continue;
    entries.push(entry);
    if (entries.length < pageRows) continue;
    yield await pickOfLog(store, entries, scope);
    entries = [];
  }
  if (entries.length > 0) yield await pickOfLog(store, entries, scope);
}

/** How many rows are looked at together. */
const pageRows = 200;

function isNamed({ externalContractId }: WebhookLogEntry): boolean {
  return canonicalId(externalContractId ?? "") !== undefined;
}

function isBefore(time: string | null | undefined, since: string | undefined): boolean {
  const known = parseWireTime(time);
  return since !== undefined && known !== undefined && known.orderKey < orderKeyOf(since);
}

async function pickOfLog(
  store: Store,
  entries: readonly WebhookLogEntry[],
  scope: RunLimits,
): Promise<string[]> {
  const ids = new Set(entries.map(idOfEntry));
  const rows = await store.read((reader) =>
    reader.lookup(
      "contracts",
      "contractId",
      [...ids],
      allBut("contracts", ["contractId", "status", "syncedAt"]),
    ),
  );
  const known = new Map(rows.map((row) => [row.contractId, row]));
  const picked = entries.filter((entry) => {
    const row = known.get(idOfEntry(entry));
    if (row === undefined) return true;
    if (isRead(row.syncedAt, scope)) return false;
    if (row.status === null) return true;
    return entry.isSuccess === false && !isReadAfter(row.syncedAt, entry.createdAt);
  });
  return [...new Set(picked.map(idOfEntry))];
}

function idOfEntry({ externalContractId }: WebhookLogEntry): string {
  return canonicalId(externalContractId ?? "") ?? "";
}

/** The clocks of the service and of this machine may be so far apart. */
const clockMsMax = 60_000;

/** Whether this machine read a contract after something happened at the service, whatever their clocks say. */
function isReadAfter(syncedAt: string | null, happenedAt: string | null | undefined): boolean {
  const happened = parseWireTime(happenedAt);
  if (syncedAt === null || happened === undefined) return false;
  return Date.parse(syncedAt) > orderKeyToMs(happened.orderKey) + clockMsMax;
}

/** In this run, that is. Not at its first instant: on a clock that stands still that may be an earlier one's. */
function isRead(syncedAt: string | null, { startedAt }: RunLimits): boolean {
  return syncedAt !== null && startedAt !== undefined && syncedAt > startedAt;
}

/** Contracts that only a quarantined delivery names: what contradicts another's ids, what came outside the tolerance. */
export async function* contractsOfQuarantine(store: Store): AsyncGenerator<string[]> {
  let after: readonly [string, number] | undefined;
  for (;;) {
    const page = await store.read(async (reader) => {
      const rows = await reader.walk(
        "deliveries",
        {
          of: { field: "outcome", value: "quarantined" },
          by: ["receivedAt", "seq"],
          present: ["reason"],
          after,
          rowsMax: pageRows,
        },
        { without: allBut("deliveries", ["contractId", "receivedAt", "seq"]) },
      );
      return { rows, ids: await unknownAmong(reader, rows) };
    });
    if (page.ids.length > 0) yield page.ids;
    const last = page.rows.at(-1);
    if (last === undefined || page.rows.length < pageRows) return;
    after = [last.receivedAt, last.seq];
  }
}

async function unknownAmong(
  reader: StoreReader,
  rows: readonly { readonly contractId: string | null }[],
): Promise<string[]> {
  const ids = [...new Set(rows.flatMap(({ contractId }) => contractId || []))];
  const known = await reader.lookup(
    "contracts",
    "contractId",
    ids,
    allBut("contracts", ["contractId", "status"]),
  );
  const read = new Set(known.map(({ contractId }) => contractId));
  return ids.filter((id) => !read.has(id));
}

/** A page of the walk over the mirror. */
export interface MirrorPage {
  readonly ids: readonly string[];
  /** The last contract that was looked at. */
  readonly end: string;
}

/** Contracts that have not ended, and of those that have, the ones that may have missed something. */
export async function* contractsOfMirror(
  store: Store,
  scope: RunLimits,
  after: string,
): AsyncGenerator<MirrorPage> {
  let end = after;
  for (;;) {
    const page = await store.read(async (reader) => {
      const rows = await reader.walk(
        "contracts",
        { by: ["contractId"], after: [end], rowsMax: pageRows },
        { without: allBut("contracts", walked) },
      );
      return { rows, ids: await pickOfMirror(reader, rows, scope) };
    });
    const last = page.rows.at(-1);
    if (last === undefined) return;
    end = last.contractId;
    yield { ids: page.ids, end };
    if (page.rows.length < pageRows) return;
  }
}

const walked = [
  "contractId",
  "status",
  "statusSince",
  "statusDerived",
  "amountMinor",
  "createdAt",
  "syncedAt",
  "changedAt",
  "anomalyCount",
] as const;

async function pickOfMirror(
  reader: StoreReader,
  rows: readonly ContractRow[],
  scope: RunLimits,
): Promise<string[]> {
  const { newsBefore, since } = scope;
  const unread = rows.filter(({ syncedAt }) => !isRead(syncedAt, scope));
  const quiet = unread.filter(({ changedAt }) => newsBefore === undefined || changedAt < newsBefore);
  const erased = await onlyErasedAmong(reader, quiet);
  const open = quiet
    .filter((row) => !hasEnded(row) && !erased.has(row.contractId))
    .map(({ contractId }) => contractId);
  const ended = unread.filter(
    (row) => hasEnded(row) && !wasReadSinceItsEnd(row) && !isBefore(row.statusSince, since),
  );
  const doubtful = new Set([...open, ...(await doubtfulAmong(reader, ended))]);
  return rows.map(({ contractId }) => contractId).filter((id) => doubtful.has(id));
}

/** Contracts that nothing but an erasure names: somebody may have misspelt the id, and each read of it would fail. */
async function onlyErasedAmong(reader: StoreReader, rows: readonly ContractRow[]): Promise<Set<string>> {
  const ids = rows.filter(({ status }) => status === null).map(({ contractId }) => contractId);
  const deliveries = await reader.lookup("deliveries", "contractId", ids, heavyFields, 1);
  const inputs = await reader.lookup("inputs", "contractId", ids, ["facts"]);
  const named = new Set([
    ...deliveries.map(({ contractId }) => contractId),
    ...inputs.filter(({ kind }) => kind !== "redaction").map(({ contractId }) => contractId),
  ]);
  return new Set(ids.filter((id) => !named.has(id)));
}

function hasEnded({ status }: ContractRow): boolean {
  return status !== null && contractMachine.terminal.includes(status);
}

/** A contract that has ended is read once more, and then no more. One that a milestone's refund ended may go on. */
function wasReadSinceItsEnd({ syncedAt, statusSince, statusDerived }: ContractRow): boolean {
  return !statusDerived && isReadAfter(syncedAt, statusSince);
}

/**
 * Of contracts that have ended: those with an anomaly, with a part that is missing, a milestone or a refund that has
 * not ended.
 */
async function doubtfulAmong(reader: StoreReader, ended: readonly ContractRow[]): Promise<string[]> {
  const ids = ended.map(({ contractId }) => contractId);
  const odd = ended.filter(
    ({ anomalyCount, createdAt, amountMinor }) =>
      anomalyCount > 0 || createdAt === null || amountMinor === null,
  );
  const anomalies = await reader.lookup("anomalies", "contractId", ids, ["detail"], 1);
  const milestones = await reader.lookup("milestones", "contractId", ids);
  const refunds = await reader.lookup("refunds", "contractId", ids);
  const hanging = [
    ...anomalies,
    ...milestones.filter(({ status }) => status === null || !milestoneMachine.terminal.includes(status)),
    ...refunds.filter(({ state }) => state !== "succeeded"),
  ];
  return [...odd, ...hanging].flatMap(({ contractId }) => contractId ?? []);
}
