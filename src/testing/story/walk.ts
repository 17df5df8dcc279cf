import { actionsOf } from "./actions.ts";
import type { ContractLife } from "./life.ts";
import { openService, toLife, type LifePlan } from "./service.ts";

/** How a life begins: from nothing, as paid, or with its milestones paid too. */
export type Opening = "none" | "paid" | "funded";

/** Walks the life of a contract: the opening, then one action for each choice, until nothing is left to do. */
export function walk(plan: LifePlan, opening: Opening, choices: readonly number[]): ContractLife {
  const service = openService(plan);
  for (const wanted of openings[opening](plan))
    actionsOf(service)
      .find(({ event }) => event === wanted)
      ?.run();
  for (const choice of choices) {
    const actions = actionsOf(service);
    actions[choice % actions.length]?.run();
  }
  return toLife(service);
}

const untilPaid = ["contract.created", "contract.approved", "payment.completed"];

/** Steps before the first choice, so that many lives get as far as refunds and disputes. */
const openings: { readonly [Name in Opening]: (plan: LifePlan) => readonly string[] } = {
  none: () => [],
  paid: () => untilPaid,
  funded: (plan: LifePlan) => [...untilPaid, ...plan.milestoneIds.map(() => "milestone.payment.completed")],
};
