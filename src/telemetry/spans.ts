/** One span for each delivery, and one for each run of a job. */
import { monotonicMs } from "../shared/timers.ts";
import type { TelemetryAttributes, TelemetrySpan, TelemetryTracer } from "./open-telemetry.ts";
import type { Quietly } from "./quietly.ts";
import type { Answered, JobFacts, Passage } from "./recorder.ts";

/** OpenTelemetry's code for a status of an error. */
const error = { code: 2 };

/**
 * Makes the span when the delivery is answered: so an early refusal costs little, and the steps need not know of spans. Its
 * parent is the span that was active when `receive` was called.
 */
export function tellDelivery(tracer: TelemetryTracer, answered: Answered, passage: Passage): void {
  const { outcome, reason, webhookId } = answered;
  const { contractId, event } = passage.subject ?? {};
  // The steps are timed by a clock that is never set back.
  const offsetMs = Date.now() - monotonicMs();
  const span = tracer.startSpan("escrow_mirror.receive", {
    startTime: passage.startedMs + offsetMs,
    attributes: toAttributes({ outcome, reason, webhook_id: webhookId, event, contract_id: contractId }),
  });
  for (const [step, enteredMs] of passage.entered) span.addEvent(step, enteredMs + offsetMs);
  if (outcome === "failed") span.setStatus(error);
  span.end(monotonicMs() + offsetMs);
}

export interface JobSpan {
  /** Runs the work, once, with the span as the active one. */
  during<T>(work: () => Promise<T>): Promise<T>;
  ended(result: string): void;
}

export function openJobSpan(tracer: TelemetryTracer, job: JobFacts, quietly: Quietly): JobSpan {
  let span: TelemetrySpan | undefined;
  return {
    during: (work) => {
      let working: ReturnType<typeof work> | undefined;
      const workOnce = () => (working ??= work());
      quietly(() => {
        // Its cause is a delivery whose span has ended, maybe in another process.
        tracer.startActiveSpan(
          "escrow_mirror.job",
          { root: true, attributes: attributesOf(job) },
          (started) => {
            span = started;
            void workOnce();
          },
        );
      });
      return workOnce();
    },
    ended: (result) =>
      quietly(() => {
        span?.setAttributes(toAttributes({ result }));
        if (result === "failed" || result === "dead") span?.setStatus(error);
        span?.end();
      }),
  };
}

function attributesOf({ seq, handler, attempts, webhookId, contractId }: JobFacts): TelemetryAttributes {
  const ids = { job_id: String(seq), webhook_id: webhookId, contract_id: contractId };
  return { ...toAttributes({ handler, ...ids }), "escrow_mirror.attempt": attempts };
}

/** The service's ids and names are shorter. */
const lengthMax = 255;

function toAttributes(given: Readonly<Record<string, string | null | undefined>>): TelemetryAttributes {
  const attributes: TelemetryAttributes = {};
  for (const [name, value] of Object.entries(given))
    if (value != null) attributes[`escrow_mirror.${name}`] = value.slice(0, lengthMax);
  return attributes;
}
