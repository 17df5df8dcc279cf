/** Semantics §1.5: the mirror follows the service. What the service did is computed by the walk, not by our fold. */
import { describe, expect } from "vitest";
import { compareText } from "../../src/domain/order.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import type { Store, StoreReader } from "../../src/store/store.ts";
import type { History } from "../../src/testing/story/history.ts";
import type { TrueDispute, TrueRefund } from "../../src/testing/story/life.ts";
import { schedule } from "../../src/testing/arbitraries/schedule.ts";
import type { StorySchedule } from "../../src/testing/story/schedule.ts";
import { law } from "./law.ts";
import { openReceiving } from "./receiving.ts";

describe("a legal life of which everything is delivered", () => {
  const complete = schedule({ stepsMax: 14 });
  law("ends as the truth, in any order, with duplicates", 0.18, complete, endsAsTruth);

  const skewed = schedule({ manner: "skewed", stepsMax: 10 }).filter(goesOnlyForward);
  law("ends as the truth by clocks within skewMs too, where it goes only forward", 0.07, skewed, endsAsTruth);
});

async function endsAsTruth(arrivals: StorySchedule): Promise<void> {
  const receiving = await openReceiving(createMemoryStore());
  await receiving.deliver(arrivals);
  for (const history of arrivals.histories)
    expect(await mirrored(receiving.store, history)).toEqual(truthOf(history));
}

/** A way back and a stale event look alike where clocks differ (semantics §5.5): the machine has no cycle. */
function goesOnlyForward({ histories }: StorySchedule): boolean {
  return histories.every(({ life }) => life.events.every(({ forward }) => forward));
}

/** The truth with the instants that the history gave it, as the mirror writes them. */
function truthOf({ life, sent }: History) {
  const { truth } = life;
  const at = (index: number | null): string | null =>
    index === null ? null : (sent[index]?.occurredAt ?? null);
  const toRefund = ({ initiatedBy, succeededBy, ...refund }: TrueRefund) => ({
    ...refund,
    initiatedAt: at(initiatedBy),
    succeededAt: at(succeededBy),
  });
  const toDispute = ({ raisedBy, ...dispute }: TrueDispute) => ({ ...dispute, raisedAt: at(raisedBy) });
  return {
    status: truth.status,
    amountMinor: truth.amountMinor,
    reference: truth.reference,
    metadata: truth.metadata,
    milestones: truth.milestones,
    refunds: sorted(truth.refunds.map(toRefund)),
    payments: sorted(truth.payments),
    disputes: sorted(truth.disputes.map(toDispute)),
    lost: [],
  };
}

/** The same of the mirror, and what it says was lost or contradicts: nothing. */
function mirrored(store: Store, { life }: History) {
  return store.read(async (reader) => {
    const where = [{ field: "contractId", op: "=", value: life.contractId }] as const;
    const [contract] = await reader.find("contracts", { where });
    const milestones = await reader.find("milestones", { where });
    return {
      status: contract?.status,
      amountMinor: contract?.amountMinor,
      reference: contract?.reference,
      metadata: metadataOf(contract),
      milestones: new Map(milestones.map(({ milestoneId, status }) => [milestoneId, status])),
      ...(await recordsOf(reader, life.contractId)),
      lost: [...(await unmoved(reader, where)), ...(await overlaps(reader, where))],
    };
  });
}

type OfContract = readonly [{ readonly field: "contractId"; readonly op: "="; readonly value: string }];

/** A terminal status is left where the service says so itself; any other event after one is lost. */
async function unmoved(reader: StoreReader, where: OfContract) {
  const transitions = await reader.find("transitions", { where });
  return transitions.filter(({ moved, anomaly }) => !moved && anomaly === "after-terminal");
}

function overlaps(reader: StoreReader, where: OfContract) {
  return reader.find("anomalies", {
    where: [...where, { field: "kind", op: "=", value: "refund-overlap" }],
  });
}

async function recordsOf(reader: StoreReader, contractId: string) {
  const where = [{ field: "contractId", op: "=", value: contractId }] as const;
  const refunds = await reader.find("refunds", { where });
  const payments = await reader.find("payments", { where });
  const disputes = await reader.find("disputes", { where });
  return {
    refunds: sorted(
      refunds.map((row) =>
        pick(row, [
          "refundId",
          "milestoneId",
          "scope",
          "kind",
          "state",
          "amountMinor",
          "initiatedAt",
          "succeededAt",
        ]),
      ),
    ),
    payments: sorted(
      payments.map((row) =>
        pick(row, ["paymentId", "milestoneId", "transactionId", "invoiceId", "amountMinor"]),
      ),
    ),
    disputes: sorted(disputes.map((row) => pick(row, ["disputeId", "milestoneId", "raisedAt"]))),
  };
}

const metadataNames = ["metadata1", "metadata2", "metadata3", "metadata4"] as const;

function metadataOf(contract: Partial<Record<(typeof metadataNames)[number], string | null>> | undefined) {
  const present = metadataNames.flatMap((name) => {
    const value = contract?.[name];
    return value === null || value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(present);
}

function pick<Row extends object, Field extends keyof Row>(
  row: Row,
  fields: readonly Field[],
): Pick<Row, Field> {
  return Object.fromEntries(fields.map((field) => [field, row[field]])) as Pick<Row, Field>;
}

/** By their text, whatever order the fields stand in. */
function sorted<Row extends object>(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => compareText(textOf(a), textOf(b)));
}

function textOf(row: object): string {
  const fields = Object.entries(row);
  return JSON.stringify(fields.sort(([a], [b]) => compareText(a, b)));
}
