/** The warnings of `health()`: one sentence for each thing that a person must do. */
import type { Orphan } from "../handlers/workload.ts";
import { adviceOn } from "../receiver/advice.ts";
import type { Reason } from "../receiver/outcome.ts";
import type { Tally } from "../receiver/tally.ts";
import { toIsoTime } from "../shared/clock.ts";

/** The inputs of the warnings. */
export interface WarningInputs {
  readonly nowMs: number;
  readonly tally: Tally;
  readonly consecutiveFailures: number;
  readonly quarantined: number;
  readonly deadJobs: number;
  /** Handlers whose jobs nobody runs. */
  readonly orphans: readonly Orphan[];
  /** Why handlers of this process were refused. */
  readonly refusedHandlers: readonly string[];
  /** Handlers of this process that were removed elsewhere. */
  readonly removedHandlers: readonly string[];
  /** Why the store can't be used now; `undefined` while it can. */
  readonly storeFault: string | undefined;
  /** Ids of the secrets that have verified nothing for long. */
  readonly unprovenIds: readonly string[];
  /** Finished sentences about the signing secret and the subscription. */
  readonly ofHealing: readonly string[];
}

/** How long a refusal is a warning; longer, until a delivery is accepted after it. */
const refusalMs = 3_600_000;
/** From so many failures in a row on the subscription is in danger: ten disable it (§6.5). */
export const failuresAlarm = 5;

export function warningsOf(inputs: WarningInputs): string[] {
  const { storeFault, consecutiveFailures, quarantined, unprovenIds } = inputs;
  const { deadJobs, orphans, refusedHandlers } = inputs;
  return [
    ...(storeFault === undefined ? [] : [`The store can't be used: ${storeFault}`]),
    ...unprovenIds.map(unproven),
    ...(consecutiveFailures < failuresAlarm ? [] : [inDanger(consecutiveFailures)]),
    ...inputs.ofHealing,
    ...refusalsOf(inputs),
    ...(quarantined === 0 ? [] : [aside(quarantined)]),
    ...refusedHandlers.map(refusedHandler),
    ...inputs.removedHandlers.map(removedHandler),
    ...orphans.map(orphaned),
    ...(deadJobs === 0 ? [] : [gaveUp(deadJobs)]),
  ];
}

function refusalsOf({ nowMs, tally }: WarningInputs): string[] {
  const hourAgo = toIsoTime(nowMs - refusalMs);
  const lasts = (reason: Reason, lastAt: string): boolean => {
    const isLast = lastAt >= (tally.acceptedAt ?? "");
    // Strangers send requests without a signature all the time: they tell of a fault of ours while nothing else comes.
    return reason === "signature-missing" ? isLast : isLast || lastAt >= hourAgo;
  };
  return Object.entries(tally.refused).flatMap(([name, { count, lastAt }]) => {
    const reason = name as Reason;
    const advice = adviceOn[reason];
    if (advice === undefined || !lasts(reason, lastAt)) return [];
    const refused = counted(count, "request was refused", "requests were refused");
    return [`${refused} since the start, the last at ${lastAt} (${reason}): ${advice}.`];
  });
}

function unproven(id: string): string {
  return `The signing secret "${id}" has not verified any delivery: send a webhook.test, compare the secret with the service's, or remove it. Until then wrong signatures are answered 503.`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function inDanger(consecutiveFailures: number): string {
  return `${consecutiveFailures} answers in a row to verified deliveries were not 2xx: the log says why. After ten failed deliveries in a row the service disables the subscription.`;
}

export function aside(quarantined: number): string {
  return `${counted(quarantined, "delivery is", "deliveries are")} quarantined: read mirror.quarantine.list(), and release or dismiss each.`;
}

function refusedHandler(reason: string): string {
  return `A handler was refused and does not run here: ${reason}.`;
}

function removedHandler(name: string): string {
  return `The handler "${name}" was removed by mirror.handlers.remove, so it gets nothing, but this process still has it: take it out of the code, or restart the process to register it anew.`;
}

function orphaned({ handler, dueAt }: Orphan): string {
  return `The handler "${handler}" has had due jobs since ${dueAt}, and no process runs it: start one that registers it, or end it with mirror.handlers.remove("${handler}").`;
}

export function gaveUp(deadJobs: number): string {
  return `${counted(deadJobs, "job is", "jobs are")} dead: look at mirror.jobs.list({ state: "dead" }), fix the cause, then retry each with mirror.jobs.retry(id).`;
}
