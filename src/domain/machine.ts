import { groupBy } from "../shared/group-by.ts";

/** A state machine as plain data. */
export interface Machine {
  /** Whether it is of contracts or of milestones. */
  readonly entity: "contract" | "milestone";
  /** Statuses that end the life of the entity. */
  readonly terminal: readonly string[];
  /** The steps. */
  readonly transitions: readonly MachineTransition[];
}

/** One step from a status to another. */
export interface MachineTransition {
  /** The status before; `null` if the entity did not exist. */
  readonly from: string | null;
  /** The webhook of this step. `null` if there is none, and only the API shows the status. */
  readonly event: string | null;
  /** The status after the step. */
  readonly to: string;
  /**
   * `spec`: the service's documentation lists this step. `inferred`: it follows from what the events and statuses
   * mean.
   */
  readonly source: "spec" | "inferred";
}

/** Whether one or more steps lead from `from` to `to`. A status never leads back to itself. */
export function reachable(machine: Machine, from: string, to: string): boolean {
  return analyse(machine).reachableFrom.get(from)?.has(to) ?? false;
}

/** Whether one transition leads from `from` to `to`. */
export function hasStep(machine: Machine, from: string, to: string): boolean {
  return analyse(machine).steps.has(stepKey(from, to));
}

/** Who says that `from` leads to `to`: the row of that very event, else any row, else `unexpected`. */
export function sourceOf(
  machine: Machine,
  from: string | null,
  to: string,
  event: string,
): "spec" | "inferred" | "unexpected" {
  const rows = analyse(machine).steps.get(stepKey(from, to));
  return (rows?.find((row) => row.event === event) ?? rows?.[0])?.source ?? "unexpected";
}

/** The status that an event leads to, wherever it comes from; `null` for an event that the machine does not name. */
export function statusAfter(machine: Machine, event: string): string | null {
  return analyse(machine).statusAfter.get(event) ?? null;
}

/** Whether an entity may begin in `status`. */
export function isFirstStatus(machine: Machine, status: string): boolean {
  return analyse(machine).steps.has(stepKey(null, status));
}

/** How far `status` is along the machine: its longest path from a first status. Unknown statuses come last. */
export function rankOf(machine: Machine, status: string): number {
  return analyse(machine).ranks.get(status) ?? Number.POSITIVE_INFINITY;
}

/** All statuses that the machine names, in the order of their first mention. */
export function statusesOf(machine: Machine): string[] {
  return [...new Set(machine.transitions.flatMap(({ from, to }) => (from === null ? [to] : [from, to])))];
}

interface Analysis {
  readonly steps: ReadonlyMap<string, readonly MachineTransition[]>;
  readonly reachableFrom: ReadonlyMap<string, ReadonlySet<string>>;
  readonly ranks: ReadonlyMap<string, number>;
  readonly statusAfter: ReadonlyMap<string | null, string>;
}

const analyses = new WeakMap<Machine, Analysis>();

function analyse(machine: Machine): Analysis {
  const known = analyses.get(machine);
  if (known !== undefined) return known;
  const analysis: Analysis = {
    steps: groupSteps(machine),
    reachableFrom: closure(machine),
    ranks: longestPaths(machine),
    statusAfter: new Map(machine.transitions.map(({ event, to }) => [event, to])),
  };
  analyses.set(machine, analysis);
  return analysis;
}

function stepKey(from: string | null, to: string): string {
  return `${from ?? ""}→${to}`;
}

function groupSteps(machine: Machine): Map<string, MachineTransition[]> {
  return groupBy(machine.transitions, ({ from, to }) => stepKey(from, to));
}

function closure(machine: Machine): Map<string, Set<string>> {
  return new Map(statusesOf(machine).map((status) => [status, visitFrom(machine, status, new Set())]));
}

function visitFrom(machine: Machine, status: string, seen: Set<string>): Set<string> {
  for (const { from, to } of machine.transitions) {
    if (from !== status || seen.has(to)) continue;
    seen.add(to);
    visitFrom(machine, to, seen);
  }
  return seen;
}

function longestPaths(machine: Machine): Map<string, number> {
  const ranks = new Map<string, number>();
  const visit = (status: string, rank: number): void => {
    if ((ranks.get(status) ?? -1) >= rank) return;
    ranks.set(status, rank);
    for (const row of machine.transitions) if (row.from === status) visit(row.to, rank + 1);
  };
  for (const row of machine.transitions) if (row.from === null) visit(row.to, 0);
  return ranks;
}
