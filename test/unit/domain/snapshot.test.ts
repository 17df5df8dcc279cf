import { describe, expect, it } from "vitest";
import type { SnapshotMilestone } from "../../../src/events/snapshot.ts";
import { at, event, foldOf, kindsOf, permutations, snapshot } from "../../support/delivery.ts";

const answer = (milestoneId: string, name: string, amountMinor = 500): SnapshotMilestone => ({
  milestoneId,
  status: null,
  name,
  amountMinor,
  dueDate: "2026-05-01T00:00:00Z",
});

const created = event("contract.created", {
  seconds: 0,
  amount: 100,
  reference: "A",
  metadata: { metadata1: "a" },
});
const paid = event("payment.completed", {
  seconds: 200,
  status: "Escrow",
  previousStatus: "Approved",
  paymentId: "P",
});
const party = { platformRefId: "U-1", firstName: "Sara", lastName: null, phoneNumber: "+966500000000" };

const due = (id: string, dueDate: string) => ({ ...answer(id, "One"), dueDate });

describe("a snapshot", () => {
  it("sets contract, milestones and descriptive fields outright", () => {
    const read = snapshot({
      seconds: 300,
      status: "released",
      createdAt: at(-5),
      updatedAt: at(290),
      fields: {
        title: "T",
        description: "D",
        notes: "N",
        businessName: "B",
        serviceType: "S",
        amountMinor: 12345,
        metadata2: "m",
        buyer: party,
        seller: null,
      },
      milestones: [
        {
          milestoneId: "1",
          status: "released",
          name: "One",
          description: "d",
          amountMinor: 500,
          dueDate: "2026-05-01",
        },
      ],
    });
    const state = foldOf(created, read);
    expect(state.contract).toMatchObject({
      status: "Released",
      statusSince: at(300),
      title: "T",
      description: "D",
      notes: "N",
      businessName: "B",
      serviceType: "S",
      amountMinor: 12345,
      metadata1: "a",
      metadata2: "m",
      buyer: party,
      seller: null,
      createdAt: at(-5),
      updatedAt: at(290),
      syncedAt: at(9999),
    });
    expect(state.milestones.get("1")).toMatchObject({
      status: "Released",
      name: "One",
      description: "d",
      amountMinor: 500,
      dueDate: "2026-05-01",
    });
  });

  it("stands in the history as what it is, and flags no gap", () => {
    const state = foldOf(created, snapshot({ seconds: 300, status: "released" }));
    expect(state.transitions.at(-1)).toMatchObject({
      event: "snapshot",
      webhookId: null,
      from: "pending",
      to: "Released",
      moved: true,
    });
    expect(kindsOf(state)).toEqual([]);
  });

  it("does not erase a field that it omits, and clears one that it shows as null", () => {
    const fill = snapshot({ seconds: 100, fields: { title: "T", notes: "N" } });
    const state = foldOf(created, fill, snapshot({ seconds: 300, fields: { notes: null, metadata1: null } }));
    expect(state.contract).toMatchObject({ title: "T", notes: null, reference: "A", metadata1: null });
  });

  it("is outdone in a descriptive field by a later event, not by an earlier one", () => {
    const read = snapshot({ seconds: 100, fields: { reference: "B" } });
    const later = event("contract.approved", { seconds: 101, reference: "C" });
    expect(foldOf(created, read).contract.reference).toBe("B");
    expect(foldOf(later, read, created).contract.reference).toBe("C");
  });

  it("never outranks an event that came after it: the read of an instant before is history", () => {
    const read = snapshot({ seconds: 199, status: "pending" });
    for (const order of permutations([created, paid, read]))
      expect(foldOf(...order).contract.status).toBe("Escrow");
  });

  it("behind the current status within the skew does not move, and is flagged", () => {
    const state = foldOf(paid, snapshot({ seconds: 230, status: "pending" }));
    expect(state.contract.status).toBe("Escrow");
    expect(kindsOf(state)).toEqual(["gap", "stale-read"]);
  });

  it("with an updatedDate before the current move does not move, and is flagged", () => {
    const state = foldOf(paid, snapshot({ seconds: 900, status: "pending", updatedAt: at(199) }));
    expect(state.contract.status).toBe("Escrow");
    expect(kindsOf(state)).toEqual(["gap", "stale-read"]);
  });

  it("behind beyond the skew moves: the service is followed", () => {
    const state = foldOf(paid, snapshot({ seconds: 900, status: "pending" }));
    expect(state.contract.status).toBe("pending");
    expect(kindsOf(state)).toEqual(["gap"]);
  });

  it("still fills fields when its status is stale", () => {
    const state = foldOf(paid, snapshot({ seconds: 230, status: "pending", fields: { title: "T" } }));
    expect(state.contract).toMatchObject({ status: "Escrow", title: "T" });
  });

  it("without any time only fills fields", () => {
    const state = foldOf(
      created,
      snapshot({ seconds: null, status: "released", fields: { title: "T", reference: "Z" } }),
    );
    expect(state.contract).toMatchObject({ status: "pending", title: "T", reference: "A" });
    expect(state.transitions).toHaveLength(1);
  });

  it("gives a milestone its amount, which no webhook does", () => {
    const shown: SnapshotMilestone = { milestoneId: "1", status: null, amountMinor: 68625 };
    const state = foldOf(
      event("milestone.payment.completed", { seconds: 0, milestoneId: 1, amount: 600, paymentId: "P" }),
      snapshot({ seconds: 10, milestones: [shown] }),
    );
    expect(state.milestones.get("1")).toMatchObject({ status: "Escrow", amountMinor: 68625 });
  });
});

describe("milestones whose API ids differ from the webhooks'", () => {
  const guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
  const creation = snapshot({ seconds: 0, milestones: [answer("1", "One"), answer("2", "Two")] });

  it("are linked by name, due date and amount where that is unique", () => {
    const read = snapshot({
      seconds: 100,
      milestones: [{ ...answer(guid, "Two"), status: "released", dueDate: "2026-05-01T03:00:00+03:00" }],
    });
    const state = foldOf(creation, read);
    expect([...state.milestones.keys()]).toEqual(["1", "2"]);
    expect(state.milestones.get("2")?.status).toBe("Released");
    expect(kindsOf(state)).toEqual([]);
  });

  it.each([
    ["two bear the same description", [answer("1", "One"), answer("2", "One")], [answer(guid, "One")]],
    [
      "the answer shows two alike",
      [answer("1", "One"), answer("2", "Two")],
      [answer(guid, "One"), answer(guid.replace("0", "1"), "One")],
    ],
    ["none bears the description", [answer("1", "One")], [answer(guid, "Other")]],
    [
      "a part of the description is missing",
      [answer("1", "One")],
      [{ milestoneId: guid, status: null, name: "One" }],
    ],
  ])("are flagged and moved by nothing where %s", (_, known, shown) => {
    const state = foldOf(
      snapshot({ seconds: 0, milestones: known }),
      snapshot({ seconds: 100, milestones: shown.map((each) => ({ ...each, status: "released" })) }),
    );
    expect([...state.milestones.values()].map(({ status }) => status)).toEqual(known.map(() => null));
    expect(kindsOf(state)).toEqual(shown.map(() => "milestone-unlinked"));
  });

  it("are flagged where the webhook's id is of another form than those that are known", () => {
    const state = foldOf(creation, event("milestone.released", { seconds: 10, milestoneId: guid }));
    expect(kindsOf(state)).toContain("milestone-unlinked");
  });

  it("are new ones where their ids are of the known form", () => {
    const state = foldOf(creation, snapshot({ seconds: 100, milestones: [answer("3", "Three")] }));
    expect([...state.milestones.keys()]).toEqual(["1", "2", "3"]);
  });
});

it("a due date that is no date tells milestones apart by its text", () => {
  const guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
  const state = foldOf(
    created,
    snapshot({ seconds: 10, milestones: [due("1", "at the end"), due("2", "at delivery")] }),
    snapshot({ seconds: 20, milestones: [{ ...due(guid, "at delivery"), description: "the second" }] }),
  );
  expect([...state.milestones.values()].map(({ description }) => description)).toEqual([null, "the second"]);
});
