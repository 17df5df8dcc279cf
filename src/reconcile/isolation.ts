import { isEscrowMirrorError, nameOfError } from "../shared/errors.ts";

/** Why one contract could not be checked. */
export interface Failure {
  /** The contract; `null` if the delivery log could not be read. */
  readonly contractId: string | null;
  /** The error's code, such as `error-response`; `stale-read` if the service's answers are older than its webhooks. */
  readonly code: string;
  /** A description of the error. It holds no secret. */
  readonly message: string;
}

/** Keeps one contract's fault from the others. */
export interface Isolation {
  /** Runs `work`; a fault of it is noted. Rejects where it is no contract's own: every other would meet it too. */
  run(contractId: string | null, work: () => Promise<void>): Promise<void>;
  failed(failure: Failure): void;
}

/** After so many faults in a row that may be everyone's, the run ends: the service or the store is down. */
const inARowMax = 20;

export function createIsolation(
  signal: AbortSignal | undefined,
  onFailure: (failure: Failure) => void,
): Isolation {
  let inARow = 0;
  return {
    failed: onFailure,
    run: async (contractId, work) => {
      try {
        await work();
        inARow = 0;
      } catch (error) {
        signal?.throwIfAborted();
        inARow = isEveryones(error) ? inARow + 1 : 0;
        if (isEscrowMirrorError(error, "closed") || inARow >= inARowMax) throw error;
        onFailure({ contractId, ...describe(error) });
      }
    },
  };
}

/** Of an error that is not ours only the kind is told: its message may hold anything. */
function describe(error: unknown): { code: string; message: string } {
  if (isEscrowMirrorError(error)) return { code: error.code, message: error.message };
  return { code: "internal-error", message: nameOfError(error) };
}

function isEveryones(error: unknown): boolean {
  if (isEscrowMirrorError(error, "unreachable", "timeout", "no-token", "store-unavailable")) return true;
  const { status } = error as { status?: unknown };
  return status === 401 || status === 403 || status === 429 || status === 503;
}
