import { millisecondsBetween } from "../shared/wire-time.ts";
import type { AnomalyKind } from "./anomaly.ts";
import { hasStep, isFirstStatus, reachable, type Machine } from "./machine.ts";

/** Where an entity stands, and since when (order key). */
export interface Standing {
  readonly status: string | null;
  readonly statusKey: string;
  /** A status set by another entity's event may be left again, even a terminal one. */
  readonly derived: boolean;
}

/** An event's claim about an entity. */
export interface StatusClaim {
  readonly next: string;
  readonly prev: string | null;
  readonly orderKey: string;
}

export interface Decision {
  readonly moved: boolean;
  readonly anomaly: AnomalyKind | null;
}

/**
 * Whether an event moves an entity: semantics §5.5, the first rule that fits. The service is followed; the
 * machine explains, flags, and overrules only a step back within the clocks' skew and one out of a terminal status.
 */
export function decideEvent(
  machine: Machine,
  standing: Standing,
  claim: StatusClaim,
  skewMs: number,
): Decision {
  const { status } = standing;
  const { next, prev } = claim;
  if (status === next) return stays(null);
  if (status === null) return moves(isFirstStatus(machine, next) ? null : "gap");
  // The service says itself that it left a terminal status: it is followed, and told of.
  if (prev === status) return moves(machine.terminal.includes(status) ? "after-terminal" : null);
  if (prev === null && hasStep(machine, status, next)) return moves(null);
  if (reachable(machine, status, next)) return moves("gap");
  if (reachable(machine, next, status) && withinSkew(standing, claim.orderKey, skewMs)) return stays(null);
  if (machine.terminal.includes(status) && !standing.derived) return stays("after-terminal");
  return moves("unexpected-transition");
}

/**
 * Whether an API read moves an entity (semantics §5.8). It is the service's own word, so it moves outright,
 * unless it was read from a copy that had not yet seen what we have.
 */
export function decideSnapshot(
  machine: Machine,
  standing: Standing,
  claim: { next: string; orderKey: string; updatedKey: string | null },
  skewMs: number,
): Decision {
  const { status, statusKey } = standing;
  if (status === claim.next) return stays(null);
  if (status === null) return moves(null);
  const olderThanMove = (claim.updatedKey ?? statusKey) < statusKey;
  const behind = reachable(machine, claim.next, status) && withinSkew(standing, claim.orderKey, skewMs);
  return olderThanMove || behind ? stays("stale-read") : moves(null);
}

function withinSkew(standing: Standing, orderKey: string, skewMs: number): boolean {
  // Two without a time are of one; from none to one is no span at all.
  if (standing.statusKey === orderKey) return true;
  return Math.abs(millisecondsBetween(standing.statusKey, orderKey)) <= skewMs;
}

function moves(anomaly: AnomalyKind | null): Decision {
  return { moved: true, anomaly };
}

function stays(anomaly: AnomalyKind | null): Decision {
  return { moved: false, anomaly };
}
