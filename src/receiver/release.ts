import { parseEvent } from "../events/parse.ts";
import { inflateBody } from "../events/inflate.ts";
import type { EventFacts } from "../events/event.ts";
import type { FoldOptions } from "../domain/fold.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import type { DeliveryRow } from "../store/tables.ts";
import { isSameSubject } from "./dedupe.ts";
import { persist } from "./persist.ts";
import { transition } from "./transition.ts";

export interface ReleaseParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly folding: FoldOptions;
  readonly bodyBytesMax: number;
}

/**
 * Applies a quarantined delivery after all: one whose ids contradict another's, one out of tolerance, or one that this
 * release can read and an earlier could not.
 *
 * @throws EscrowMirrorError `not-found`; `not-releasable` when it still can't be read, or its event is applied already
 */
export async function release(parts: ReleaseParts, id: string): Promise<void> {
  const now = toIsoTime(parts.clock.now());
  await parts.store.transaction(async (tx) => {
    const [row] = await tx.claim("deliveries", "id", [id]);
    if (row === undefined || row.outcome !== "quarantined")
      throw new EscrowMirrorError(
        "not-found",
        `no delivery is quarantined under ${id}: see mirror.quarantine.list()`,
      );
    const facts = row.facts ?? readAgain(row, parts.bodyBytesMax);
    const payloadId = await claimPayloadId(tx, row, facts);
    const { event, milestoneId, occurredAt } = facts;
    const contractId = facts.contractId || null;
    const read = { facts, event, contractId, milestoneId, occurredAt, payloadId };
    await tx.update("deliveries", "id", id, { ...read, outcome: "applied" });
    const inputs = [{ kind: "event", digest: row.digest, webhookId: row.webhookId, facts } as const];
    await persist(tx, { inputs, changes: await transition(tx, inputs, parts.folding) }, now);
  });
}

function readAgain(row: DeliveryRow, bodyBytesMax: number): EventFacts {
  const body = row.body && inflateBody(row.body, row.headers?.["content-encoding"], bodyBytesMax);
  const event = body?.ok === true ? parseEvent(body.value) : undefined;
  if (event?.ok === true) return event.value.facts;
  const problem = event?.error ?? (body?.ok === false ? body.error : undefined);
  const why = problem === undefined ? "its body was pruned" : `${problem.reason}: ${problem.detail}`;
  throw new EscrowMirrorError("not-releasable", `delivery ${row.id} can't be applied: ${why}`);
}

/** It takes the payload's id if that is free, so that the event can't come in a second time under it. */
async function claimPayloadId(
  tx: StoreTransaction,
  row: DeliveryRow,
  facts: EventFacts,
): Promise<string | null> {
  const [claimant] =
    facts.payloadId === null ? [] : await tx.lookup("deliveries", "payloadId", [facts.payloadId]);
  if (claimant === undefined) return facts.payloadId;
  if (isSameSubject(claimant, facts))
    throw new EscrowMirrorError(
      "not-releasable",
      `the event of delivery ${row.id} is applied already, as ${claimant.id}`,
    );
  return null;
}
