import { describe, expect, it } from "vitest";
import {
  redactInput,
  type FoldInput,
  type RedactionInput,
  type RequestInput,
} from "../../../src/domain/input.ts";
import { foldOf, at, event, permutations, snapshot } from "../../support/delivery.ts";

const redaction: RedactionInput = {
  kind: "redaction",
  digest: "redaction CNT-1",
  receivedAt: at(5000),
  facts: { contractId: "CNT-1", orderKey: "", takenAt: null },
};

const request: RequestInput = {
  kind: "request",
  digest: "create CNT-1",
  receivedAt: at(-10),
  facts: {
    of: "create",
    contractId: "CNT-1",
    orderKey: "",
    takenAt: null,
    fields: { title: "A car", amountMinor: 100 },
  },
};

const created = event("contract.created", { seconds: 0, reference: "R-1", metadata: { metadata1: "Sara" } });

const shown = (milestoneId: string, dueDate: string, amountMinor: number) => ({
  milestoneId,
  status: null,
  name: "Wheels",
  amountMinor,
  dueDate,
});

const read = snapshot({
  seconds: 10,
  status: "pending",
  fields: { title: "A car", notes: "for Sara", amountMinor: 200 },
  milestones: [shown("13", "2026-05-01T00:00:00Z", 500)],
});

describe("a redaction", () => {
  it("takes what a person may be known by out of every input, in every order", () => {
    for (const order of permutations<FoldInput>([request, created, read, redaction])) {
      const { contract, milestones } = foldOf(...order);
      expect(contract).toMatchObject({ status: "pending", amountMinor: 200, redactedAt: at(5000) });
      expect(milestones.get("13")).toMatchObject({ name: null, amountMinor: 500 });
      expect(JSON.stringify([contract, ...milestones.values()])).not.toMatch(/Sara|car|R-1|Wheels/);
    }
  });

  it("moves nothing and dates nothing by itself", () => {
    const { contract, transitions } = foldOf(redaction);
    expect(contract).toMatchObject({ status: null, updatedAt: foldOf().contract.updatedAt, lastKey: "" });
    expect(transitions).toEqual([]);
  });

  it("leaves an amount that was never told absent, and calls about refunds and itself as they are", () => {
    expect(redactInput(snapshot({ seconds: 0, fields: { title: "A car" } })).facts.fields).toStrictEqual({});
    expect(redactInput(redaction)).toEqual(redaction);
    const of = { of: "refund", intentId: "i-1", contractId: "CNT-1", milestoneId: null } as const;
    const facts = { ...of, refundKind: "full", orderKey: "", takenAt: at(0), amountMinor: 1 } as const;
    const asked: RequestInput = { ...request, facts };
    expect(redactInput(asked)).toEqual(asked);
    const answer = {
      ...asked,
      kind: "answer",
      facts: { ...facts, requestedAt: at(0), refundId: "T-1" },
    } as const;
    expect(redactInput(answer)).toEqual(answer);
  });

  it("leaves due date and amount to tell which milestone is which", () => {
    const webhooks = snapshot({
      seconds: 5,
      status: "pending",
      milestones: [
        {
          milestoneId: "c0ffee00-0000-4000-8000-000000000000",
          status: null,
          name: "Wheels",
          dueDate: "2026-05-01",
          amountMinor: 500,
        },
      ],
    });
    const { milestones, anomalies } = foldOf(
      redaction,
      webhooks,
      snapshot({ seconds: 10, milestones: [shown("13", "2026-05-01", 500)] }),
    );
    expect([...milestones.keys()]).toEqual(["c0ffee00-0000-4000-8000-000000000000"]);
    expect(anomalies).toEqual([]);
  });
});
