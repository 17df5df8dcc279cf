/** One run of one job: calls its handler with a time limit, and returns the result as a value. */
import { contractsOf } from "../../queries/contracts.ts";
import type { MirroredContract } from "../../queries/shapes.ts";
import { nameOfError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { settle } from "../../shared/result.ts";
import { monotonicMs } from "../../shared/timers.ts";
import type { Store } from "../../store/store.ts";
import type { JobRow } from "../../store/tables/handlers.ts";
import type { Recorder } from "../../telemetry/recorder.ts";
import { callInTime } from "../call-in-time.ts";
import type { Handler, HandlerContext } from "../handler.ts";
import { callInTransaction } from "../transaction/call-in-transaction.ts";
import type { HandlerScope } from "../handler-scope.ts";
import type { Registry } from "../registry.ts";
import { readable } from "../thrown.ts";
import type { Assignment } from "./assignment.ts";
import { runOf, toEnding, type RetryPolicy } from "./ending.ts";
import type { SlotsParts } from "./slots.ts";

export interface RunParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly scope: HandlerScope;
  readonly logger: Logger;
  readonly recorder: Recorder;
  readonly policy: RetryPolicy;
  readonly timeoutMs: number;
  /** The time limit of an `inTransaction` handler. Shorter, because others wait for it. */
  readonly handlerTimeoutMs: number;
}

/** A job may start some time after it was claimed. If its contract was read longer ago than this, it is read again. */
const freshMs = 20;

export type RunResult =
  | { readonly is: "done" }
  | { readonly is: "failed"; readonly error: unknown }
  /** It could not begin, or was still running when the mirror closed or its lease was lost. */
  | { readonly is: "stopped" };

export function createRun(parts: RunParts): SlotsParts["run"] {
  const { store, registry, scope, logger, recorder, policy, timeoutMs, handlerTimeoutMs } = parts;

  /** Never rejects. */
  async function run(handler: Handler, assignment: Assignment, stop: AbortSignal): Promise<RunResult> {
    const limits = { handler: handler.name, timeoutMs, stop };
    const isInside = handler.kind === "transaction";
    const call = isInside ? callInside : callAfter;
    const contract = await settle(async () => (isInside ? undefined : contractNow(assignment)));
    if (!contract.ok || stop.aborted) return { is: "stopped" };
    const contextFor = (signal: AbortSignal) => contextOf(assignment.job, signal, contract.value, logger);
    try {
      await callInTime(limits, (signal) => call(handler, assignment, contextFor(signal)));
      return { is: "done" };
    } catch (error) {
      return stop.aborted ? { is: "stopped" } : { is: "failed", error: readable(error) };
    }
  }

  const callAfter: CallHandler = ({ run: call }, { subject }, context) =>
    scope.job(async () => call(subject() as never, context as never));

  /** As it is now. What was read a moment ago, as most are, is not read again. */
  async function contractNow({ contract, readAtMs }: Assignment): Promise<MirroredContract | undefined> {
    if (contract === undefined || monotonicMs() - readAtMs < freshMs) return contract;
    const { contractId } = contract;
    return (await store.read((reader) => contractsOf(reader, [contractId]))).get(contractId);
  }

  /** The handler's rows commit together with the end of its job. A run that has lost its job writes none. */
  const callInside: CallHandler = (handler, { job, subject }, { idempotencyKey }) =>
    store.transaction(async (tx) => {
      const [isHeld] = await tx.jobs.end([{ ...runOf(job), end: "done" }]);
      if (isHeld !== true) return;
      const call = { handler, event: subject(), idempotencyKey, timeoutMs: handlerTimeoutMs };
      await callInTransaction(tx, call, scope, logger);
    });

  return async (assignment, stop) => {
    const { job } = assignment;
    const handler = registry.get(job.handler);
    const recorded = recorder.run(job);
    const result: RunResult = await recorded.during(async () =>
      handler === undefined ? { is: "stopped" } : run(handler, assignment, stop),
    );
    if (result.is === "failed") logFailure(logger, job, result.error);
    const ending = toEnding(job, result, policy);
    recorded.ended(ending.end);
    const hasEnded = handler?.kind === "transaction" && result.is === "done";
    return hasEnded ? undefined : ending;
  };
}

type CallHandler = (handler: Handler, assignment: Assignment, context: HandlerContext) => Promise<unknown>;

function contextOf(
  { handler, jobKey, attempts }: JobRow,
  signal: AbortSignal,
  contract: MirroredContract | undefined,
  logger: Logger,
): HandlerContext {
  return { idempotencyKey: `${handler}:${jobKey}`, attempt: attempts, signal, contract, logger };
}

function logFailure(
  logger: Logger,
  { handler, webhookId, contractId, attempts }: JobRow,
  error: unknown,
): void {
  const fields = { step: "notify", handler, webhookId, contractId, attempt: attempts };
  logger.warn({ ...fields, error: nameOfError(error) }, "a handler failed");
}
