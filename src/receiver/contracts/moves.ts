/**
 * Which moves of the mirror's present state handlers are told of: judged for each applied input in order of arrival, as if
 * it had been committed alone, so that how deliveries were batched decides nothing.
 */
import { advance, foldInSteps, type FoldOptions } from "../../domain/fold.ts";
import type { FoldInput } from "../../domain/input.ts";
import { emptyState, type ContractState, type TransitionRecord } from "../../domain/records.ts";
import type { Move } from "../../handlers/subscription.ts";
import { groupBy } from "../../shared/group-by.ts";
import { createPace, type Pace } from "../../shared/pace.ts";
import type { StoreTransaction } from "../../store/store.ts";
import { toTransition } from "../../queries/contracts.ts";
import type { Transition } from "../../queries/shapes.ts";
import type { ContractChange } from "../arrival.ts";
import { loadInputs } from "./load.ts";
import { drive } from "../transition.ts";

/** The moves that the history shows now and did not show before. */
export function newlyShown({ before, after }: ContractChange): Transition[] {
  const known = new Set(before.transitions.filter(({ moved }) => moved).map(nameOf));
  return after.transitions.filter((each) => each.moved && !known.has(nameOf(each))).map(toTransition);
}

/** The moves that the history showed for a delivery, and shows for an API read now. */
export function takenOver({ before, after }: ContractChange): Transition[] {
  const shown = new Set(after.transitions.filter(({ moved }) => moved).map(nameOf));
  const isTaken = (each: TransitionRecord): boolean =>
    !shown.has(nameOf(each)) && shown.has(nameOf({ ...each, webhookId: null }));
  return before.transitions.filter((each) => each.moved && isTaken(each)).map(toTransition);
}

function nameOf({ webhookId, milestoneId, to }: TransitionRecord): string {
  return JSON.stringify([webhookId, milestoneId, to]);
}

interface FoldStep {
  readonly input: FoldInput;
  readonly before: ContractState;
  readonly after: ContractState;
}

/** @param contentKeys of the deliveries, by their digest */
export async function movesIn(
  tx: StoreTransaction,
  inputs: readonly FoldInput[],
  changes: readonly ContractChange[],
  options: FoldOptions,
  contentKeys: ReadonlyMap<string, string>,
): Promise<Move[]> {
  const byContract = groupBy(inputs, ({ facts }) => facts.contractId);
  const steps: FoldStep[] = [];
  for (const change of changes) {
    const { contractId } = change.after.contract;
    steps.push(...(await stepsOf(tx, change, byContract.get(contractId) ?? [], options)));
  }
  return steps.flatMap((step) => movesOf(step, contentKeys.get(step.input.digest) ?? null));
}

async function stepsOf(
  tx: StoreTransaction,
  { before, after }: ContractChange,
  added: readonly FoldInput[],
  options: FoldOptions,
): Promise<FoldStep[]> {
  const [first] = added;
  if (first === undefined) return [];
  if (added.length === 1) return [{ input: first, before, after }];
  const { contractId } = after.contract;
  const pace = createPace();
  const steps: FoldStep[] = [];
  let stored: readonly FoldInput[] | undefined;
  let state = before;
  for (const [index, input] of added.entries()) {
    const isAhead = input.facts.orderKey > state.contract.lastKey;
    if (!isAhead) stored ??= await storedBefore(tx, contractId, added, pace);
    const all = [...(stored ?? []), ...added.slice(0, index + 1)];
    const next = isAhead
      ? advance(state, [input], options)
      : await drive(foldInSteps(contractId, all, options), pace);
    steps.push({ input, before: state, after: next });
    state = next;
  }
  return steps;
}

async function storedBefore(
  tx: StoreTransaction,
  contractId: string,
  added: readonly FoldInput[],
  pace: Pace,
): Promise<FoldInput[]> {
  const all = (await loadInputs(tx, [contractId], pace)).get(contractId) ?? [];
  const digests = new Set(added.map(({ digest }) => digest));
  return all.filter(({ digest }) => !digests.has(digest));
}

function movesOf({ input, before, after }: FoldStep, contentKey: string | null): Move[] {
  const { contractId, status } = after.contract;
  const was = before.contract.contractId === "" ? emptyState(contractId) : before;
  const key = { inputKey: contentKey ?? input.digest, contentKey };
  const moves = [moveOf(input, after, null, was.contract.status, status)];
  for (const [milestoneId, milestone] of after.milestones) {
    const from = was.milestones.get(milestoneId)?.status ?? null;
    moves.push(moveOf(input, after, milestoneId, from, milestone.status));
  }
  return moves.filter((move) => move !== undefined).map((move) => ({ ...key, ...move }));
}

function moveOf(
  input: FoldInput,
  { contract: { contractId }, transitions }: ContractState,
  milestoneId: string | null,
  from: string | null,
  to: string | null,
): Pick<Move, "byDelivery" | "transition"> | undefined {
  if (to === null || from === to) return undefined;
  const recorded = transitions.findLast(
    (each) => each.moved && each.milestoneId === milestoneId && each.to === to,
  );
  const transition: TransitionRecord = {
    ...(recorded ?? unrecorded(input, contractId, milestoneId, to)),
    from,
  };
  return { byDelivery: recorded?.webhookId != null, transition: toTransition(transition) };
}

/** A move that stands in the history already: a late event changed what came before it. */
function unrecorded(
  input: FoldInput,
  contractId: string,
  milestoneId: string | null,
  to: string,
): TransitionRecord {
  return {
    contractId,
    position: 0,
    entity: milestoneId === null ? "contract" : "milestone",
    milestoneId,
    from: null,
    to,
    event: input.kind === "event" ? input.facts.event : "snapshot",
    webhookId: input.kind === "event" ? input.webhookId : null,
    occurredAt: input.kind === "event" ? input.facts.occurredAt : input.facts.takenAt,
    moved: true,
    derived: false,
    source: "inferred",
    anomaly: null,
  };
}
