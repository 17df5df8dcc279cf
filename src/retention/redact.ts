/**
 * A contract's personal data goes for good. First the redaction is stored, as an input of the fold, with the contract locked:
 * from that commit on nobody stores such data of it. Then what is there already goes, page by page. Where this is broken off,
 * the next call finishes it.
 */
import { refold } from "../receiver/transition.ts";
import type { RedactionInput, StoredInput } from "../domain/input.ts";
import { redactInput } from "../domain/input.ts";
import { idOf } from "../queries/arguments.ts";
import { commitOnce, type CommitParts } from "../receiver/commit.ts";
import { inputDigest, insertInputs } from "../receiver/contracts/intents.ts";
import { loadContracts } from "../receiver/contracts/load.ts";
import { namedIn, redactDeliveries, redactIntents, toInputRow } from "../receiver/contracts/redacted.ts";
import { noListeners } from "../receiver/notify.ts";
import { toIsoTime } from "../shared/clock.ts";
import { sleep } from "../shared/timers.ts";
import { lastOfFull, type Place } from "../store/pages.ts";
import { payloadOf } from "../store/payload.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { allBut } from "../store/tables.ts";
import { heavyFields } from "../store/tables/deliveries.ts";
import type { IntentRow } from "../store/tables/inputs.ts";
import type { JobRow } from "../store/tables/handlers.ts";

/** The result of `mirror.redact()`. */
export interface Redacted {
  /**
   * Whether the bytes are gone from the database's files too. `false` on SQLite while somebody reads the file: call it again. Always
   * `false` on Postgres, where dead rows, the write-ahead log, replicas and backups keep them for a time.
   */
  readonly bytesGone: boolean;
}

export type RedactParts = Omit<CommitParts, "listeners">;

/** @throws EscrowMirrorError `invalid-argument` for an id that is no text or is empty; `store-unavailable` */
export async function redact(parts: RedactParts, given: string): Promise<Redacted> {
  const { store } = parts;
  const contractId = idOf(given);
  await storeRedaction(parts, contractId);
  await inPages(store, (tx, after) => redactPage(tx, contractId, after));
  await inPages(store, (tx, after) => redactUnread(tx, contractId, after));
  await inPages(store, (tx, after) => redactInputs(tx, contractId, after));
  const details = await store.transaction((tx) => redactOwnCalls(tx, contractId));
  await inPages(store, (tx, after) => redactJobs(tx, contractId, details, after));
  return { bytesGone: await store.upkeep.wipe() };
}

function storeRedaction(parts: RedactParts, contractId: string) {
  const receivedAt = toIsoTime(parts.clock.now());
  const facts = { contractId, orderKey: "", takenAt: null } as const;
  const redaction: RedactionInput = {
    kind: "redaction",
    digest: inputDigest("redaction", contractId),
    receivedAt,
    facts,
  };
  return commitOnce(
    { ...parts, listeners: noListeners },
    {
      take: async (tx) => {
        await insertInputs(tx, [redaction]);
        return { inputs: [], deliveries: [] };
      },
      fold: async (tx) => refold(tx, await loadContracts(tx, [contractId]), [contractId], parts.folding),
    },
  );
}

type Page = (tx: StoreTransaction, after: Place | undefined) => Promise<Place | undefined>;

const pageRows = 100;
/** Between two pages, deliveries are committed. */
const pauseMs = 5;

async function inPages(store: Store, page: Page): Promise<void> {
  for (let after: Place | undefined; ; await sleep(pauseMs)) {
    after = await store.transaction((tx) => page(tx, after));
    if (after === undefined) return;
  }
}

async function redactPage(tx: StoreTransaction, contractId: string, after: Place | undefined) {
  const page = await tx.walk(
    "deliveries",
    { of: { field: "contractId", value: contractId }, by: ["receivedAt", "seq"], after, rowsMax: pageRows },
    { without: heavyFields },
  );
  await redactDeliveries(
    tx,
    page.map(({ contentKey }) => contentKey),
  );
  const last = lastOfFull(page, pageRows);
  return last && [last.receivedAt, last.seq];
}

/** Erases bodies that can't be read as an event and name the contract. */
async function redactUnread(tx: StoreTransaction, contractId: string, after: Place | undefined) {
  const page = await tx.walk(
    "deliveries",
    { of: { field: "contractId", value: null }, by: ["receivedAt", "seq"], after, rowsMax: pageRows },
    { without: heavyFields },
  );
  const naming: string[] = [];
  for (const row of page.filter(({ event }) => event === null)) {
    const payload = await payloadOf(tx, row);
    if (payload !== undefined && namedIn(payload).includes(contractId)) naming.push(row.contentKey);
  }
  await redactDeliveries(tx, naming);
  const last = lastOfFull(page, pageRows);
  return last && [last.receivedAt, last.seq];
}

async function redactInputs(tx: StoreTransaction, contractId: string, after: Place | undefined) {
  const of = { field: "contractId", value: contractId } as const;
  const page = await tx.walk("inputs", { of, by: ["digest"], after, rowsMax: pageRows });
  // A row of `inputs` has the shape of an input.
  await tx.upsert(
    "inputs",
    page.map((row) => toInputRow(redactInput(row as StoredInput))),
  );
  const last = lastOfFull(page, pageRows);
  return last && [last.digest];
}

/** @returns the texts of anomalies that quoted the contract's reference: jobs may hold copies of them */
async function redactOwnCalls(tx: StoreTransaction, contractId: string): Promise<Set<string>> {
  const failures = await tx.find("failures", {
    where: [{ field: "contractId", op: "=", value: contractId }],
  });
  await tx.upsert(
    "failures",
    failures.map((row) => ({ ...row, lastError: "" })),
  );
  const intents = await tx.lookup("intents", "contractId", [contractId]);
  const details = new Set<string>();
  for (const intent of intents) for (const detail of await redactAnomalies(tx, intent)) details.add(detail);
  await redactIntents(tx, [contractId]);
  return details;
}

async function redactAnomalies(tx: StoreTransaction, { toldAt, fields }: IntentRow): Promise<string[]> {
  const reference = fields?.reference;
  if (toldAt === null || reference == null) return [];
  const quoting = await tx.find("anomalies", {
    where: [
      { field: "kind", op: "=", value: "intent-open" },
      { field: "at", op: "=", value: toldAt },
    ],
  });
  const quoted = JSON.stringify(reference);
  const own = quoting.filter(({ detail }) => detail.includes(quoted));
  await tx.updateEach(
    "anomalies",
    "seq",
    own.map(({ seq, detail }) => ({ seq, detail: detail.replaceAll(quoted, '""') })),
  );
  return own.map(({ detail }) => detail);
}

/** The jobs still run, without the erased fields. */
async function redactJobs(
  tx: StoreTransaction,
  contractId: string,
  details: ReadonlySet<string>,
  after: Place | undefined,
) {
  const page = await tx.walk(
    "jobs",
    { by: ["seq"], after, rowsMax: jobRows },
    { without: allBut("jobs", ["seq", "contractId", "payload", "lastError"]) },
  );
  const own = page.filter((job) => job.contractId === contractId || details.has(detailIn(job)));
  await tx.updateEach(
    "jobs",
    "seq",
    own.map(({ seq, payload }) => ({ seq, payload: withoutTexts(payload), lastError: null })),
  );
  const last = lastOfFull(page, jobRows);
  return last && [last.seq];
}

const jobRows = 500;

function detailIn({ payload }: JobRow): string {
  const detail = (payload as { readonly detail?: unknown } | null)?.detail;
  return typeof detail === "string" ? detail : "";
}

/** An anomaly's text, and a dead job's error. */
function withoutTexts(payload: unknown): unknown {
  if (typeof payload !== "object" || payload === null) return payload;
  const texts = { detail: "", lastError: null };
  const held = Object.entries(texts).filter(([name]) => name in payload);
  return { ...payload, ...Object.fromEntries(held) };
}
