import { parseEvent } from "../../events/parse.ts";
import { inflateBody } from "../../events/inflate.ts";
import type { EventFacts } from "../../events/event.ts";
import { fromFactColumns } from "../../store/fact-columns.ts";
import { EscrowMirrorError } from "../../shared/errors.ts";
import type { StoreTransaction } from "../../store/store.ts";
import { payloadOf } from "../../store/payload.ts";
import type { DeliveryRow, PayloadRow } from "../../store/tables/deliveries.ts";
import { adopt } from "../deliveries/adopt.ts";
import { toInput } from "../arrival.ts";
import { commitOnce, type CommitParts, type Fresh } from "../commit.ts";
import { toFresh } from "../notify.ts";

export interface ReleaseParts extends CommitParts {
  readonly maxBodyBytes: number;
}

/**
 * Applies a delivery that was set aside after all: one whose ids contradict another's, one out of tolerance, one that came
 * with known ids and other content, or one that this release can read and an earlier could not. Its id is its webhook id
 * from then on, where that is free.
 *
 * @throws EscrowMirrorError `invalid-argument` for an id that is no text; `not-found`; `not-releasable` when it still
 * can't be read, or its event is applied already
 */
export async function release(parts: ReleaseParts, id: string): Promise<void> {
  if (typeof id !== "string")
    throw new EscrowMirrorError("invalid-argument", `an id must be text, ${typeof id} was given`);
  await commitOnce(parts, { take: (tx) => takeOut(tx, id, parts.maxBodyBytes) });
}

async function takeOut(tx: StoreTransaction, id: string, maxBodyBytes: number): Promise<Fresh> {
  const [row] = await tx.lock("deliveries", "id", [id]);
  if (row === undefined || !isSetAside(row))
    throw new EscrowMirrorError(
      "not-found",
      `no quarantined delivery has the id ${id}: pass the id, not the webhookId, of an item of mirror.quarantine.list()`,
    );
  const payload = await payloadOf(tx, row);
  const facts = fromFactColumns(row) ?? readAgain(row, payload, maxBodyBytes);
  const applied = await adopt(tx, row, facts);
  if (applied !== undefined)
    throw new EscrowMirrorError(
      "not-releasable",
      `the event of delivery ${row.id} is applied already, as ${applied.id}`,
    );
  return { inputs: [toInput(row, facts)], deliveries: [{ ...toFresh(row, payload, facts), seq: row.seq }] };
}

/** Quarantined, dismissed or not, or kept beside the delivery whose ids it came with. */
function isSetAside({ outcome, reason }: DeliveryRow): boolean {
  return outcome === "quarantined" || outcome === "dismissed" || reason === "payload-changed";
}

/** As the unsigned header says, or else: a proxy may have inflated a body and left the header, or lost the header alone. */
const encodings = [undefined, "gzip", "deflate", "br"];

function readAgain({ id }: DeliveryRow, payload: PayloadRow | undefined, maxBodyBytes: number): EventFacts {
  if (payload === undefined)
    throw new EscrowMirrorError("not-releasable", `delivery ${id} can't be applied: its body was pruned`);
  const { body, headers } = payload;
  const first = readAs(headers["content-encoding"], body, maxBodyBytes);
  if (first.ok) return first.value.facts;
  const readable = encodings.map((each) => readAs(each, body, maxBodyBytes)).find((each) => each.ok);
  if (readable !== undefined) return readable.value.facts;
  const { reason, detail } = first.error;
  throw new EscrowMirrorError("not-releasable", `delivery ${id} can't be applied: ${reason}: ${detail}`);
}

function readAs(encoding: string | undefined, body: Uint8Array, maxBodyBytes: number) {
  const inflated = inflateBody(body, encoding, maxBodyBytes);
  return inflated.ok ? parseEvent(inflated.value) : inflated;
}
