/** One run of one job: calls its handler with a time limit, and returns the result as a value. */
import { nameOfError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
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

export type RunResult =
  | { readonly is: "done" }
  | { readonly is: "failed"; readonly error: unknown }
  /** It was still running when the mirror closed or its lease was lost. */
  | { readonly is: "stopped" };

export function createRun(parts: RunParts): SlotsParts["run"] {
  const { store, registry, scope, logger, recorder, policy, timeoutMs, handlerTimeoutMs } = parts;

  /** Never rejects. */
  async function run(handler: Handler, assignment: Assignment, stop: AbortSignal): Promise<RunResult> {
    const limits = { handler: handler.name, timeoutMs, stop };
    const call = handler.kind === "transaction" ? callInside : callAfter;
    try {
      await callInTime(limits, (signal) => call(handler, assignment, contextOf(assignment, signal, logger)));
      return { is: "done" };
    } catch (error) {
      return stop.aborted ? { is: "stopped" } : { is: "failed", error: readable(error) };
    }
  }

  const callAfter: CallHandler = ({ run: call }, { subject }, context) =>
    scope.job(async () => call(subject as never, context as never));

  /** The handler's rows commit together with the end of its job. A run that has lost its job writes none. */
  const callInside: CallHandler = (handler, { job, subject }, { idempotencyKey }) =>
    store.transaction(async (tx) => {
      const [isHeld] = await tx.jobs.end([{ ...runOf(job), end: "done" }]);
      if (isHeld !== true) return;
      const call = { handler, event: subject, idempotencyKey, timeoutMs: handlerTimeoutMs };
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

function contextOf({ job, contract }: Assignment, signal: AbortSignal, logger: Logger): HandlerContext {
  const { handler, jobKey, attempts } = job;
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
