/** What the generators make: the laws are worth what these cover. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contractMachine, milestoneMachine, type Machine } from "../../src/index.ts";
import { contractLife } from "../../src/testing/arbitraries/contract-life.ts";
import { history } from "../../src/testing/arbitraries/history.ts";
import type { History } from "../../src/testing/story/history.ts";
import type { ContractLife, LifeEvent, TrueRefund } from "../../src/testing/story/life.ts";
import { schedule } from "../../src/testing/arbitraries/schedule.ts";
import { toTimeline } from "../../src/testing/story/timeline.ts";

const lives = fc.sample(contractLife({ stepsMax: 16 }), { numRuns: 4000, seed: 20_260_125 });

describe("contractLife", () => {
  it.each([contractMachine, milestoneMachine])(
    "takes every transition of the $entity's machine that a webhook tells of",
    (machine) => {
      const taken = new Set(lives.flatMap(({ events }) => events.flatMap((event) => rowsOf(machine, event))));
      const told = machine.transitions.filter(({ event }) => event !== null);
      expect(
        told.map(({ from, event, to }) => `${from} ${event} ${to}`).filter((row) => !taken.has(row)),
      ).toEqual([]);
    },
  );

  it("goes back as the service does: a dispute settled, a refund given up, a contract resumed or reopened", () => {
    const types = new Set(lives.flatMap(({ events }) => events.map(({ event }) => event)));
    for (const back of ["contract.dispute-settled", "milestone.dispute-settled", "contract.refund-given-up"])
      expect(types).toContain(back);
    expect(types).toContain("contract.resumed");
    expect(types).toContain("contract.reopened");
    expect(types).toContain("milestone.reopened");
    expect(types).toContain("contract.refunded");
  });

  it("has lives with several refunds, of contracts and of milestones, in both editions", () => {
    const several = lives.filter(({ truth }) => truth.refunds.length > 1);
    expect(kindsOf(several)).toEqual(
      new Set([
        "spec contract full",
        "spec milestone full",
        "earlier contract full",
        "earlier contract partial",
        "earlier milestone full",
        "earlier milestone partial",
      ]),
    );
  });

  it("leaves every terminal status that it reaches by an event", () => {
    const moves = lives.flatMap(({ events }) => events.flatMap((event) => event.moves));
    const reached = new Set(moves.map(({ to }) => to));
    const left = new Set(moves.map(({ from }) => from));
    const terminal = [...contractMachine.terminal, ...milestoneMachine.terminal];
    expect(terminal.filter((status) => reached.has(status) && !left.has(status))).toEqual([]);
  });

  it("uses one refund id for two refunds of a contract, of other kinds and targets, where ids are shared", () => {
    const shared = fc.sample(contractLife({ stepsMax: 16, sharedRefundIds: true }), {
      numRuns: 1000,
      seed: 5,
    });
    const twins = shared.flatMap(({ truth }) => twinsOf(truth.refunds));
    expect(twins.filter(([a, b]) => a.kind !== b.kind && a.milestoneId === b.milestoneId)).not.toEqual([]);
    expect(twins.filter(([a, b]) => a.kind === b.kind && a.milestoneId !== b.milestoneId)).not.toEqual([]);
    expect(lives.flatMap(({ truth }) => twinsOf(truth.refunds))).toEqual([]);
  });

  it("shrinks to a story that a person can read", () => {
    const { counterexample } = fc.check(fc.property(history(), undisputed), { seed: 1, numRuns: 1000 });
    expect(counterexample?.[0].sent.map(({ event }) => event.event)).toEqual([
      "contract.created",
      "contract.approved",
      "payment.completed",
      "contract.disputed",
    ]);
  });
});

describe("schedule", () => {
  it("has amounts that are no number in its wild manner alone", () => {
    expect(amountsOf("wild")).toContain("unreadable");
    expect(amountsOf("complete")).not.toContain("unreadable");
  });

  it("prints as a timeline: what happened, what was lost, what arrived", () => {
    const [made] = fc.sample(schedule({ manner: "wild" }), { numRuns: 1, seed: 3 });
    const text = made === undefined ? "" : toTimeline(made);
    expect(text).toMatch(/what happened\n {2}CNT-2601-\d{8}, \w+ edition, milestones .+\n.+contract · → \w+/);
    expect(text).toMatch(/what arrived \(one line is one batch\)\n {2}1\. /);
    expect(fc.stringify(made)).toBe(text);
  });

  it("loses, repeats, reorders, ties and reads the API in between", () => {
    const many = fc.sample(schedule({ manner: "wild", contractsMax: 2, sharedRefundIds: true }), {
      numRuns: 300,
      seed: 4,
    });
    const count = (holds: (made: (typeof many)[number]) => boolean): number => many.filter(holds).length;
    const eventsOf = (made: (typeof many)[number]) => made.histories.flatMap(({ sent }) => sent);
    const timesOf = (made: (typeof many)[number]) => eventsOf(made).map(({ ticks }) => ticks);
    const arrivedOf = ({ batches }: (typeof many)[number]) => batches.flat();
    expect(count((made) => made.distinct.length < eventsOf(made).length)).toBeGreaterThan(20);
    expect(count((made) => new Set(timesOf(made)).size < timesOf(made).length)).toBeGreaterThan(50);
    expect(count((made) => made.distinct.some(({ kind }) => kind === "snapshot"))).toBeGreaterThan(100);
    expect(count((made) => arrivedOf(made).length > made.distinct.length)).toBeGreaterThan(100);
    expect(
      count((made) => arrivedOf(made).some(({ webhookId }) => webhookId.startsWith("fresh"))),
    ).toBeGreaterThan(50);
    expect(count(({ histories }) => sharesRefundId(histories.map(({ life }) => life)))).toBeGreaterThan(3);
  });
});

/** The rows of a machine that an event's moves took. */
function rowsOf({ entity }: Machine, { event, moves }: LifeEvent): string[] {
  return moves
    .filter(({ milestoneId }) => (milestoneId === null) === (entity === "contract"))
    .map(({ from, to }) => `${from} ${event} ${to}`);
}

function kindsOf(some: readonly ContractLife[]): Set<string> {
  return new Set(
    some.flatMap(({ edition, truth }) =>
      truth.refunds.map(({ scope, kind }) => `${edition} ${scope} ${kind}`),
    ),
  );
}

function sharesRefundId(some: readonly ContractLife[]): boolean {
  const ids = some.flatMap(({ truth }) => truth.refunds.map(({ refundId }) => refundId));
  return new Set(ids).size < ids.length;
}

function amountsOf(manner: "wild" | "complete"): string[] {
  return fc
    .sample(history({ manner }), { numRuns: 300, seed: 6 })
    .flatMap(({ sent }) => sent.map(({ dressing }) => dressing.amount));
}

function twinsOf(refunds: readonly TrueRefund[]): (readonly [TrueRefund, TrueRefund])[] {
  return refunds.flatMap((first, index) =>
    refunds
      .slice(index + 1)
      .flatMap((second) => (first.refundId === second.refundId ? [[first, second] as const] : [])),
  );
}

function undisputed({ life }: History): boolean {
  return life.truth.disputes.length === 0;
}
