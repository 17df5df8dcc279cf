import { deepStrictEqual } from "node:assert/strict";
import type { Mirror } from "../../mirror/create-mirror.ts";
import type { Store } from "../../store/store.ts";
import { testSecret, type Delivery } from "../delivery.ts";
import { createTestMirror, type TestMirror } from "../test-mirror.ts";
import { distinctOf, repeated } from "./arrivals.ts";
import type { Register } from "./assert-converges.ts";
import { all } from "./read-mirror.ts";
import { telling } from "./timeline.ts";
import { crashing, noCrash, type Crash, type RunAttempt } from "./crashing.ts";

/** Options of `assertHandlerIdempotent`. */
export interface IdempotentOptions {
  /** The secret that signed the deliveries. Default: `testSecret`. */
  readonly secret?: string | undefined;
  /** Creates the store of each mirror. `inTransaction` handlers need one with SQL: `() => sqlite(":memory:")`. Default: a store in memory. */
  readonly store?: (() => Store) | undefined;
}

/**
 * Runs your handlers on the deliveries, first without faults. Then it runs them with duplicates, with attempts that fail
 * before their side effect, and with attempts that crash after it. The state must be the same each time. It calls `register`
 * once for each run. A crash ends an attempt. It does not reset the variables of `register`.
 *
 * ```ts
 * await assertHandlerIdempotent((mirror) => {
 *   const ledger = new Set<string>();
 *   mirror.on("payment.completed", (event) => ledger.add(`${event.contractId}-${event.transactionId}`), { name: "ledger" });
 *   return () => ledger.size;
 * }, deliveries);
 * ```
 *
 * @throws AssertionError with the difference, the deliveries as a timeline, and the handlers' attempts
 */
export async function assertHandlerIdempotent(
  register: Register,
  deliveries: readonly Delivery[],
  options: IdempotentOptions = {},
): Promise<void> {
  const once = distinctOf(deliveries).map((delivery) => [delivery]);
  const twice = repeated(once.flat());
  const plain = await bring(register, once, noCrash, options);
  const runs: readonly (readonly [title: string, batches: readonly Delivery[][], crash: Crash])[] = [
    ["they ran again without a fault", once, noCrash],
    ["every delivery arrived again", twice, noCrash],
    ["every first attempt failed before its side effect", once, { before: 1, after: 0 }],
    ["every first attempt crashed after its side effect", once, { before: 0, after: 1 }],
    [
      "every delivery arrived again, and two attempts of each job crashed after their side effect",
      twice,
      { before: 0, after: 2 },
    ],
  ];
  for (const [title, batches, crash] of runs) {
    const other = await bring(register, batches, crash, options);
    await telling(
      batches,
      `the handlers' state differs when ${title}`,
      () => deepStrictEqual(other.state, plain.state),
      tellRuns(other.runs),
    );
  }
}

async function bring(
  register: Register,
  batches: readonly (readonly Delivery[])[],
  crash: Crash,
  { secret = testSecret, store }: IdempotentOptions,
): Promise<{ readonly state: unknown; readonly runs: readonly RunAttempt[] }> {
  const opened = await createTestMirror({
    secret,
    jobs: { backoffMs: 0, maxAttempts: 6 },
    ...(store === undefined ? {} : { store: store() }),
  });
  try {
    const runs: RunAttempt[] = [];
    const readState = register(crashing(opened.mirror, crash, runs));
    for (const delivery of batches.flat()) await deliverUntilTaken(opened, delivery);
    await opened.mirror.idle();
    await telling(batches, "a handler fails by itself", () => checkNoneIsDead(opened.mirror), tellRuns(runs));
    return { state: await readState?.(), runs };
  } finally {
    await opened.mirror.close();
  }
}

/** The service sends six times in all; a handler inside the transaction that fails is answered 503. */
async function deliverUntilTaken({ mirror, deliver }: TestMirror, delivery: Delivery): Promise<void> {
  for (let attempt = 1; attempt <= 6; attempt++) {
    const { status } = await deliver(delivery);
    await mirror.idle();
    if (status === 200) return;
  }
}

async function checkNoneIsDead(mirror: Mirror): Promise<void> {
  const [dead] = await all((page) => mirror.jobs.list({ ...page, state: "dead" }));
  if (dead !== undefined)
    throw new Error(`handler ${dead.handler} failed ${dead.attempts} times: ${dead.lastError}`);
}

function tellRuns(runs: readonly RunAttempt[]): string {
  const lines = runs.map(
    ({ handler, about, attempt, fate }) => `  ${handler} ${about}, attempt ${attempt}: ${fate}`,
  );
  return `what ran\n${lines.join("\n")}\n`;
}
