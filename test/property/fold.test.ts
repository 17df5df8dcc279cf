/** Semantics §5.2: a step above the last key and a fold of everything give the same. */
import { expect } from "vitest";
import * as fc from "fast-check";
import { advance, fold } from "../../src/domain/fold.ts";
import type { FoldInput } from "../../src/domain/input.ts";
import { groupByTime } from "../../src/domain/order.ts";
import { emptyState, type ContractState } from "../../src/domain/records.ts";
import { finish } from "../../src/domain/steps.ts";
import { schedule } from "../../src/testing/arbitraries/schedule.ts";
import { law } from "./law.ts";
import { folding } from "./receiving.ts";
import { groupByContract, isFolded, rowsOfStates, toFoldInput } from "./rows.ts";

const wild = fc.tuple(
  schedule({ manner: "wild", stepsMax: 14 }),
  fc.array(fc.nat({ max: 9 }), { maxLength: 8 }),
);

law(
  "steps in key order equal one fold, however the store orders what it gives back",
  0.2,
  wild,
  ([told, turns]) => {
    for (const [contractId, inputs] of groupByContract(told.distinct.map(toFoldInput).filter(isFolded))) {
      const whole = fold(contractId, [...inputs].reverse(), folding);
      expect(rowsOfStates([stepThrough(contractId, inputs, turns)])).toEqual(rowsOfStates([whole]));
    }
  },
);

/** One step for each instant; between two, every map comes back in another order, as a store may give it. */
function stepThrough(
  contractId: string,
  inputs: readonly FoldInput[],
  turns: readonly number[],
): ContractState {
  let state = emptyState(contractId);
  const transitions = [];
  const anomalies = [];
  for (const [index, tied] of finish(groupByTime(inputs)).entries()) {
    state = turned(advance(state, tied, folding), turns[index] ?? 0);
    transitions.push(...state.transitions);
    anomalies.push(...state.anomalies);
  }
  return { ...state, transitions, anomalies };
}

function turned(state: ContractState, by: number): ContractState {
  return {
    ...state,
    milestones: turn(state.milestones, by),
    refunds: turn(state.refunds, by),
    payments: turn(state.payments, by),
    disputes: turn(state.disputes, by),
  };
}

function turn<Row>(rows: ReadonlyMap<string, Row>, by: number): Map<string, Row> {
  const entries = [...rows];
  const start = entries.length === 0 ? 0 : by % entries.length;
  return new Map([...entries.slice(start), ...entries.slice(0, start)]);
}
