/** Where the mirror and an API answer say different things. */
import { contractMachine } from "../domain/contract.ts";
import { isFirstStatus, type Machine } from "../domain/machine.ts";
import { milestoneMachine } from "../domain/milestone.ts";
import { canonicalStatus } from "../domain/status.ts";
import type { SnapshotFacts, SnapshotMilestone } from "../events/snapshot.ts";
import type { MirroredContract, MirroredMilestone } from "../queries/shapes.ts";
import { parseWireTime } from "../shared/wire-time.ts";

/** One field of one contract whose value differed between the mirror and the service. */
export interface Drift {
  /** The contract. */
  readonly contractId: string;
  /** The milestone; `null` for the contract's own field. */
  readonly milestoneId: string | null;
  /** The field's name, as in `MirroredContract` or `MirroredMilestone`. */
  readonly field: string;
  /** The mirror's value; `null` if it had none. A buyer's or seller's value is not shown. */
  readonly mirror: string | number | null;
  /** The service's value. */
  readonly service: string | number | null;
}

/**
 * A status and what webhooks bring too count wherever they differ. What only an API read brings counts only where the mirror had
 * another value: that it had none is no fault.
 */
export function driftOf(mirrored: MirroredContract | undefined, facts: SnapshotFacts): Drift[] {
  const { contractId } = facts;
  const status = statusDrift(contractMachine, mirrored?.status, facts.status);
  const found = status === undefined ? [] : [{ contractId, milestoneId: null, field: "status", ...status }];
  if (mirrored === undefined) return found;
  return [
    ...found,
    ...fieldDrifts(mirrored, facts),
    ...facts.milestones.flatMap((shown) => milestoneDrifts(mirrored, shown)),
  ];
}

type Values = Pick<Drift, "mirror" | "service">;

function statusDrift(
  machine: Machine,
  mirror: string | null | undefined,
  shown: string | null,
): Values | undefined {
  if (shown === null) return undefined;
  const service = canonicalStatus(machine, shown);
  const known = mirror ?? null;
  if (known === service) return undefined;
  return { mirror: known === "unknown" ? null : known, service };
}

const told = ["reference", "amountMinor"] as const;
const read = ["title", "description", "notes", "businessName", "serviceType"] as const;
const metadataNames = ["metadata1", "metadata2", "metadata3", "metadata4"] as const;
const parties = ["buyer", "seller"] as const;

function fieldDrifts(mirrored: MirroredContract, { contractId, fields }: SnapshotFacts): Drift[] {
  const drifts: Drift[] = [];
  const note = (field: string, mirror: Drift["mirror"], service: Drift["service"] | undefined): void => {
    // The service may show an empty text where it sends none.
    if (service === undefined || (mirror ?? "") === (service ?? "")) return;
    drifts.push({ contractId, milestoneId: null, field, mirror, service });
  };
  for (const name of told) note(name, mirrored[name], fields[name]);
  for (const name of metadataNames) note(`metadata.${name}`, mirrored.metadata[name] ?? null, fields[name]);
  for (const name of read) if (mirrored[name] !== null) note(name, mirrored[name], fields[name]);
  for (const name of parties) {
    const [was, is] = [mirrored[name], fields[name]];
    if (was !== null && is !== undefined && JSON.stringify(was) !== JSON.stringify(is))
      note(name, hiddenParty, is === null ? null : `another ${hiddenParty}`);
  }
  return drifts;
}

/** A report may be logged: it holds no phone number. */
const hiddenParty = "party";

function milestoneDrifts({ contractId, milestones }: MirroredContract, shown: SnapshotMilestone): Drift[] {
  const known = milestones.find(({ milestoneId }) => milestoneId === shown.milestoneId);
  // The API may number milestones otherwise than webhooks do (§2.5): the fold says which is which.
  if (known === undefined && milestones.length > 0) return [];
  const { milestoneId } = shown;
  const status = statusDrift(milestoneMachine, known?.status, shown.status);
  const isNews = status?.mirror !== null || !isFirstStatus(milestoneMachine, String(status.service));
  const drifts: Drift[] =
    status === undefined || !isNews ? [] : [{ contractId, milestoneId, field: "status", ...status }];
  if (known === undefined) return drifts;
  return [...drifts, ...describedDrifts(contractId, known, shown)];
}

function describedDrifts(contractId: string, known: MirroredMilestone, shown: SnapshotMilestone): Drift[] {
  const { milestoneId } = known;
  return (["name", "description", "amountMinor", "dueDate"] as const).flatMap((field) => {
    const [mirror, service] = [known[field], shown[field]];
    if (mirror === null || service === undefined || isSame(field, mirror, service)) return [];
    return [{ contractId, milestoneId, field, mirror, service }];
  });
}

function isSame(field: string, one: string | number | null, other: string | number | null): boolean {
  if (one === other) return true;
  const [a, b] = [parseWireTime(one), parseWireTime(other)];
  return field === "dueDate" && a !== undefined && a.orderKey === b?.orderKey;
}
