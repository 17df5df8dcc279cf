/**
 * Calls that change something at the service, and the mirror's knowledge of them, as one. The intent commits before the request is
 * sent; what tells how it went, the answer or a webhook, closes it, whichever comes first.
 */
import { randomUUID } from "node:crypto";
import type { CreatedContract, CreatedRefund } from "../client/answer/contract.ts";
import { isEscrowApiError } from "../client/api-error.ts";
import type { AnswerInfo, CallOptions } from "../client/http/call.ts";
import { checkInput } from "../client/input/check.ts";
import { contractSchema, type ContractInput } from "../client/input/contract-input.ts";
import { refundSchema, type RefundInput } from "../client/input/refund-input.ts";
import type { AnswerInput, RequestInput } from "../domain/input.ts";
import type { RefundAsked } from "../events/own-call.ts";
import type { SnapshotFields } from "../events/snapshot.ts";
import { numberToText } from "../events/json.ts";
import { commitOnce, type CommitParts } from "../receiver/commit.ts";
import {
  createKey,
  inputDigest,
  insertInputs,
  refundKey,
  toCreateRequest,
} from "../receiver/contracts/intents.ts";
import { toIsoTime } from "../shared/clock.ts";
import { EscrowMirrorError, isEscrowMirrorError } from "../shared/errors.ts";
import { canonicalId, isBlank } from "../shared/ids.ts";
import { orderKeyOf } from "../shared/wire-time.ts";
import type { StoreTransaction } from "../store/store.ts";
import type { IntentRow } from "../store/tables/inputs.ts";
import type { MirrorClient } from "./mirror-client.ts";
import { toArrival } from "./read-contract.ts";
import { toMinor, toSnapshotFacts } from "./snapshot-of.ts";

export interface OwnCallParts {
  readonly commit: CommitParts;
  readonly client: MirrorClient;
}

/** Creates a contract; resolves with the answer once the mirror has it. */
export async function createContract(
  parts: OwnCallParts,
  given: ContractInput,
  options: CallOptions,
): Promise<CreatedContract> {
  const { client, commit } = parts;
  const caller = "mirror.contracts.create";
  const body = checkInput(caller, contractSchema, given);
  const reference = body.reference == null || isBlank(body.reference) ? randomUUID() : body.reference;
  const intent = newIntent(parts, {
    kind: "create",
    openKey: createKey(reference),
    fields: fieldsOf(body, reference),
  });
  await open(parts, intent, [], `a contract with the reference ${JSON.stringify(reference)}`);
  let info: AnswerInfo | undefined;
  const onAnswer = (answer: AnswerInfo): void => {
    info = answer;
    options.onAnswer?.(answer);
  };
  const created = await call(
    () => client.contracts.create(withReference(given, reference), { ...options, onAnswer }),
    () => close(parts, intent, null, async () => []),
  );
  const nowMs = commit.clock.now();
  const contractId = canonicalId(created.contractId) ?? created.contractId;
  const facts = toSnapshotFacts(created, { origin: "created", contractId, info, nowMs });
  await keep(`contract ${contractId} was created`, () =>
    close(parts, intent, contractId, (tx) =>
      insertInputs(tx, [toCreateRequest(intent, contractId), toArrival(facts, nowMs)]),
    ),
  );
  return created;
}

/** Asks for a refund; resolves with its id once the mirror has it. */
export async function requestRefund(
  parts: OwnCallParts,
  contractId: string,
  given: RefundInput,
  options: CallOptions,
): Promise<string> {
  const { client } = parts;
  const body = checkInput("mirror.refunds.create", refundSchema, given);
  const milestoneId = body.milestoneId == null ? null : toId(String(body.milestoneId));
  const openKey = refundKey(contractId, milestoneId);
  const intent = newIntent(parts, { kind: "refund", contractId, openKey });
  const asked: RefundAsked = {
    of: "refund",
    intentId: intent.intentId,
    contractId,
    orderKey: orderKeyOf(intent.createdAt),
    takenAt: intent.createdAt,
    milestoneId,
    refundKind: body.type === "PARTIAL" ? "partial" : "full",
    amountMinor: body.amount === undefined ? null : (toMinor(String(body.amount)) ?? null),
  };
  const target =
    milestoneId === null ? `contract ${contractId}` : `milestone ${milestoneId} of contract ${contractId}`;
  await open(parts, intent, [toRequest(asked)], `a refund of ${target}`);
  const created = await call(
    () => client.contracts.refund(contractId, given, options),
    () => close(parts, intent, contractId, (tx) => insertInputs(tx, [toAnswer(parts, asked, undefined)])),
  );
  const refundId = toId(created.refundId);
  await keep(`refund ${refundId} was begun`, () =>
    close(parts, intent, contractId, (tx) => insertInputs(tx, [toAnswer(parts, asked, created)])),
  );
  return refundId;
}

function newIntent(
  { commit: { clock } }: OwnCallParts,
  given: Pick<IntentRow, "kind" | "openKey"> & Partial<IntentRow>,
): IntentRow {
  return {
    intentId: randomUUID(),
    contractId: null,
    fields: null,
    createdAt: toIsoTime(clock.now()),
    closedAt: null,
    toldAt: null,
    ...given,
  };
}

/** Durable before anything is sent. @throws EscrowMirrorError `already-requested` */
async function open(
  { commit }: OwnCallParts,
  intent: IntentRow,
  requests: readonly RequestInput[],
  what: string,
): Promise<void> {
  await commitOnce(commit, {
    take: async (tx) => {
      const [wentIn] = await tx.insert("intents", [intent]);
      if (wentIn !== true) throw alreadyRequested(intent, what);
      return { inputs: await insertInputs(tx, requests), deliveries: [] };
    },
  });
}

/** Makes the call. Where it certainly did nothing the intent is over; else it stays, for a webhook or a read to tell. */
async function call<Data>(send: () => Promise<Data>, giveUp: () => Promise<void>): Promise<Data> {
  try {
    return await send();
  } catch (error) {
    // A fault here shows as an open intent, or a later read mends it: the caller gets the error of the service.
    if (isCertainlyUndone(error)) await giveUp().catch(() => undefined);
    throw error;
  }
}

function isCertainlyUndone(error: unknown): boolean {
  return isEscrowApiError(error) && error.code !== "outcome-unknown";
}

/** Closes the intent, a closed one too, and folds in what is known now. */
async function close(
  { commit }: OwnCallParts,
  { intentId }: IntentRow,
  contractId: string | null,
  insert: (tx: StoreTransaction) => Promise<Awaited<ReturnType<typeof insertInputs>>>,
): Promise<void> {
  await commitOnce(commit, {
    take: async (tx) => {
      const closedAt = toIsoTime(commit.clock.now());
      await tx.updateEach("intents", "intentId", [{ intentId, contractId, openKey: null, closedAt }]);
      return { inputs: await insert(tx), deliveries: [] };
    },
  });
}

/** It is done at the service: whoever is told that the mirror failed must not do it again. */
async function keep(done: string, store: () => Promise<void>): Promise<void> {
  try {
    await store();
  } catch (error) {
    const code = isEscrowMirrorError(error) ? error.code : "internal-error";
    const message = `${done}, and the mirror could not store it: don't repeat the call. Its webhook or a reconcile brings it`;
    throw new EscrowMirrorError(code, message, { cause: error });
  }
}

/** No read closes a create: the service has no list of contracts, and two can have one reference. */
function alreadyRequested({ kind }: IntentRow, what: string): EscrowMirrorError {
  const advice =
    kind === "create"
      ? "wait for its webhook. If the service says that it has no such contract, use another reference"
      : "wait for its webhook, or call mirror.contracts.refresh()";
  return new EscrowMirrorError(
    "already-requested",
    `${what} was requested before, and its result is not known yet: ${advice}. Nothing was sent`,
  );
}

function toId(id: string | number): string {
  const text = typeof id === "number" ? numberToText(id) : id;
  return canonicalId(text) ?? text;
}

function toRequest(facts: RefundAsked): RequestInput {
  const { intentId, takenAt } = facts;
  return { kind: "request", digest: inputDigest("refund", intentId), receivedAt: takenAt, facts };
}

/** @param created `undefined` where the service refused */
function toAnswer(
  { commit: { clock } }: OwnCallParts,
  asked: RefundAsked,
  created: CreatedRefund | undefined,
): AnswerInput {
  const now = toIsoTime(clock.now());
  // A clock that was set back meanwhile must not put the answer before its request.
  const takenAt = now < asked.takenAt ? asked.takenAt : now;
  return {
    kind: "answer",
    digest: inputDigest("answer", asked.intentId),
    receivedAt: now,
    facts: {
      ...asked,
      takenAt,
      orderKey: orderKeyOf(takenAt),
      requestedAt: asked.takenAt,
      refundId: created === undefined ? null : toId(created.refundId),
      amountMinor: toMinor(created?.refundedAmount) ?? asked.amountMinor,
    },
  };
}

/** The reference under its own name, whatever the caller's casing. */
function withReference(given: ContractInput, reference: string): ContractInput {
  const rest = Object.entries(given).filter(([name]) => name.toLowerCase() !== "reference");
  return { ...(Object.fromEntries(rest) as unknown as ContractInput), reference };
}

/** The fields that we ask for and no answer of the create repeats. People's data are not among it. */
function fieldsOf(
  body: Pick<ContractInput, "title" | "description" | "notes" | "metaData" | "contractServiceType"> & {
    readonly amount: unknown;
  },
  reference: string,
): SnapshotFields {
  const { title, description, notes, metaData, contractServiceType } = body;
  return {
    reference,
    title,
    ...(description == null ? {} : { description }),
    ...(notes == null ? {} : { notes }),
    serviceType: contractServiceType.toLowerCase(),
    ...Object.fromEntries(Object.entries(metaData ?? {}).filter(([, text]) => text != null)),
    amountMinor: toMinor(String(body.amount)) ?? null,
  };
}
