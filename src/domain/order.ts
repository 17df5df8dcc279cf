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
  for (let first = 0; taken.size < queue.length;) {
    while (taken.has(first)) first++;
    const place = nextReady(draft, queue, ready, taken) ?? first;
    const { input, move } = queue[place] as Tied;
    taken.add(place);
    let told = draft.transitions.length;
    yield input;
    for (; told < draft.transitions.length; told++) admit(draft.transitions[told]?.milestoneId ?? null);
    if (move !== undefined) admit(move.milestoneId);
  }
}

function nextReady(
  draft: Draft,
  queue: readonly Tied[],
  ready: Heap,
  taken: ReadonlySet<number>,
): number | undefined {
  for (let place = ready.pop(); place !== undefined; place = ready.pop()) {
    const move = queue[place]?.move;
    if (move === undefined || taken.has(place)) continue;
    if (standingOf(draft, move.milestoneId).status === move.prev) return place;
  }
  return undefined;
}

/** The places of events by their entity and their `previousStatus`, the first of each last, where it is taken cheaply. */
function waitingIn(queue: readonly Tied[]): Map<string | null, Map<string, number[]>> {
  const waiting = new Map<string | null, Map<string, number[]>>();
  for (let place = queue.length - 1; place >= 0; place--) {
    const { milestoneId, prev } = queue[place]?.move ?? { milestoneId: null, prev: null };
    if (prev === null) continue;
    const places = waiting.get(milestoneId) ?? new Map<string, number[]>();
    waiting.set(milestoneId, places);
    const same = places.get(prev);
    if (same === undefined) places.set(prev, [place]);
    else same.push(place);
  }
  return waiting;
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** An input with what it is ordered by among those of its instant. */
export interface Tied {
  readonly input: FoldInput;
  readonly move: ReportedMove | undefined;
  readonly rank: number;
  readonly payloadId: string;
}

function toTied(input: FoldInput): Tied {
  // A request comes before all that answers it, an answer of ours after.
  if (input.kind === "request") return { input, move: undefined, rank: -1, payloadId: "" };
  if (input.kind === "answer" || input.kind === "redaction")
    return { input, move: undefined, rank: Infinity, payloadId: "" };
  if (input.kind === "snapshot") {
    const { status } = input.facts;
    const rank =
      status === null ? Infinity : rankOf(contractMachine, canonicalStatus(contractMachine, status));
    return { input, move: undefined, rank, payloadId: "" };
  }
  const move = reportedMoves(input.facts)[0];
  const rank = move === undefined ? Infinity : rankOf(move.machine, move.next);
  return { input, move, rank, payloadId: input.facts.payloadId ?? "" };
}

function compareTied(a: Tied, b: Tied): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  return compareText(a.payloadId, b.payloadId) || compareText(a.input.digest, b.input.digest);
}
