import { describe, expect, it } from "vitest";
import { advance, attachmentsRead, fold } from "../../../src/domain/fold.ts";
import type { FoldInput } from "../../../src/domain/input.ts";
import { familyOf } from "../../../src/domain/input.ts";
import { emptyState } from "../../../src/domain/records.ts";
import { specEventTypes } from "../../../src/events/event.ts";
import { at, event, foldOf, kindsOf, permutations, skewMs, snapshot } from "../../support/delivery.ts";

const life = [
  event("contract.created", { id: "1", seconds: 0, status: "pending", amount: "100.00", reference: "R-1" }),
  event("contract.approved", { id: "2", seconds: 100, status: "Approved", previousStatus: "pending" }),
  event("payment.completed", {
    id: "3",
    seconds: 200,
    status: "Escrow",
    previousStatus: "Approved",
    paymentId: "P-1",
  }),
  event("contract.disputed", { id: "4", seconds: 300, status: "Dispute", previousStatus: "Escrow" }),
  event("contract.released", { id: "5", seconds: 400, status: "Released", previousStatus: "Dispute" }),
];

describe("the fold", () => {
  it("comes out the same in every order of arrival", () => {
    const truth = foldOf(...life);
    expect(truth.contract).toMatchObject({
      status: "Released",
      previousStatus: "Dispute",
      statusSince: at(400),
    });
    for (const order of permutations(life)) expect(foldOf(...order)).toEqual(truth);
  });

  it("gives the same by single steps as by refolding", () => {
    let state = emptyState("CNT-1");
    const history: unknown[] = [];
    for (const input of life) {
      state = advance(state, [input], { skewMs });
      history.push(...state.transitions);
    }
    const { transitions, anomalies, ...whole } = foldOf(...life);
    expect(history).toEqual(transitions);
    expect(state).toMatchObject(whole);
    expect(anomalies).toEqual([]);
  });

  it("leaves the state that it starts from as it was", () => {
    const before = foldOf(...life.slice(0, 2));
    const copy = structuredClone(before);
    advance(before, life.slice(2), { skewMs });
    expect(before).toEqual(copy);
  });

  it("writes a history of what moved, from where, by which delivery, on whose word", () => {
    const { transitions } = foldOf(...life.slice(0, 2));
    expect(transitions).toEqual([
      {
        contractId: "CNT-1",
        position: 1,
        entity: "contract",
        milestoneId: null,
        from: null,
        to: "pending",
        event: "contract.created",
        webhookId: life[0]?.webhookId,
        occurredAt: at(0),
        moved: true,
        derived: false,
        source: "spec",
        anomaly: null,
      },
      {
        contractId: "CNT-1",
        position: 2,
        entity: "contract",
        milestoneId: null,
        from: "pending",
        to: "Approved",
        event: "contract.approved",
        webhookId: life[1]?.webhookId,
        occurredAt: at(100),
        moved: true,
        derived: false,
        source: "inferred",
        anomaly: null,
      },
    ]);
  });

  it("notes a gap while an event is missing, and none once it has come", () => {
    const [created, approved, paid] = life as [FoldInput, FoldInput, FoldInput];
    expect(kindsOf(foldOf(created, paid))).toEqual(["gap"]);
    expect(kindsOf(foldOf(created, paid, approved))).toEqual([]);
  });

  it("takes no late event for news: the older one changes the history, not the status", () => {
    const [created, approved, paid, , released] = life as [
      FoldInput,
      FoldInput,
      FoldInput,
      FoldInput,
      FoldInput,
    ];
    const state = foldOf(created, approved, released, paid);
    expect(state.contract.status).toBe("Released");
    expect(state.transitions.map(({ to }) => to)).toEqual(["pending", "Approved", "Escrow", "Released"]);
  });
});

describe("the target of an event", () => {
  it.each([
    ["contract.approved", "contract", null],
    ["payment.completed", "contract", null],
    ["refund.full-initiated", "contract", null],
    ["milestone.released", "milestone", "7"],
  ])("of type %s is the %s", (type, entity, milestoneId) => {
    const milestone = entity === "milestone" ? { milestoneId: 7 } : {};
    const { transitions } = foldOf(
      event(type, { seconds: 0, transactionId: "T", paymentId: "P", ...milestone }),
    );
    expect(transitions.map((each) => [each.entity, each.milestoneId])).toEqual([[entity, milestoneId]]);
  });

  it("is none where the type belongs to no family that moves anything", () => {
    for (const type of [
      "webhook.test",
      "invoice.paid",
      "user.created",
      "contracts",
      "contractx",
      "milestones",
      "x",
      ".",
    ])
      expect(familyOf(type), type).toBeUndefined();
  });

  it.each([
    ["data.milestoneId", { milestoneId: 13, metadata: { milestoneId: "14" } }],
    ["data.metadata.milestoneId", { metadata: { milestoneId: "13" } }],
    ["a numeric string", { milestoneId: "13" }],
  ])("is the milestone of %s", (_, shape) => {
    const state = foldOf(event("milestone.released", { seconds: 0, ...shape }));
    expect([...state.milestones.keys()]).toEqual(["13"]);
  });

  it("is one milestone where a GUID comes in another case or in braces", () => {
    const guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
    const state = foldOf(
      event("milestone.payment.completed", { seconds: 0, milestoneId: guid.toUpperCase(), paymentId: "P" }),
      event("milestone.released", { seconds: 1, milestoneId: `{${guid}}` }),
    );
    expect([...state.milestones.keys()]).toEqual([guid]);
    expect(state.milestones.get(guid)?.status).toBe("Released");
  });

  it("is created when it was never seen, contract and milestone alike", () => {
    const state = foldOf(
      event("milestone.payment.completed", { seconds: 0, milestoneId: 7, paymentId: "P" }),
    );
    expect(state.contract).toMatchObject({ contractId: "CNT-1", status: null });
    expect(state.milestones.get("7")).toMatchObject({ status: "Escrow", statusSince: at(0) });
    expect(kindsOf(state)).toEqual([]);
  });

  it("is flagged where a milestone event names no milestone", () => {
    const state = foldOf(event("milestone.released", { seconds: 0 }));
    expect(state.milestones.size).toBe(0);
    expect(kindsOf(state)).toEqual(["milestone-missing"]);
  });

  it("is the contract too when a milestone's refund begins and ends", () => {
    const state = foldOf(
      event("payment.completed", { seconds: -2, paymentId: "P" }),
      event("milestone.payment.completed", { seconds: -1, milestoneId: 7, paymentId: "P" }),
      event("milestone.refund.full-initiated", {
        seconds: 0,
        milestoneId: 7,
        transactionId: "T",
        previousStatus: "Escrow",
      }),
      event("milestone.refund.full-succeeded", {
        seconds: 1,
        milestoneId: 7,
        transactionId: "T",
        previousStatus: "RefundInProgress",
      }),
    );
    expect(state.contract).toMatchObject({ status: "Cancelled", statusDerived: true });
    expect(state.milestones.get("7")?.status).toBe("Refunded");
    expect(
      state.transitions.slice(2).map(({ entity, to, derived, source }) => [entity, to, derived, source]),
    ).toEqual([
      ["milestone", "RefundInProgress", false, "spec"],
      ["contract", "RefundInProgress", true, "spec"],
      ["milestone", "Refunded", false, "spec"],
      ["contract", "Cancelled", true, "spec"],
    ]);
  });

  it("derives no contract move from the event's previousStatus, which is the milestone's", () => {
    const state = foldOf(
      event("contract.released", { seconds: 0 }),
      event("milestone.refund.full-initiated", {
        seconds: 600,
        milestoneId: 7,
        transactionId: "T",
        previousStatus: "Released",
      }),
    );
    expect(state.transitions.at(-1)).toMatchObject({
      entity: "contract",
      derived: true,
      anomaly: "unexpected-transition",
    });
  });

  it("may leave Cancelled again when a milestone's refund set it", () => {
    const refunded = [
      event("milestone.refund.full-initiated", { seconds: 0, milestoneId: 7, transactionId: "T" }),
      event("milestone.refund.full-succeeded", { seconds: 1, milestoneId: 7, transactionId: "T" }),
    ];
    const later = event("contract.released", { seconds: 600, previousStatus: "Escrow" });
    expect(foldOf(...refunded, later).contract.status).toBe("Released");
    const cancelled = event("contract.cancelled", { seconds: 1, previousStatus: "pending" });
    const state = foldOf(cancelled, later);
    expect(state.contract.status).toBe("Cancelled");
    expect(kindsOf(state)).toEqual(["gap", "after-terminal"]);
  });

  it("of the earlier edition's milestone refund: the milestone by the type, the contract by the status", () => {
    const state = foldOf(
      event("payment.completed", { seconds: 0, paymentId: "P", status: "Escrow" }),
      event("refund.full-initiated", {
        seconds: 1,
        transactionId: "T",
        status: "RefundInProgress",
        previousStatus: "Escrow",
        metadata: { milestoneId: "13" },
      }),
    );
    expect(state.contract).toMatchObject({
      status: "RefundInProgress",
      statusDerived: false,
      previousStatus: "Escrow",
    });
    expect(state.milestones.get("13")?.status).toBe("RefundInProgress");
    expect(kindsOf(state).filter((kind) => kind === "status-mismatch")).toEqual([]);
  });

  it("of the earlier edition without a status is the milestone alone", () => {
    const state = foldOf(
      event("refund.full-succeeded", { seconds: 1, transactionId: "T", metadata: { milestoneId: "13" } }),
    );
    expect(state.contract.status).toBeNull();
    expect(state.milestones.get("13")?.status).toBe("Refunded");
  });

  it("moves by no other type, whatever ids it names", () => {
    expect(specEventTypes.filter((type) => familyOf(type) === undefined)).toEqual(["webhook.test"]);
  });
});

describe("the status of an event", () => {
  it("is data.status where it is given", () => {
    const state = foldOf(event("contract.updated", { seconds: 0, status: "Escrow" }));
    expect(state.contract.status).toBe("Escrow");
    expect(kindsOf(state)).toEqual(["unknown-event", "gap"]);
  });

  it.each([
    ["contract.created", "pending"],
    ["contract.approved", "Approved"],
    ["contract.rejected", "Rejected"],
    ["contract.cancelled", "Cancelled"],
    ["payment.completed", "Escrow"],
    ["contract.released", "Released"],
    ["contract.disputed", "Dispute"],
    ["contract.refunded", "Refunded"],
    ["contract.completed", "Completed"],
    ["refund.full-initiated", "RefundInProgress"],
    ["refund.full-succeeded", "Refunded"],
    ["refund.partial-initiated", "RefundInProgress"],
    ["refund.partial-succeeded", "Refunded"],
  ])("is implied by %s where it is not: %s", (type, status) => {
    expect(foldOf(event(type, { seconds: 0, paymentId: "P", transactionId: "T" })).contract.status).toBe(
      status,
    );
  });

  it.each([
    ["milestone.payment.completed", "Escrow"],
    ["milestone.released", "Released"],
    ["milestone.disputed", "Disputed"],
    ["milestone.completed", "Completed"],
    ["milestone.refund.full-initiated", "RefundInProgress"],
    ["milestone.refund.full-succeeded", "Refunded"],
  ])("of a milestone is implied by %s: %s", (type, status) => {
    const state = foldOf(event(type, { seconds: 0, milestoneId: 1, paymentId: "P", transactionId: "T" }));
    expect(state.milestones.get("1")?.status).toBe(status);
  });

  it.each(["contract.delivered", "contract.received"])(
    "is none for %s, which moves nothing by itself",
    (type) => {
      const state = foldOf(event("contract.created", { seconds: 0 }), event(type, { seconds: 1 }));
      expect(state.contract.status).toBe("pending");
      expect(kindsOf(state)).toEqual([]);
    },
  );

  it("wins over the type, with an anomaly", () => {
    const state = foldOf(
      event("contract.created", { seconds: 0 }),
      event("contract.approved", { seconds: 1, status: "Rejected", previousStatus: "pending" }),
    );
    expect(state.contract.status).toBe("Rejected");
    expect(kindsOf(state)).toEqual(["status-mismatch"]);
  });

  it("of a partial refund may be PartiallyRefunded as well as Refunded", () => {
    for (const status of ["Refunded", "PartiallyRefunded"])
      expect(
        kindsOf(foldOf(event("refund.partial-succeeded", { seconds: 0, transactionId: "T", status }))),
      ).toEqual(["gap"]);
  });
});

describe("an event of an unknown type", () => {
  it("is flagged, and moves by its status alone", () => {
    const state = foldOf(
      event("contract.created", { seconds: 0 }),
      event("contract.teleported", { seconds: 1 }),
    );
    expect(state.contract.status).toBe("pending");
    expect(kindsOf(state)).toEqual(["unknown-event"]);
  });
});

describe("a descriptive field", () => {
  it("is the last non-null value in key order, not of arrival", () => {
    const first = event("contract.created", {
      seconds: 0,
      reference: "A",
      metadata: { metadata1: "a", metadata2: "x" },
    });
    const second = event("contract.approved", {
      seconds: 1,
      reference: "B",
      metadata: { metadata1: "b", metadata2: null },
    });
    const third = event("contract.released", { seconds: 2, reference: null });
    for (const order of permutations([first, second, third]))
      expect(foldOf(...order).contract).toMatchObject({
        reference: "B",
        metadata1: "b",
        metadata2: "x",
        metadata3: null,
      });
  });

  it("is never cleared by a webhook", () => {
    const state = foldOf(
      event("contract.created", { seconds: 0, reference: "A", metadata: { metadata1: "a" } }),
      event("contract.approved", { seconds: 1, reference: null, metadata: null }),
      event("contract.released", { seconds: 2 }),
    );
    expect(state.contract).toMatchObject({ reference: "A", metadata1: "a" });
  });

  it("updatedAt is the newest time that an event gave, and createdAt that of its creation", () => {
    const state = foldOf(...life, event("contract.disputed", { id: "late", timestamp: "?" }));
    expect(state.contract).toMatchObject({ createdAt: at(0), updatedAt: at(400) });
  });
});

describe("a contract's amount", () => {
  it("comes from contract.created", () => {
    expect(foldOf(event("contract.created", { seconds: 0, amount: "100.05" })).contract.amountMinor).toBe(
      10005,
    );
  });

  it("does not come from a payment, a refund or any other event", () => {
    const state = foldOf(
      event("contract.created", { seconds: 0, amount: 100 }),
      event("contract.approved", { seconds: 1, amount: 1 }),
      event("payment.completed", { seconds: 2, amount: 2, paymentId: "P" }),
      event("refund.full-initiated", { seconds: 3, amount: 3, transactionId: "T" }),
      event("milestone.payment.completed", { seconds: 4, amount: 4, milestoneId: 1, paymentId: "P" }),
    );
    expect(state.contract.amountMinor).toBe(10000);
    expect(state.milestones.get("1")?.amountMinor).toBeNull();
  });
});

describe("what is odd about the values", () => {
  it.each([
    ["amount-precision", { amount: "1.005" }],
    ["amount-range", { amount: "90071992547409.92" }],
    ["amount-unreadable", { amount: "a lot" }],
    ["amount-unreadable", { amount: true }],
    ["foreign-currency", { currency: "USD" }],
    ["foreign-currency", { currency: 682 }],
    ["previous-status-unreadable", { previousStatus: ["Draft"] }],
  ])("becomes the anomaly %s and costs no event: %j", (kind, shape) => {
    const state = foldOf(event("contract.created", { seconds: 0, reference: "R-1", ...shape }));
    expect(state.contract).toMatchObject({ status: "pending", reference: "R-1" });
    expect(kindsOf(state)).toEqual([kind]);
  });

  it("leaves a payment without the amount that could not be read", () => {
    const state = foldOf(event("payment.completed", { seconds: 0, paymentId: "P", amount: "1,5" }));
    expect([...state.payments.values()]).toMatchObject([{ paymentId: "P", amountMinor: null }]);
  });
});

it("the fold of nothing is an empty contract", () => {
  expect(fold("CNT-9", [], { skewMs })).toEqual(emptyState("CNT-9"));
});

it("a contract whose creations name no time was created when the first in key order came", () => {
  const [first, second] = ["1", "2"].map((id) => event("contract.created", { id }, at(100 + Number(id))));
  for (const order of permutations([first, second].filter((each) => each !== undefined)))
    expect(foldOf(...order).contract.createdAt).toBe(at(101));
});

it("a refund's event of tomorrow that names a milestone moves the contract as it says, and no milestone", () => {
  const { contract, milestones } = foldOf(
    event("refund.postponed", { seconds: 0, milestoneId: 13, status: "RefundInProgress" }),
  );
  expect(contract.status).toBe("RefundInProgress");
  expect(milestones.get("13")?.status).toBeNull();
});

it.each<[string, FoldInput, string[]]>([
  ["an API read", snapshot({ seconds: 0, status: "Escrow" }), ["milestones", "refunds"]],
  ["a contract's event", event("contract.approved"), []],
  ["a milestone's event", event("milestone.released", { milestoneId: 13 }), ["milestones"]],
  ["a payment", event("payment.completed"), ["payments"]],
  [
    "a milestone's payment",
    event("milestone.payment.completed", { milestoneId: 13 }),
    ["milestones", "payments"],
  ],
  ["a dispute", event("contract.disputed"), ["disputes"]],
  ["a milestone's dispute", event("milestone.disputed", { milestoneId: 13 }), ["milestones", "disputes"]],
  ["a refund", event("refund.partial-initiated"), ["refunds"]],
  ["a type that means Refunded", event("contract.refunded"), ["refunds"]],
  ["a status that is Refunded", event("contract.approved", { status: "REFUNDED" }), ["refunds"]],
])("%s needs no more rows than its step reads", (_, input, attachments) => {
  expect(attachmentsRead(input)).toEqual(attachments);
});

it("a milestone's status that contradicts its event type wins, and is flagged", () => {
  const state = foldOf(event("milestone.released", { seconds: 0, milestoneId: 13, status: "Disputed" }));
  expect(state.milestones.get("13")?.status).toBe("Disputed");
  expect(kindsOf(state)).toContain("status-mismatch");
});

it("a milestone's Dispute is its Disputed: no contradiction", () => {
  const disputed = event("milestone.disputed", { seconds: 0, milestoneId: 13, status: "Dispute" });
  const state = foldOf(event("milestone.payment.completed", { seconds: -1, milestoneId: 13 }), disputed);
  expect(kindsOf(state)).not.toContain("status-mismatch");
  expect(state.milestones.get("13")?.status).toBe("Disputed");
});

it.each([
  ["refund.partial-succeeded", "Escrow"],
  ["refund.full-succeeded", "PartiallyRefunded"],
])("%s that says %s contradicts itself", (type, status) => {
  expect(kindsOf(foldOf(event(type, { seconds: 0, transactionId: "T-1", status })))).toContain(
    "status-mismatch",
  );
});
