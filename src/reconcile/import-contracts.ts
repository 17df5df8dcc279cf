import { idOf } from "../queries/arguments.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { createIsolation, type Failure } from "./isolation.ts";
import { createPool } from "./pool.ts";
import type { ReadContract } from "./read-contract.ts";
import { parseReadingOptions, type ReadingOptions } from "./reconcile-options.ts";
import type { TakeSnapshot } from "./take-snapshot.ts";

/** Options of `mirror.contracts.import()`. */
export interface ImportOptions extends ReadingOptions {
  /** Called after each contract. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

/** The progress of an import. */
export interface ImportProgress {
  /** The contract. */
  readonly contractId: string;
  /** How many contracts are in the mirror now. */
  readonly imported: number;
  /** How many failed. */
  readonly failed: number;
}

/** The result of an import. */
export interface Imported {
  /** How many contracts were read and stored. */
  imported: number;
  /** How many could not be read or stored. */
  failed: number;
  /** Why contracts failed: the first 1,000. */
  failures: Failure[];
}

/** Ids of contracts: an array, or any iterable, such as the rows of a file or of a database. */
export type ContractIds = Iterable<string> | AsyncIterable<string>;

const listedMax = 1000;

/** Reads contracts and folds them in, a few at once. The next id is taken only when there is room for it. */
export async function importContracts(
  {
    readContract,
    takeSnapshot,
  }: { readonly readContract: ReadContract; readonly takeSnapshot: TakeSnapshot },
  ids: ContractIds,
  options: ImportOptions = {},
): Promise<Imported> {
  const settings = parseReadingOptions("contracts.import", options);
  const pool = createPool(settings);
  const done: Imported = { imported: 0, failed: 0, failures: [] };
  const tell = (contractId: string): void =>
    options.onProgress?.({ contractId, imported: done.imported, failed: done.failed });
  const isolation = createIsolation(settings.signal, (failure) => {
    done.failed++;
    if (done.failures.length < listedMax) done.failures.push(failure);
    if (failure.contractId !== null) tell(failure.contractId);
  });
  for await (const id of checkIds(ids)) {
    const contractId = idOf(id);
    await pool.add(() =>
      isolation.run(contractId, async () => {
        await takeSnapshot(await readContract(contractId, settings.signal));
        done.imported++;
        tell(contractId);
      }),
    );
  }
  await pool.drain();
  return done;
}

/** One id is an iterable too, of letters. */
function checkIds(ids: ContractIds): ContractIds {
  const isIterable =
    typeof ids === "object" && ids !== null && (Symbol.iterator in ids || Symbol.asyncIterator in ids);
  if (isIterable) return ids;
  throw new EscrowMirrorError(
    "invalid-argument",
    "contracts.import takes an array of ids, or another iterable of them",
  );
}
