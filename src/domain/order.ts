import { standingOf, type Draft } from "./draft.ts";
import type { FoldInput } from "./input.ts";
import { contractMachine } from "./contract.ts";
import { rankOf } from "./machine.ts";
import { movesOf } from "./moves.ts";
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
 * The place in `tied` of the input that goes next (semantics §5.6): the event whose `previousStatus` is where its
 * entity stands now, then the lower rank, then the payload's id, then the digest. The order of equal times hangs on
 * the state, so it is asked anew after each step.
 */
export function nextOfTied(draft: Draft, tied: readonly FoldInput[]): number {
  let best = 0;
  let bestKey = tieKey(draft, tied[0] as FoldInput);
  for (let index = 1; index < tied.length; index++) {
    const key = tieKey(draft, tied[index] as FoldInput);
    if (compareTies(key, bestKey) < 0) [best, bestKey] = [index, key];
  }
  return best;
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

interface TieKey {
  readonly follows: boolean;
  readonly rank: number;
  readonly payloadId: string;
  readonly digest: string;
}

function tieKey(draft: Draft, input: FoldInput): TieKey {
  if (input.kind === "snapshot") {
    const { status } = input.facts;
    const rank =
      status === null ? Infinity : rankOf(contractMachine, canonicalStatus(contractMachine, status));
    return { follows: false, rank, payloadId: "", digest: input.digest };
  }
  const move = movesOf(input.facts)[0];
  const standing = move && standingOf(draft, move.milestoneId).status;
  return {
    follows: move !== undefined && move.prev !== null && move.prev === standing,
    rank: move === undefined ? Infinity : rankOf(move.machine, move.next),
    payloadId: input.facts.payloadId ?? "",
    digest: input.digest,
  };
}

function compareTies(a: TieKey, b: TieKey): number {
  if (a.follows !== b.follows) return a.follows ? -1 : 1;
  if (a.rank !== b.rank) return a.rank - b.rank;
  return compareText(a.payloadId, b.payloadId) || compareText(a.digest, b.digest);
}
