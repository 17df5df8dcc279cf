import { expect, it } from "vitest";
import { fold } from "../../../src/domain/fold.ts";
import { at, event, skewMs, type EventShape } from "../../support/delivery.ts";

it.each<[string, EventShape]>([
  ["without a time", {}],
  ["that follow from each other", { seconds: 0, milestoneId: 1, status: "Frozen", previousStatus: "Frozen" }],
])("events of equal times cost no square of their number: 100,000 %s", (_, shape) => {
  const facts = event("milestone.updated", { milestoneId: 2, status: "Escrow", ...shape }).facts;
  const inputs = Array.from({ length: 100_000 }, (__, id) => ({
    kind: "event" as const,
    digest: String((id * 7919) % 100_000),
    webhookId: `${id}`,
    receivedAt: at(0),
    facts: { ...facts, status: id % 2 === 0 ? facts.status : "Thawed" },
  }));
  expect(fold("CNT-1", inputs, { skewMs }).contract.transitionCount).toBe(100_000);
});
