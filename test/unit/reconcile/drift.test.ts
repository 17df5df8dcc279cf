import { describe, expect, it } from "vitest";
import { driftOf } from "../../../src/reconcile/drift.ts";
import { toSnapshotFacts, type ContractAnswer } from "../../../src/reconcile/snapshot-of.ts";
import type { MirroredContract } from "../../../src/queries/shapes.ts";
import { at, noonMs } from "../../support/delivery.ts";

const party = { platformRefId: "7", firstName: "Sara", lastName: "Ali", phoneNumber: "+966500000001" };
const shown = {
  id: 13,
  status: "Escrow",
  name: "One",
  description: "first",
  amount: 600,
  dueDate: "2026-05-01",
};
const answer: ContractAnswer = {
  status: "Escrow",
  reference: "R-1",
  title: "A chair",
  description: "of wood",
  notes: "with care",
  businessName: "Chairs",
  contractServiceType: "Product",
  amount: 600,
  metaData: { metadata1: "1", metadata2: "2", metadata3: "3", metadata4: "4" },
  buyerParty: party,
  sellerParty: party,
  milestones: [shown],
};

/** The mirror's copy of the answer. */
const mirrored: MirroredContract = {
  contractId: "CNT-1",
  reference: "R-1",
  status: "Escrow",
  statusSince: at(0),
  previousStatus: null,
  title: "A chair",
  description: "of wood",
  notes: "with care",
  businessName: "Chairs",
  serviceType: "Product",
  amountMinor: 60_000,
  currency: "SAR",
  metadata: { metadata1: "1", metadata2: "2", metadata3: "3", metadata4: "4" },
  buyer: party,
  seller: party,
  milestones: [
    {
      contractId: "CNT-1",
      milestoneId: "13",
      name: "One",
      description: "first",
      status: "Escrow",
      statusSince: at(0),
      previousStatus: null,
      amountMinor: 60_000,
      dueDate: "2026-05-01",
    },
  ],
  refunds: [],
  createdAt: null,
  updatedAt: at(0),
  changedAt: at(0),
  syncedAt: null,
};

const factsOf = (changes: ContractAnswer, tookMs = 0) =>
  toSnapshotFacts(
    { ...answer, ...changes },
    {
      origin: "read",
      contractId: "CNT-1",
      info: { date: new Date(noonMs).toUTCString(), tookMs },
      nowMs: noonMs,
    },
  );

const driftsOf = (changes: ContractAnswer) =>
  driftOf(mirrored, factsOf(changes)).map((drift) => [drift.field, drift.mirror, drift.service]);

describe("the drift of a contract", () => {
  it("is nothing where the answer says the same", () => {
    expect(driftsOf({})).toEqual([]);
  });

  it.each<[string, ContractAnswer, readonly (string | number | null)[]]>([
    ["status", { status: "Released" }, ["status", "Escrow", "Released"]],
    ["reference", { reference: "R-2" }, ["reference", "R-1", "R-2"]],
    ["amount", { amount: 600.5 }, ["amountMinor", 60_000, 60_050]],
    ["title", { title: "A table" }, ["title", "A chair", "A table"]],
    ["description", { description: null }, ["description", "of wood", null]],
    ["notes", { notes: "fast" }, ["notes", "with care", "fast"]],
    ["business name", { businessName: "Tables" }, ["businessName", "Chairs", "Tables"]],
    ["kind of service", { contractServiceType: "Service" }, ["serviceType", "Product", "Service"]],
    ["buyer", { buyerParty: { ...party, phoneNumber: "1" } }, ["buyer", "party", "another party"]],
    ["seller", { sellerParty: null }, ["seller", "party", null]],
  ])("shows another %s", (_, changes, drift) => {
    expect(driftsOf(changes)).toEqual([drift]);
  });

  it.each(["metadata1", "metadata2", "metadata3", "metadata4"])("shows another %s", (name) => {
    const changes = { metaData: { ...answer.metaData, [name]: "other" } };
    expect(driftsOf(changes)).toEqual([[`metadata.${name}`, name.at(-1), "other"]]);
  });

  it.each([
    ["status", { status: "Released" }, ["status", "Escrow", "Released"]],
    ["name", { name: "Two" }, ["name", "One", "Two"]],
    ["description", { description: "second" }, ["description", "first", "second"]],
    ["amount", { amount: 1 }, ["amountMinor", 60_000, 100]],
    ["due date", { dueDate: "2026-06-01" }, ["dueDate", "2026-05-01", "2026-06-01"]],
  ])("shows another %s of a milestone", (_, changes, drift) => {
    expect(driftsOf({ milestones: [{ ...shown, ...changes }] })).toEqual([drift]);
  });
});

describe("the time of an answer", () => {
  it("is its Date less the time that the request took: an event of that time was not seen by it", () => {
    expect(factsOf({}, 2500).takenAt).toBe(new Date(noonMs - 3000).toISOString().replace(".000", ""));
  });
});
