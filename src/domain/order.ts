import { standingOf, type Draft } from "./draft.ts";
import type { FoldInput } from "./input.ts";
import { contractMachine } from "./contract.ts";
import { rankOf } from "./machine.ts";
import { movesOf, type Move } from "./moves.ts";
import { canonicalStatus } from "./status.ts";

/** The inputs in key order, those of one instant together (semantics §5.1). */
export function groupByTime(inputs: readonly FoldInput[]): FoldInput[][] {
  const sorted = [...inputs].sort((a, b) => compareText(a.facts.orderKey, b.facts.orderKey));
  const groups: FoldInput[][] = [];
  for (const input of sorted) {
    const last = groups.at(-1);
    if (last?.[0]?.facts.orderKey === input.facts.orderKey) last.push(input);
    else groups.push([input]);
  }
  return groups;
}

/**
 * The inputs of one instant, ready to be asked for the next (semantics §5.6): by rank, then the payload's id, then the
 * digest. What hangs on the state, whether an event follows from where its entity stands, is asked anew after each step.
 */
export function queueTied(tied: readonly FoldInput[]): Tied[] {
  return tied.map(toTied).sort(compareTied);
}

/** The place in the queue of the input that goes next: the first event whose `previousStatus` is where its entity stands. */
export function nextOfTied(draft: Draft, queue: readonly Tied[]): number {
  const following = queue.findIndex(
    ({ move }) =>
      move !== undefined && move.prev !== null && move.prev === standingOf(draft, move.milestoneId).status,
  );
  return Math.max(following, 0);
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** An input with what it is ordered by among those of its instant. */
export interface Tied {
  readonly input: FoldInput;
  readonly move: Move | undefined;
  readonly rank: number;
  readonly payloadId: string;
}

function toTied(input: FoldInput): Tied {
  if (input.kind === "snapshot") {
    const { status } = input.facts;
    const rank =
      status === null ? Infinity : rankOf(contractMachine, canonicalStatus(contractMachine, status));
    return { input, move: undefined, rank, payloadId: "" };
  }
  const move = movesOf(input.facts)[0];
  const rank = move === undefined ? Infinity : rankOf(move.machine, move.next);
  return { input, move, rank, payloadId: input.facts.payloadId ?? "" };
}

function compareTied(a: Tied, b: Tied): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  return compareText(a.payloadId, b.payloadId) || compareText(a.input.digest, b.input.digest);
}
