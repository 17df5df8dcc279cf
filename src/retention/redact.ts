/**
 * Erases a contract's personal data. First the redaction is stored, as an input of the fold, with the contract locked: after
 * that commit nobody stores such data any more. Then the stored data is erased, page by page. If this is interrupted, the
 * next call finishes it.
 */
import { waitingMsMax } from "../handlers/runner/ahead.ts";
import { refold } from "../receiver/transition.ts";
import type { RedactionInput, StoredInput } from "../domain/input.ts";
import { redactInput } from "../domain/input.ts";
import { idOf } from "../queries/arguments.ts";
import { commitOnce, type CommitParts } from "../receiver/commit.ts";
import { createKey, inputDigest, insertInputs } from "../receiver/contracts/intents.ts";
import { loadContracts } from "../receiver/contracts/load.ts";
import {
  namedIn,
  redactDeliveries,
  redactIntents,
  redactJobRows,
  toInputRow,
} from "../receiver/contracts/redacted.ts";
import { noListeners } from "../receiver/notify.ts";
import { toIsoTime } from "../shared/clock.ts";
import { sleep } from "../shared/timers.ts";
import { lastOfFull, type Place } from "../store/pages.ts";
import { payloadOf } from "../store/payload.ts";
import type { Store, StoreReader, StoreTransaction } from "../store/store.ts";
import { allBut } from "../store/tables.ts";
import { heavyFields } from "../store/tables/deliveries.ts";

/** The result of `mirror.redact()`. */
export interface Redacted {
  /**
   * Whether the bytes are gone from the database's files too. `false` on SQLite while another connection uses the file:
   * call `mirror.redact()` again. Always `false` on Postgres, where dead rows, the write-ahead log, replicas and backups
   * keep them for a time.
   */
  readonly bytesGone: boolean;
  /**
   * Whether the mirror has deliveries or a state of this contract. If `false`, check the spelling of the id. The contract is
   * marked all the same: its personal data is never stored.
   */
  readonly known: boolean;
}

export type RedactParts = Omit<CommitParts, "listeners">;

/** @throws EscrowMirrorError `invalid-argument` for an id that is no text or is empty; `store-unavailable` */
export async function redact(parts: RedactParts, given: string): Promise<Redacted> {
  const { store } = parts;
  const contractId = idOf(given);
  const known = await store.read((reader) => isKnown(reader, contractId));
  await storeRedaction(parts, contractId);
  await inPages(store, (tx, after) => redactPage(tx, contractId, after));
  await inPages(store, (tx, after) => redactUnread(tx, contractId, after));
  await inPages(store, (tx, after) => redactInputs(tx, contractId, after));
  await store.transaction((tx) => redactOwnCalls(tx, contractId));
  await inPages(store, (tx, after) => awaitRunning(tx, contractId, after));
  await inPages(store, (tx, after) => redactJobs(tx, contractId, after));
  await outwaitClaimed(store, contractId);
  return { bytesGone: await store.upkeep.wipe(), known };
}

async function isKnown(reader: StoreReader, contractId: string): Promise<boolean> {
  const [contract] = await reader.lookup("contracts", "contractId", [contractId]);
  if (contract !== undefined && contract.status !== null) return true;
  const deliveries = await reader.lookup("deliveries", "contractId", [contractId], heavyFields, 1);
  return deliveries.length > 0;
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
        await claimIntents(tx, contractId, receivedAt);
        return { inputs: [], deliveries: [] };
      },
      fold: async (tx) => refold(tx, await loadContracts(tx, [contractId]), [contractId], parts.folding),
    },
  );
}

/** Assigns an open own request to the contract, if it has the contract's reference: its personal data is erased too. */
async function claimIntents(tx: StoreTransaction, contractId: string, closedAt: string): Promise<void> {
  const [contract] = await tx.lookup("contracts", "contractId", [contractId]);
  if (contract?.reference == null) return;
  const open = await tx.lock("intents", "openKey", [createKey(contract.reference)]);
  await tx.updateEach(
    "intents",
    "intentId",
    open.map(({ intentId }) => ({ intentId, contractId, openKey: null, closedAt })),
  );
}

type Page = (tx: StoreTransaction, after: Place | undefined) => Promise<Place | undefined>;

const pageRows = 100;
/** In a pause between two pages, deliveries can commit. */
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

async function redactOwnCalls(tx: StoreTransaction, contractId: string): Promise<void> {
  const failures = await tx.find("failures", {
    where: [{ field: "contractId", op: "=", value: contractId }],
  });
  await tx.upsert(
    "failures",
    failures.map((row) => ({ ...row, lastError: "" })),
  );
  await redactIntents(tx, [contractId]);
}

/**
 * Waits for runs that are ending now. Their process may not have seen the redaction: it may make a job of their error, which
 * the next walk finds.
 */
async function awaitRunning(tx: StoreTransaction, contractId: string, after: Place | undefined) {
  const page = await tx.walk(
    "jobs",
    { of: { field: "state", value: "running" }, by: ["createdAt", "seq"], after, rowsMax: jobRows },
    { without: allBut("jobs", ["seq", "contractId", "createdAt"]) },
  );
  const own = page.filter((job) => job.contractId === contractId);
  await redactJobRows(tx, own);
  const last = lastOfFull(page, jobRows);
  return last && [last.createdAt, last.seq];
}

/** The jobs still run, without the erased fields. */
async function redactJobs(tx: StoreTransaction, contractId: string, after: Place | undefined) {
  const page = await tx.walk(
    "jobs",
    { by: ["seq"], after, rowsMax: jobRows },
    { without: allBut("jobs", ["seq", "contractId"]) },
  );
  await redactJobRows(
    tx,
    page.filter((job) => job.contractId === contractId),
  );
  const last = lastOfFull(page, jobRows);
  return last && [last.seq];
}

const jobRows = 500;

/** A job that was claimed before waits for a slot with what was read then. Then it starts, or it is read again. */
async function outwaitClaimed(store: Store, contractId: string): Promise<void> {
  const where = [
    { field: "contractId", op: "=", value: contractId },
    { field: "state", op: "=", value: "running" },
  ] as const;
  const [claimed] = await store.read((reader) => reader.find("jobs", { where, limit: 1 }));
  // Twice: timers may be early.
  if (claimed !== undefined) await sleep(2 * waitingMsMax);
}
