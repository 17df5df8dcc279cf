/** The rows that a fold writes, field by field. */
import { describe, expect, it } from "vitest";
import { attachmentsRead, foldInSteps } from "../../../src/domain/fold.ts";
import type { FoldInput } from "../../../src/domain/input.ts";
import { queueTied } from "../../../src/domain/order.ts";
import { sortInSteps, stepItems } from "../../../src/domain/steps.ts";
import { at, event, foldOf, kindsOf, skewMs, snapshot } from "../../support/delivery.ts";

const created = event("contract.created", { seconds: 0 });
const timeless = (type: string, shape: object = {}, receivedAt = at(9000)) =>
  event(type, { timestamp: undefined, ...shape }, receivedAt);
const readAt100 = (updatedAt: string) => snapshot({ seconds: 100, status: "pending", updatedAt });
const milestoneOf = (...inputs: FoldInput[]) => [...foldOf(...inputs).milestones.values()];

it("a contract of which nothing came has nothing but its id, and the service's currency", () => {
  const { contract } = foldOf();
  expect(Object.entries(contract).filter(([, value]) => value !== null)).toEqual(
    Object.entries({
      contractId: "CNT-1",
      statusSince: "",
      statusKey: "",
      statusDerived: false,
      currency: "SAR",
      updatedAt: "",
      lastKey: "",
      transitionCount: 0,
      anomalyCount: 0,
    }),
  );
});

describe("a contract's previous status", () => {
  it("is the one that the event names, though the mirror did not see it", () => {
    const paid = event("payment.completed", { seconds: 10, previousStatus: "Approved", paymentId: "P" });
    expect(foldOf(created, paid).contract).toMatchObject({ status: "Escrow", previousStatus: "Approved" });
  });

  it("is the one that the mirror had where the event names none", () => {
    const approved = event("contract.approved", { seconds: 10 });
    expect(foldOf(created, approved).contract).toMatchObject({
      status: "Approved",
      previousStatus: "pending",
    });
  });
});

describe("a milestone", () => {
  it("without a status has nothing but its id", () => {
    const remark = event("milestone.remarked", { seconds: 1, milestoneId: 13 });
    expect(milestoneOf(created, remark)).toEqual([
      {
        contractId: "CNT-1",
        milestoneId: "13",
        name: null,
        description: null,
        status: null,
        statusSince: null,
        statusKey: "",
        previousStatus: null,
        amountMinor: null,
        dueDate: null,
      },
    ]);
  });

  it("that has ended stays so, and the event is flagged", () => {
    const completed = event("milestone.completed", { seconds: 10, milestoneId: 13 });
    const late = event("milestone.disputed", { seconds: 200, milestoneId: 13 });
    const state = foldOf(completed, late);
    expect(state.milestones.get("13")).toMatchObject({ status: "Completed", statusSince: at(10) });
    expect(kindsOf(state)).toEqual(["gap", "after-terminal"]);
  });
});

describe("statusSince", () => {
  it("is left by what moves nothing", () => {
    const remark = event("contract.remarked", { seconds: 50 });
    expect(foldOf(created, remark).contract.statusSince).toBe(at(0));
  });

  it("is the time of the first input while there is no status", () => {
    const [first, second] = [10, 20].map((seconds) =>
      event("milestone.remarked", { seconds, milestoneId: 13 }),
    );
    expect(foldOf(first as FoldInput, second as FoldInput).contract).toMatchObject({
      status: null,
      statusSince: at(10),
    });
  });
});

describe("createdAt", () => {
  it("is the time of a creation that has one, not the arrival of one that has none", () => {
    expect(foldOf(timeless("contract.created"), created).contract.createdAt).toBe(at(0));
  });

  it("is the last one's where the service tells of two creations", () => {
    const again = event("contract.created", { seconds: 5 });
    expect(foldOf(created, again).contract.createdAt).toBe(at(5));
  });
});

it("a creation that names no amount leaves the one that is known", () => {
  const withAmount = event("contract.created", { seconds: -5, amount: 10 });
  expect(foldOf(withAmount, created).contract.amountMinor).toBe(1000);
});

it("our own request to create a contract fills in what it says, and asks for no refund", () => {
  const fields = { title: "A chair", amountMinor: 60_000 };
  const request: FoldInput = {
    kind: "request",
    digest: "d",
    receivedAt: at(-1),
    facts: { of: "create", contractId: "CNT-1", orderKey: "", takenAt: null, fields },
  };
  const state = foldOf(request, created);
  expect(state.contract).toMatchObject({ title: "A chair", amountMinor: 60_000, status: "pending" });
  expect(state.refunds.size).toBe(0);
});

it("what is no payment, dispute or refund enters none", () => {
  const { payments, disputes, refunds } = foldOf(created, event("contract.approved", { seconds: 1 }));
  expect([payments.size, disputes.size, refunds.size]).toEqual([0, 0, 0]);
});

describe("updatedAt", () => {
  it.each([6000, 8000])(
    "is the arrival of the last mover where none has a time, before or after: %i",
    (arrival) => {
      const moving = timeless("contract.created", {}, at(7000));
      const approved = timeless("contract.approved", { previousStatus: "pending" }, at(arrival));
      expect(foldOf(moving, approved).contract).toMatchObject({ status: "Approved", updatedAt: at(arrival) });
    },
  );

  it("stays the arrival of the mover where another event without a time moves nothing", () => {
    const moving = timeless("contract.created", {}, at(7000));
    expect(foldOf(moving, timeless("contract.remarked", {}, at(8000))).contract.updatedAt).toBe(at(7000));
  });

  it("is the arrival of an event without a time that moved the contract", () => {
    const state = foldOf(timeless("contract.created", {}, at(7000)));
    expect(state.contract).toMatchObject({ updatedAt: at(7000), statusSince: at(7000), createdAt: at(7000) });
  });

  it("is the arrival of the first event where none has a time, though it moved nothing", () => {
    expect(foldOf(timeless("contract.remarked", {}, at(7000))).contract.updatedAt).toBe(at(7000));
  });

  it("is set back by no read whose updatedDate is older", () => {
    expect(foldOf(created, readAt100(at(-5))).contract.updatedAt).toBe(at(0));
    expect(foldOf(created, readAt100(at(5))).contract.updatedAt).toBe(at(5));
  });
});

it("an event without any status needs no rows of refunds", () => {
  expect(attachmentsRead(event("contract.delivered", { seconds: 0 }))).toEqual([]);
});

const many = (of: (index: number) => FoldInput) =>
  Array.from({ length: 4 * stepItems }, (_, index) => of(index));

describe("beside the pauses of sorting, a pause comes after each 256", () => {
  const sorting = [
    ...sortInSteps(
      many(() => created),
      () => 0,
    ),
  ].length;

  it("inputs that are folded", () => {
    const inputs = many((seconds) => event("contract.remarked", { seconds }));
    expect([...foldInSteps("CNT-1", inputs, { skewMs })].length - sorting).toBe(4);
  });

  it("inputs of one instant that are put in order", () => {
    expect([...queueTied(many(() => created))].length - sorting).toBe(4);
  });
});
