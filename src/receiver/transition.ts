/**
 * The step *transition*: computes the new states of contracts from the newly applied inputs. It reads each contract once, and
 * folds all of its new inputs. *persist* writes the result.
 */
import {
  advanceInSteps,
  attachmentsRead,
  foldInSteps,
  type Attachment,
  type FoldOptions,
} from "../domain/fold.ts";
import type { FoldInput } from "../domain/input.ts";
import { emptyState, type ContractRecord } from "../domain/records.ts";
import type { Steps } from "../domain/steps.ts";
import { createPace, type Pace } from "../shared/pace.ts";
import type { StoreTransaction } from "../store/store.ts";
import type { ContractChange } from "./arrival.ts";
import { groupByContract, loadInputs, loadStates, loadWhole } from "./contracts/load.ts";

export async function transition(
  tx: StoreTransaction,
  applied: readonly FoldInput[],
  contracts: ReadonlyMap<string, ContractRecord>,
  options: FoldOptions,
): Promise<ContractChange[]> {
  const inputs = groupByContract(applied);
  const newest = new Map([...inputs].filter(([id, added]) => isAhead(contracts.get(id), added)));
  const late = [...inputs.keys()].filter((id) => !newest.has(id));
  return [
    ...(await advanceAll(tx, contracts, newest, options)),
    ...(await refold(tx, contracts, late, options)),
  ];
}

/**
 * Folds contracts again from all of their stored inputs, some dozens each. A contract without inputs is left out. *persist*
 * writes only the difference.
 */
export async function refold(
  tx: StoreTransaction,
  contracts: ReadonlyMap<string, ContractRecord>,
  contractIds: readonly string[],
  options: FoldOptions,
): Promise<ContractChange[]> {
  const pace = createPace();
  const known = contractIds.filter((id) => contracts.has(id));
  const states = await loadWhole(tx, contracts, known, pace);
  const changes: ContractChange[] = [];
  for (const [id, inputs] of await loadInputs(tx, contractIds, pace)) {
    const after = await drive(foldInSteps(id, inputs, options), pace);
    changes.push({ before: states.get(id) ?? emptyState(id), after });
  }
  return changes;
}

/** Folds inputs that are newer than all earlier ones, starting from the stored state. */
async function advanceAll(
  tx: StoreTransaction,
  contracts: ReadonlyMap<string, ContractRecord>,
  inputs: ReadonlyMap<string, FoldInput[]>,
  options: FoldOptions,
): Promise<ContractChange[]> {
  const pace = createPace();
  const known = [...inputs].filter(([id]) => contracts.has(id));
  const own = new Map(known.map(([id]) => [id, contracts.get(id) as ContractRecord]));
  const readers = (attachment: Attachment): string[] =>
    known
      .filter(([, added]) => added.some((input) => attachmentsRead(input).includes(attachment)))
      .map(([id]) => id);
  const states = await loadStates(tx, own, readers, pace);
  const changes: ContractChange[] = [];
  for (const [id, added] of inputs) {
    const before = states.get(id) ?? emptyState(id);
    changes.push({ before, after: await drive(advanceInSteps(before, added, options), pace) });
  }
  return changes;
}

/** Runs the steps of a fold, and lets other work run in between. */
export async function drive<Result>(steps: Steps<Result>, pace: Pace): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pace();
  }
}

function isAhead(contract: ContractRecord | undefined, added: readonly FoldInput[]): boolean {
  return added.every(({ facts }) => facts.orderKey > (contract?.lastKey ?? ""));
}
