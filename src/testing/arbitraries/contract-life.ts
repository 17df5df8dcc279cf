import * as fc from "fast-check";
import type { ContractLife } from "../story/life.ts";
import type { LifePlan } from "../story/service.ts";
import { walk, type Opening } from "../story/walk.ts";

/** Limits on generated lives. */
export interface LifeConstraints {
  /** The largest number of steps. Default 12. */
  readonly stepsMax?: number;
  /** Whether two refunds can have the same id, as by a mistake of the service. Default `false`. */
  readonly sharedRefundIds?: boolean;
}

/**
 * Legal lives of a contract, with its milestones, payments, disputes and refunds: walked over the exported machines,
 * so that every transition that a webhook tells of comes up, with the ways back that the service takes beside them. Each
 * knows its own `truth`. Lives shrink to fewer and plainer steps.
 */
export function contractLife(constraints: LifeConstraints = {}): fc.Arbitrary<ContractLife> {
  const { stepsMax = 12, sharedRefundIds = false } = constraints;
  const opening = fc.constantFrom<Opening>("none", "paid", "funded");
  const choices = fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: stepsMax, size: "max" });
  return fc
    .tuple(lifePlan(sharedRefundIds), opening, choices)
    .map(([plan, ...course]) => walk(plan, ...course));
}

function lifePlan(sharedRefundIds: boolean): fc.Arbitrary<LifePlan> {
  return fc.record({
    edition: fc.constantFrom("spec", "earlier"),
    number: fc.integer({ min: 1, max: 99_999_999 }),
    refundBase: sharedRefundIds ? fc.integer({ min: 45, max: 46 }) : fc.constant(undefined),
    refundsPerId: sharedRefundIds ? fc.constantFrom(1, 2) : fc.constant(1),
    reopens: fc.constantFrom(false, false, true),
    milestoneIds: milestoneIds(),
    reference: fc.constantFrom("order-1", null, "طلب 7", "REF/2026-1"),
    metadata: fc.constantFrom({}, { metadata1: "a" }, { metadata1: "a", metadata2: "", metadata4: "é" }),
    amountMinor: fc.oneof(fc.constantFrom(60_000, 1, 123_456), fc.integer({ min: 1, max: 10_000_000_000 })),
  });
}

/** Numbers, as webhooks and samples have them, or GUIDs (§2.5). */
function milestoneIds(): fc.Arbitrary<string[]> {
  return fc.constantFrom([], ["13"], ["13", "14"], [guid(1)], [guid(1), guid(2)], ["13", "14", "15"]);
}

function guid(index: number): string {
  return `0b4bb4b6-5b64-4f5c-9a56-00000000000${index}`;
}
