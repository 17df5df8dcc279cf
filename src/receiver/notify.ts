/** The step *notify*: tells of what is committed, and of what was refused. It never changes an answer. */
import type { AnomalyRecord } from "../domain/records.ts";
import { isEscrowMirrorError, nameOfError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import type { Committed } from "./arrival.ts";
import type { Reason, Verdict } from "./outcome.ts";
import type { Commit } from "./receive.ts";

export interface Notify {
  committed(commit: Commit): void;
  /** Gives the verdict back, so that refusing and telling of it are one expression. */
  refused(verdict: Verdict): Verdict;
  fault(step: "verify" | "persist", error: unknown): undefined;
}

export function createNotify(logger: Logger): Notify {
  return {
    committed({ committed, changes }) {
      for (const each of committed) tellDelivery(logger, each);
      const told = new Set(committed.map(({ webhookId }) => webhookId ?? null));
      for (const { after } of changes)
        for (const anomaly of after.anomalies) if (told.has(anomaly.webhookId)) tellAnomaly(logger, anomaly);
    },
    refused(verdict) {
      const { outcome, reason, hint } = verdict;
      const fields = { step: "request", outcome, reason };
      if (outcome === "failed") logger.error(fields, explain(reason, hint));
      else logger.debug(fields, "refused a request; nothing is stored");
      return verdict;
    },
    fault(step, error) {
      const code = isEscrowMirrorError(error) ? error.code : "internal-error";
      logger.error(
        { step, code, error: nameOfError(error) },
        isEscrowMirrorError(error) ? error.message : "a step failed",
      );
      return undefined;
    },
  };
}

function explain(reason: Reason | undefined, hint: string | undefined): string {
  if (reason === "raw-body-unavailable") return `${bytesAreGone} ${hint ?? keepTheBytes}`;
  return explanations[reason ?? ""] ?? "the service will come again";
}

const bytesAreGone =
  "the request's body was consumed by a parser before it came here, and a signature can only be checked over the bytes as sent.";
const keepTheBytes =
  "Mount the webhook's route before the app's JSON parser, or keep the bytes there and pass them as the body";

const explanations: Readonly<Record<string, string>> = {
  "secret-unproven":
    "a signature is wrong, and a configured secret has never verified a delivery: answered 503, so that a genuine delivery comes again; check the secret",
  "intake-full": "more deliveries wait than the intake holds: answered 503; the store is too slow or stuck",
  closed: "the mirror is closed or closing: answered 503, so that the delivery comes again",
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
  if (outcome === "quarantined") logger.warn(fields, "quarantined a delivery");
  else if (reason === "payload-changed")
    logger.warn(fields, "known ids came with other content: the first stands");
  else logger.debug(fields, outcome);
}

/** Of a contract that was folded anew only the anomalies that came with this commit. */
function tellAnomaly(logger: Logger, anomaly: AnomalyRecord): void {
  const { kind, contractId, milestoneId, webhookId, detail } = anomaly;
  logger.warn({ step: "transition", anomaly: kind, contractId, milestoneId, webhookId }, detail);
}
