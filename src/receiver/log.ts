/** The log of what is committed and of what is refused. It never changes an answer. */
import type { AnomalyRecord } from "../domain/records.ts";
import type { Clock } from "../shared/clock.ts";
import { isEscrowMirrorError, nameOfError, originOf } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { createRateLimit, createRateLimits } from "../shared/rate-limit.ts";
import { adviceOn } from "./advice.ts";
import type { Commit, Committed, DeliveryArrival } from "./arrival.ts";
import type { Reason, Verdict } from "./outcome.ts";

/** The steps of the flow, as log fields name them. */
export type Step = "request" | "verify" | "parse" | "dedupe" | "transition" | "persist" | "notify";

export interface ReceiverLog {
  committed(commit: Commit): void;
  /** A delivery that can't be applied. Gives the verdict back. */
  aside(arrival: DeliveryArrival, verdict: Verdict): Verdict;
  /** Gives the verdict back, so that refusing and telling of it are one expression. */
  refused(step: Step, verdict: Verdict): Verdict;
  /** @param hint which line of the host's set-up to change, where a request could not be read */
  fault(step: Step, error: unknown, hint?: string): void;
  /** A body's stream failed, and not for its sender. */
  broken(error: unknown): void;
  /** `webhook.secrets()` failed: those at hand stay. */
  secretsFault(error: unknown): void;
}

/** How often the log says at `error` that requests are refused for one reason, while that lasts. */
const alarmEveryMs = 60_000;

export function createReceiverLog(logger: Logger, clock: Clock): ReceiverLog {
  const mayAlarm = createRateLimits({ everyMs: alarmEveryMs });
  const mayTellOfAnyone = createRateLimit({ everyMs: tellOfAnyoneEveryMs });
  const isAlarm = (step: Step, { outcome, reason }: Verdict): boolean =>
    reason !== undefined &&
    (outcome === "failed" || reason === "body-too-large") &&
    !isOfAnyone(step, reason) &&
    mayAlarm(reason, clock.now());
  return {
    committed({ committed, changes }) {
      for (const each of committed) tellDelivery(logger, each);
      const told = new Set(committed.map(({ webhookId }) => webhookId ?? null));
      for (const { after } of changes)
        for (const anomaly of after.anomalies) if (told.has(anomaly.webhookId)) tellAnomaly(logger, anomaly);
    },
    aside(arrival, verdict) {
      tellDelivery(logger, { arrival, ...verdict });
      return verdict;
    },
    refused(step, verdict) {
      const { outcome, reason, hint } = verdict;
      const fields = { step, outcome, reason };
      if (isAlarm(step, verdict)) logger.error(fields, explain(reason, hint));
      else if (step === "request" && reason === "intake-full" && mayTellOfAnyone(clock.now()))
        logger.warn(fields, crowded);
      else logger.debug(fields, "refused a request; nothing is stored");
      return verdict;
    },
    fault(step, error, hint) {
      const known = isEscrowMirrorError(error);
      const code = known ? error.code : "internal-error";
      // The first cause: where the fault is, and not where it was told of.
      const cause = known && error.cause !== undefined ? error.cause : error;
      const at = code === "internal-error" ? originOf(cause) : undefined;
      const what = known ? error.message : nameOfError(error);
      const message = code === "internal-error" ? `${doing[step]}: ${what}` : what;
      const advice = step === "request" && typeof hint === "string" ? `. ${hint}` : "";
      logger.error({ step, code, error: nameOfError(cause), at }, `${message}${advice}`);
    },
    broken(error) {
      if (!mayTellOfAnyone(clock.now())) return;
      const fields = { step: "request", reason: "body-incomplete", error: nameOfError(error) };
      logger.error(fields, "the host failed to read a request's body: answered 503");
    },
    secretsFault(error) {
      // An error of the integrator's function may quote a secret.
      const cause = isEscrowMirrorError(error) ? error.message : nameOfError(error);
      logger.error({ step: "verify", error: cause }, "webhook.secrets() failed: the old secrets stay in use");
    },
  };
}

/** The work of each step, for an error without a message. */
const doing: Readonly<Record<Step, string>> = {
  request: "reading a request failed",
  verify: "checking a signature failed",
  parse: "reading a body failed",
  dedupe: "checking whether a delivery is known failed",
  transition: "applying an event to its contract failed",
  persist: "storing the changes failed",
  notify: "writing jobs and running handlers failed",
};

/** How often the log has what anyone can bring about. */
const tellOfAnyoneEveryMs = 10_000;

/** Anyone can have a signature refused, which verify explains itself, or send a body that is too much or never whole. */
function isOfAnyone(step: Step, reason: Reason | undefined): boolean {
  if (reason === "intake-full") return step === "request";
  return reason === "secret-unproven" || reason === "body-incomplete";
}

const crowded = "unverified bodies fill intake.unverifiedBytesMax: the largest get 503";

function explain(reason: Reason | undefined, hint: string | undefined): string {
  if (reason === "raw-body-unavailable") return `${bytesAreGone} ${hint ?? keepTheBytes}`;
  return explanations[reason ?? ""] ?? (reason && adviceOn[reason]) ?? "the service will send it again";
}

const bytesAreGone =
  "a parser consumed the request's body before the mirror got it. A signature can only be checked over the bytes as sent.";
const keepTheBytes =
  "Mount the webhook's route before the app's JSON parser, or keep the bytes there and pass them as the body";

const explanations: Readonly<Record<string, string>> = {
  unstorable:
    "can't be applied: its body is stored, the answer is 503, and the mirror tries again with the next copy",
  closed: "the mirror is closed or closing: answered 503, so the service retries",
};

function tellDelivery(logger: Logger, { arrival, outcome, reason, webhookId }: Committed): void {
  if (arrival.kind === "snapshot") return;
  const { facts } = arrival.reading;
  const fields = {
    step: "persist",
    outcome,
    reason,
    webhookId,
    event: facts?.event,
    contractId: facts?.contractId,
  };
  if (outcome === "failed") logger.error(fields, explain(reason, undefined));
  else if (outcome === "quarantined") logger.warn(fields, "quarantined a delivery");
  else if (reason === "payload-changed")
    logger.warn(fields, "a copy has other content: the first content stays");
  else logger.debug(fields, outcome);
}

/** Of a contract that was folded anew only the anomalies that came with this commit. */
function tellAnomaly(logger: Logger, anomaly: AnomalyRecord): void {
  const { kind, contractId, milestoneId, webhookId, detail } = anomaly;
  logger.warn({ step: "transition", anomaly: kind, contractId, milestoneId, webhookId }, detail);
}
