/**
 * Contracts whose personal data was erased: later deliveries are stored without it. A commit reads of a redaction in the
 * contract's own row. It locks that row before it commits: so no commit stores again what a redaction is erasing.
 */
import type { RequestInput, StoredInput } from "../../domain/input.ts";
import type { ContractRecord } from "../../domain/records.ts";
import { redactFields, redactInput } from "../../domain/input.ts";
import { inflateBody } from "../../events/inflate.ts";
import { ofDead } from "../../handlers/dead-jobs.ts";
import type { FreshDelivery } from "../../handlers/transaction/transaction-run.ts";
import { anomalyKey } from "../../handlers/subscription.ts";
import { canonicalId } from "../../shared/ids.ts";
import { settle } from "../../shared/result.ts";
import type { StoreTransaction } from "../../store/store.ts";
import { allBut } from "../../store/tables.ts";
import type { DeliveryRow, PayloadRow } from "../../store/tables/deliveries.ts";
import type { JobRow } from "../../store/tables/handlers.ts";
import type { IntentRow } from "../../store/tables/inputs.ts";
import type { Committed, DeliveryArrival } from "../arrival.ts";
import type { Fresh } from "../commit.ts";

/** A newly stored delivery, and the contracts that it names. */
export interface StoredContent {
  readonly contentKey: string;
  readonly contractIds: readonly string[];
}

/** The deliveries of a commit that were not known before. */
export function storedOf(committed: readonly Committed[]): StoredContent[] {
  return committed.flatMap(({ arrival, outcome, reason }) => {
    if (arrival.kind !== "delivery") return [];
    const isStored = outcome !== "duplicate" || reason === "payload-changed";
    return isStored ? [toStored(arrival)] : [];
  });
}

function toStored(arrival: DeliveryArrival): StoredContent {
  const { facts } = arrival.reading;
  const contractIds = facts === null ? namedIn(arrival) : [facts.contractId].filter((id) => id !== "");
  return { contentKey: arrival.contentKey, contractIds };
}

/** The contracts that a commit has to lock. */
export function contractsNamed({ inputs, deliveries, stored = [] }: Fresh): string[] {
  const ids = new Set(inputs.map(({ facts }) => facts.contractId));
  for (const { contractId } of deliveries) if (contractId !== null) ids.add(contractId);
  for (const { contractIds } of stored) for (const id of contractIds) ids.add(id);
  ids.delete("");
  return [...ids];
}

/** Removes personal data of redacted contracts from what this commit has stored, and from what it passes on. */
export async function heedRedactions(
  tx: StoreTransaction,
  contracts: ReadonlyMap<string, ContractRecord>,
  news: Fresh,
): Promise<Pick<Fresh, "inputs" | "deliveries">> {
  const isRedacted = (id: string | null): boolean => id !== null && contracts.get(id)?.redactedAt != null;
  if (![...contracts.keys()].some(isRedacted)) return news;
  const { inputs, deliveries, stored = [] } = news;
  await redactDeliveries(tx, [
    ...deliveries.filter(({ contractId }) => isRedacted(contractId)).map(({ contentKey }) => contentKey),
    ...stored.filter(({ contractIds }) => contractIds.some(isRedacted)).map(({ contentKey }) => contentKey),
  ]);
  const own = inputs.filter((input): input is StoredInput => input.kind !== "event");
  const erased = own.filter(({ facts }) => isRedacted(facts.contractId)).map(redactInput);
  await tx.upsert("inputs", erased.map(toInputRow));
  const created = erased.filter((input): input is RequestInput => input.kind === "request");
  await redactIntents(
    tx,
    created.map(({ facts }) => facts.contractId),
  );
  return {
    inputs: inputs.map((input) => (isRedacted(input.facts.contractId) ? redactInput(input) : input)),
    deliveries: deliveries.map((each) => (isRedacted(each.contractId) ? hidden(each) : each)),
  };
}

/** The same for a delivery that is stored outside of `commitOnce`. */
export async function heedAside(tx: StoreTransaction, arrival: DeliveryArrival): Promise<void> {
  const stored = [toStored(arrival)];
  const ids = contractsNamed({ inputs: [], deliveries: [], stored });
  const fields = allBut("contracts", ["contractId", "redactedAt"]);
  // The last resort may not fail for the row of a contract.
  const read = await settle(() => tx.savepoint(() => tx.lock("contracts", "contractId", ids, fields)));
  const contracts = new Map(read.ok ? read.value.map((row) => [row.contractId, row]) : []);
  await heedRedactions(tx, contracts, { inputs: [], deliveries: [], stored });
}

/** Removes personal data from the rows of these deliveries, and deletes their bytes. */
export async function redactDeliveries(tx: StoreTransaction, contentKeys: readonly string[]): Promise<void> {
  const keys = [...new Set(contentKeys)];
  if (keys.length === 0) return;
  const rows = await tx.lock("deliveries", "contentKey", keys);
  const told = rows.filter(
    ({ facts }) => facts !== null && (facts.reference ?? facts.metadata) !== undefined,
  );
  await tx.updateEach("deliveries", "contentKey", told.map(withoutPerson));
  await tx.remove("payloads", [{ field: "contentKey", op: "in", value: keys }]);
}

function withoutPerson({ contentKey, facts }: DeliveryRow) {
  const { reference: _, metadata: __, ...rest } = facts ?? {};
  return { contentKey, facts: rest };
}

export function toInputRow(input: StoredInput) {
  const { kind, digest, receivedAt, facts } = input;
  return { contractId: facts.contractId, kind, digest, receivedAt, facts };
}

export async function redactIntents(tx: StoreTransaction, contractIds: readonly string[]): Promise<void> {
  const intents = await tx.lock("intents", "contractId", contractIds);
  for (const intent of intents) await redactTold(tx, intent);
  const told = intents.filter(({ fields }) => fields !== null);
  await tx.updateEach(
    "intents",
    "intentId",
    told.map(({ intentId, fields }) => ({ intentId, fields: redactFields(fields ?? {}) })),
  );
}

/** The anomaly of an intent that was open for long quotes its reference, and so do the jobs that tell of it. */
async function redactTold(tx: StoreTransaction, { contractId, toldAt, fields }: IntentRow): Promise<void> {
  if (toldAt === null || fields?.reference == null) return;
  const quoting = await tx.find("anomalies", {
    where: [
      { field: "kind", op: "=", value: "intent-open" },
      { field: "at", op: "=", value: toldAt },
    ],
  });
  const quoted = JSON.stringify(fields.reference);
  const own = quoting.filter(({ detail }) => detail.includes(quoted));
  if (own.length > 0) await adoptJobs(tx, contractId, own.map(anomalyKey));
  await tx.updateEach(
    "anomalies",
    "seq",
    own.map(({ seq, detail }) => ({ seq, detail: detail.replaceAll(quoted, '""') })),
  );
}

/**
 * Jobs of an anomaly without a contract, and those that tell of them as dead. From now on they are the contract's, so that
 * their later errors are erased as all of its jobs' are.
 */
async function adoptJobs(
  tx: StoreTransaction,
  contractId: string | null,
  jobKeys: readonly string[],
): Promise<void> {
  const adopt = async (jobs: readonly JobRow[]): Promise<void> => {
    const held = await redactJobRows(tx, jobs);
    await tx.updateEach(
      "jobs",
      "seq",
      held.map(({ seq }) => ({ seq, contractId })),
    );
  };
  const telling = await tx.find("jobs", { where: [{ field: "jobKey", op: "in", value: jobKeys }] });
  // First these: a run that is ending may make a job of its error, and is waited for here.
  await adopt(telling);
  for (const { seq } of telling) await adopt(await tx.find("jobs", { where: ofDead(seq) }));
}

/**
 * Removes an anomaly's text, and the errors of the job and of a dead one that it tells of. The jobs still run. Resolves with
 * those that are still there: a handler may be removed meanwhile.
 */
export async function redactJobRows(
  tx: StoreTransaction,
  jobs: readonly Pick<JobRow, "seq">[],
): Promise<readonly Pick<JobRow, "seq">[]> {
  const seqs = jobs.map(({ seq }) => seq);
  const held = await tx.lock("jobs", "seq", seqs, allBut("jobs", ["seq", "payload"]));
  await tx.updateEach(
    "jobs",
    "seq",
    held.map(({ seq, payload }) => ({ seq, payload: withoutTexts(payload), lastError: null })),
  );
  return held;
}

function withoutTexts(payload: unknown): unknown {
  if (typeof payload !== "object" || payload === null) return payload;
  const texts = { detail: "", lastError: null };
  const held = Object.entries(texts).filter(([name]) => name in payload);
  return { ...payload, ...Object.fromEntries(held) };
}

function hidden(delivery: FreshDelivery): FreshDelivery {
  const toEvent = () => {
    const { raw: _, ...event } = delivery.toEvent();
    return { ...event, reference: null, metadata: {}, raw: null } as ReturnType<FreshDelivery["toEvent"]>;
  };
  return { ...delivery, toEvent, isRedacted: true };
}

/** The contracts that a body names, if the body can't be read as an event. */
export function namedIn({ body, headers }: Pick<PayloadRow, "body" | "headers">): string[] {
  const inflated = inflateBody(body, headers["content-encoding"], inflatedBytesMax);
  const texts = [body, ...(inflated.ok ? [inflated.value] : [])].map((bytes) =>
    plainLetters(Buffer.from(bytes).toString()),
  );
  const ids = texts.flatMap((text) =>
    [...text.matchAll(contractIdField)].map(([, quoted, plain]) => unescaped(quoted ?? plain ?? "")),
  );
  return [...new Set(ids.filter((id) => id !== "").map((id) => canonicalId(id) ?? id))];
}

/** A key may be written as `contract\\u0049d`. Letters alone: an escaped quote must not end a text. */
function plainLetters(text: string): string {
  return text.replaceAll(/\\(?:u00([0-7][0-9a-f])|.)/gi, (whole, code: string | undefined) => {
    const letter = String.fromCharCode(Number.parseInt(code ?? "0", 16));
    return /\w/.test(letter) ? letter : whole;
  });
}

/** JSON may write any character so, and .NET does it with all but plain letters and digits. */
function unescaped(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-f]{4})|(["\\/]))/gi, (_, code: string | undefined, plain: string) =>
    code === undefined ? plain : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

const inflatedBytesMax = 1_048_576;
/** Each of an id's 255 characters takes six places at most. */
const contractIdField = /contract_?id["']?\s*[:=]\s*(?:"((?:[^"\\]|\\.){1,1530})"|([^\s",}]{1,255}))/gi;
