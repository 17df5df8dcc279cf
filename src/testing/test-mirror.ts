import { createMirror, type Mirror } from "../mirror/create-mirror.ts";
import type { MirrorOptions } from "../mirror/options.ts";
import type { ReceiveResult } from "../receiver/outcome.ts";
import { manualClock, type SandboxClock } from "../sandbox/world/clock.ts";
import { silentLogger } from "../shared/logger.ts";
import type { BuiltEvent } from "./build-event.ts";
import { signDelivery, testSecret, type Delivery } from "./delivery.ts";
import { createMemoryStore } from "./memory-store.ts";

/** The options of `createMirror` without `webhook` and `clock`. All are optional. */
export interface TestMirrorOptions extends Partial<Omit<MirrorOptions, "webhook" | "clock">> {
  /** The signing secret. Default: `testSecret`. */
  readonly secret?: string | undefined;
  /** The clock's first reading, in milliseconds since 1970. Default 2026-02-01T00:00:00Z. */
  readonly startMs?: number | undefined;
}

/** A mirror for tests, and its controls. */
export interface TestMirror extends AsyncDisposable {
  /** Its handlers run only in `mirror.idle()` and `mirror.jobs.runOnce()`. */
  readonly mirror: Mirror;
  /** Stands still until `clock.advance(ms)`. Advance it to make a handler's next attempt due. */
  readonly clock: SandboxClock;
  /** Passes a delivery to `mirror.receive`. Signs an event first. Never rejects. */
  readonly deliver: (what: BuiltEvent | Delivery) => Promise<ReceiveResult>;
}

/**
 * Opens a mirror in memory, on a clock that stands still. Nothing runs by itself: handlers run when the test calls
 * `mirror.idle()`. The memory store has no SQL: for `mirror.db` and `inTransaction`, pass `store: sqlite(":memory:")`.
 *
 * ```ts
 * const { mirror, deliver } = await createTestMirror();
 * await deliver(buildEvent("contract.created", { data: { contractId: "CNT-1" } }));
 * ```
 *
 * @throws EscrowMirrorError as `createMirror`
 */
export async function createTestMirror(options: TestMirrorOptions = {}): Promise<TestMirror> {
  const { secret = testSecret, startMs = Date.UTC(2026, 1, 1), ...rest } = options;
  const clock = manualClock(startMs);
  const opened = await createMirror({
    store: createMemoryStore(),
    logger: silentLogger,
    ...rest,
    jobs: { ...rest.jobs, run: false },
    webhook: { secrets: secret },
    clock,
  });
  const mirror = runningWhenIdle(opened);
  return {
    mirror,
    clock,
    deliver: (what) => mirror.receive("body" in what ? what : signDelivery(what, { secret })),
    [Symbol.asyncDispose]: () => mirror.close(),
  };
}

function runningWhenIdle(mirror: Mirror): Mirror {
  const idle = async (): Promise<void> => {
    await mirror.jobs.runOnce();
    await mirror.idle();
  };
  return Object.create(mirror, { idle: { value: idle } }) as Mirror;
}
