import { standingOf, type Draft } from "./draft.ts";
import { createHeap, type Heap } from "./heap.ts";
import type { FoldInput } from "./input.ts";
import { contractMachine } from "./contract.ts";
import { rankOf } from "./machine.ts";
import { reportedMoves, type ReportedMove } from "./moves.ts";
import { canonicalStatus } from "./status.ts";
import { sortInSteps, stepItems, type Steps } from "./steps.ts";

/** The inputs in key order, those of one instant together (semantics §5.1). */
export function* groupByTime(inputs: readonly FoldInput[]): Steps<FoldInput[][]> {
  const sorted = yield* sortInSteps(inputs, (a, b) => compareText(a.facts.orderKey, b.facts.orderKey));
  const groups: FoldInput[][] = [];
  for (const input of sorted) {
    const last = groups.at(-1);
    if (last?.[0]?.facts.orderKey === input.facts.orderKey) last.push(input);
    else groups.push([input]);
  }
  return groups;
}

/** The inputs of one instant by rank, then the payload's id, then the digest (semantics §5.6). */
export function* queueTied(tied: readonly FoldInput[]): Steps<Tied[]> {
  const queue: Tied[] = [];
  for (const input of tied) {
    queue.push(toTied(input));
    if (queue.length % stepItems === 0) yield;
  }
  return yield* sortInSteps(queue, compareTied);
}

/**
 * The inputs of one instant as they take effect: first the event whose `previousStatus` is where its entity stands, else
 * the first of the queue. Where entities stand is looked at anew after each input, which the caller applies to the draft.
 */
export function* takeTied(draft: Draft, queue: readonly Tied[]): Generator<FoldInput> {
  const waiting = waitingIn(queue);
  const taken = new Set<number>();
  /** The first event that follows from where its entity stands, of each entity; and some that did once. */
  const ready = createHeap();
  const admit = (milestoneId: string | null): void => {
    const places = waiting.get(milestoneId)?.get(standingOf(draft, milestoneId).status ?? "") ?? [];
    while (taken.has(places.at(-1) ?? -1)) places.pop();
    const [place] = places.slice(-1);
    if (place !== undefined) ready.push(place);
  };
  for (const milestoneId of waiting.keys()) admit(milestoneId);
  let first = 0;
  for (let left = queue.length; left > 0; left--) {
    while (taken.has(first)) first++;
    const place = nextReady(draft, queue, ready, taken) ?? first;
    const { input } = queue[place] as Tied;
    taken.add(place);
    const told = draft.transitions.length;
    yield input;
    for (const { milestoneId } of draft.transitions.slice(told)) admit(milestoneId);
  }
}

function nextReady(
  draft: Draft,
  queue: readonly Tied[],
  ready: Heap,
  taken: ReadonlySet<number>,
): number | undefined {
  for (let place = ready.pop(); place !== undefined; place = ready.pop()) {
    const { move } = queue[place] as Tied;
    if (move === undefined || taken.has(place)) continue;
    if (standingOf(draft, move.milestoneId).status === move.prev) return place;
  }
  return undefined;
}

/** The places of events by their entity and their `previousStatus`, the first of each last, where it is taken cheaply. */
function waitingIn(queue: readonly Tied[]): Map<string | null, Map<string, number[]>> {
  const waiting = new Map<string | null, Map<string, number[]>>();
  for (const [place, { move }] of [...queue.entries()].reverse()) {
    if (move === undefined || move.prev === null) continue;
    const { milestoneId, prev } = move;
    const places = waiting.get(milestoneId) ?? new Map<string, number[]>();
    waiting.set(milestoneId, places);
    const same = places.get(prev);
    if (same === undefined) places.set(prev, [place]);
    else same.push(place);
  }
  return waiting;
}

export function compareText(a: string, b: string): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

/** An input with what it is ordered by among those of its instant. */
export interface Tied {
  readonly input: FoldInput;
  readonly move: ReportedMove | undefined;
  readonly rank: number;
  readonly payloadId: string;
}

function toTied(input: FoldInput): Tied {
  const plain = { input, move: undefined, rank: Number.POSITIVE_INFINITY, payloadId: "" };
  switch (input.kind) {
    // A request comes before all that answers it, an answer of ours after.
    case "request":
      return { ...plain, rank: -1 };
    case "answer":
    case "redaction":
      return plain;
    case "snapshot": {
      const { status } = input.facts;
      if (status === null) return plain;
      return { ...plain, rank: rankOf(contractMachine, canonicalStatus(contractMachine, status)) };
    }
    case "event": {
      const [move] = reportedMoves(input.facts);
      const rank = move === undefined ? plain.rank : rankOf(move.machine, move.next);
      return { input, move, rank, payloadId: input.facts.payloadId ?? "" };
    }
  }
}

function compareTied(a: Tied, b: Tied): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  return compareText(a.payloadId, b.payloadId) || compareText(a.input.digest, b.input.digest);
}
