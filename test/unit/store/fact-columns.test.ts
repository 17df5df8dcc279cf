import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventFacts } from "../../../src/events/event.ts";
import { fromFactColumns, toFactColumns, type FactColumns } from "../../../src/store/fact-columns.ts";
import { factsOf } from "../../support/delivery.ts";

const created = factsOf("contract.created", { id: "e-1", seconds: 0, amount: 600, reference: "order-7" });

const text = fc.option(fc.string({ unit: "binary" }), { nil: null });
const anyFacts: fc.Arbitrary<EventFacts> = fc.record({
  event: fc.string(),
  payloadId: text,
  contractId: fc.string(),
  milestoneId: text,
  disputeId: text,
  transactionId: text,
  paymentId: text,
  invoiceId: text,
  reference: text,
  status: text,
  previousStatus: text,
  amountMinor: fc.option(fc.maxSafeInteger(), { nil: null }),
  currency: fc.constantFrom("SAR", "USD", "sar"),
  occurredAt: text,
  orderKey: fc.string(),
  metadata: fc.record({ metadata1: fc.string(), metadata4: fc.string() }, { requiredKeys: [] }),
  flags: fc.subarray(["no-zone", "foreign-currency"] as const),
});

describe("stored facts", () => {
  it("leave out what the row's columns hold, and what is absent", () => {
    expect(toFactColumns(created, true)).toEqual({
      event: "contract.created",
      contractId: "CNT-1",
      milestoneId: null,
      occurredAt: created.occurredAt,
      payloadId: "e-1",
      facts: { reference: "order-7", amountMinor: 60_000, orderKey: created.orderKey },
    });
  });

  it("keep the payload id where the delivery does not claim it", () => {
    const { payloadId, facts } = toFactColumns(created, false);
    expect([payloadId, facts?.payloadId]).toEqual([null, "e-1"]);
  });

  it("are none where the body could not be read", () => {
    const unread = toFactColumns(null, true);
    expect(Object.values(unread)).toEqual([null, null, null, null, null, null]);
    expect(fromFactColumns(unread)).toBeNull();
  });

  it("read back as the facts that went in, whatever they are", () => {
    fc.assert(
      fc.property(anyFacts, fc.boolean(), (facts, claims) => {
        expect(fromFactColumns(throughJson(toFactColumns(facts, claims)))).toEqual(facts);
      }),
      { numRuns: 1000 },
    );
  });
});

function throughJson(row: FactColumns): FactColumns {
  return JSON.parse(JSON.stringify(row)) as FactColumns;
}
