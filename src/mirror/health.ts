import type { Registry } from "../handlers/registry.ts";
import { workloadOf, type Workload } from "../handlers/workload.ts";
import type { HealingStanding } from "../healing/standing.ts";
import { countQuarantined, type JobCounts } from "../queries/counts.ts";
import type { Receiver } from "../receiver/receiver.ts";
import type { Refused } from "../receiver/tally.ts";
import type { Clock } from "../shared/clock.ts";
import { isEscrowMirrorError, nameOfError } from "../shared/errors.ts";
import { settle } from "../shared/result.ts";
import { proveInserting, undone } from "../store/prove-writing.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { heavyFields } from "../store/tables/deliveries.ts";
import { failuresAlarm, warningsOf } from "./warnings.ts";

/** The mirror's state at one moment. */
export interface Health {
  /**
   * `false` while the store can't be used, too many deliveries wait, a watchdog sees the subscription disabled, or the
   * last five answers to verified deliveries were not 2xx. Forged requests don't change it.
   */
  readonly ok: boolean;
  /**
   * How many answers in a row to verified deliveries were not 2xx, in this process. Retries count too. The service counts a
   * delivery as failed only after its last retry, and disables the subscription after ten in a row.
   */
  readonly consecutiveFailures: number;
  /** When the newest non-duplicate delivery arrived. ISO 8601. */
  readonly lastDeliveryAt: string | null;
  /**
   * The number of quarantined deliveries: see `mirror.quarantine.list()`. 10,000 means 10,000 or more. Dismissed ones are
   * not counted.
   */
  readonly quarantined: number;
  /** Jobs of handlers, of every process. */
  readonly jobs: JobCounts;
  /** Requests that did not get a 2xx from this process, by reason: their number, and the time of the last one. */
  readonly refused: Refused;
  /** One sentence for each thing that a person must do. Empty when all is well. Forged requests can add sentences. */
  readonly warnings: readonly string[];
}

export interface HealthParts {
  readonly store: Store;
  readonly receiver: Receiver;
  readonly clock: Clock;
  /** The ids of the secrets that have never verified a delivery. */
  readonly unprovenIds: () => Promise<string[]>;
  readonly registry: Pick<Registry, "names" | "warnings">;
  /** Reads the rows about the signing secret and the subscription. */
  readonly healing: () => Promise<HealingStanding>;
}

/** A look at the mirror's state. */
export interface Look {
  readonly health: Health;
  /** Whether the store could be read. If not, its numbers in `health` are 0. */
  readonly isStoreRead: boolean;
}

/** How long a secret may verify nothing before it is a warning. */
const unprovenMs = 3_600_000;

export function createHealth(parts: HealthParts): () => Promise<Look> {
  const { store, receiver, clock, unprovenIds, registry, healing } = parts;
  const startedMs = clock.now();

  async function longUnproven(): Promise<string[]> {
    if (clock.now() - startedMs < unprovenMs) return [];
    const ids = await settle(unprovenIds);
    return ids.ok ? ids.value : [];
  }

  return async () => {
    const { tally } = receiver;
    const consecutiveFailures = receiver.consecutiveFailures();
    const written = registry.names();
    const [found, workload, healed] = await Promise.all([
      settle(() => undone(store, inspect)),
      settle(() => workloadOf(store, clock)),
      settle(healing),
    ]);
    const { lastDeliveryAt, quarantined } = found.ok ? found.value : unknown;
    const { jobs, orphans, handlers } = workload.ok ? workload.value : { ...idle, handlers: written };
    const { isDisabled, warnings: ofHealing } = healed.ok ? healed.value : noWarnings;
    const warnings = warningsOf({
      nowMs: clock.now(),
      tally,
      consecutiveFailures,
      quarantined,
      deadJobs: jobs.dead,
      orphans,
      refusedHandlers: registry.warnings(),
      removedHandlers: written.filter((name) => !handlers.includes(name)),
      storeFault: found.ok ? undefined : saidOf(found.error),
      unprovenIds: await longUnproven(),
      ofHealing,
    });
    const ok = found.ok && !isDisabled && consecutiveFailures < failuresAlarm && !receiver.isFull();
    const { refused } = tally;
    const health = { ok, consecutiveFailures, lastDeliveryAt, quarantined, jobs, refused, warnings };
    return { health, isStoreRead: found.ok && workload.ok };
  };
}

const noWarnings: HealingStanding = { isDisabled: false, warnings: [] };
const unknown = { lastDeliveryAt: null, quarantined: 0 };
const idle: Omit<Workload, "handlers"> = { jobs: { due: 0, waiting: 0, running: 0, dead: 0 }, orphans: [] };

function saidOf(error: unknown): string {
  return isEscrowMirrorError(error) ? error.message : nameOfError(error);
}

/** In a transaction, not a read: what can't be written is not healthy. The rows of the proof come after what is counted. */
async function inspect(tx: StoreTransaction) {
  const [newest] = await tx.find("deliveries", {
    orderBy: ["seq"],
    descending: true,
    limit: 1,
    without: heavyFields,
  });
  const found = {
    lastDeliveryAt: newest?.receivedAt ?? null,
    quarantined: await countQuarantined(tx),
  };
  await proveInserting(tx);
  return found;
}
