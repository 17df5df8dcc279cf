/** The receiver and the runner report here. It counts for the Prometheus text, and for the app's tracer and meter if it has any. */
import type { Logger } from "../shared/logger.ts";
import { monotonicMs } from "../shared/timers.ts";
import { createCounts } from "./counts.ts";
import { instruments, type Instrument, type Labels, type Reading, type Sink } from "./instruments.ts";
import { createMeterSink, observeGauges } from "./meter.ts";
import type { TelemetryOptions } from "./open-telemetry.ts";
import { toPrometheus } from "./prometheus.ts";
import { createQuietly } from "./quietly.ts";
import { openJobSpan, tellDelivery } from "./spans.ts";

/** How a request ended. */
export interface Answered {
  readonly outcome: string;
  readonly reason?: string | undefined;
  readonly webhookId?: string | undefined;
}

/** The way of one request through the steps. Times are those of `monotonicMs`. */
export interface Passage {
  readonly startedMs: number;
  /** When it entered each step. */
  readonly entered: Iterable<readonly [step: string, ms: number]>;
  /** Known once its signature holds and its body is read. */
  readonly subject?: { readonly event: string; readonly contractId: string } | null | undefined;
}

export interface JobFacts {
  readonly seq: number;
  readonly handler: string;
  /** The number of this attempt. */
  readonly attempts: number;
  readonly webhookId: string | null;
  readonly contractId: string | null;
}

/** How a run ended, as the queue says it. */
export type JobEnd = "done" | "again" | "dead" | "given-back";

export interface JobRun {
  /** Runs the work once. */
  during<T>(work: () => Promise<T>): Promise<T>;
  ended(end: JobEnd): void;
}

/** None of it throws or waits. */
export interface Recorder {
  answered(answered: Answered, passage: Passage): void;
  committed(size: number, startedMs: number): void;
  /** A run of a job starts. */
  run(job: JobFacts): JobRun;
}

export const silentRecorder: Recorder = {
  answered() {},
  committed() {},
  run: () => ({ during: (work) => work(), ended() {} }),
};

export interface Telemetry {
  readonly recorder: Recorder;
  /** The Prometheus text: what this process counted, and the gauges. */
  text(readings: readonly Reading[]): string;
  /** Shows the gauges to the meter, if there is one. Returns a function that ends this. */
  observe(read: () => Promise<readonly Reading[]>): () => void;
}

export function createTelemetry({ tracer, meter }: TelemetryOptions, logger: Logger): Telemetry {
  const quietly = createQuietly(logger);
  const counts = createCounts();
  const sinks: readonly Sink[] = meter ? [counts, createMeterSink(meter, quietly)] : [counts];
  const record = (instrument: Instrument, value: number, labels: Labels = {}): void => {
    for (const sink of sinks) sink.record(instrument, value, labels);
  };
  const recorder: Recorder = {
    answered: (answered, passage) => {
      const { outcome, reason } = answered;
      record(instruments.deliveries, 1, reason === undefined ? { outcome } : { outcome, reason });
      record(instruments.receiveDuration, secondsSince(passage.startedMs), { outcome });
      if (tracer) quietly(() => tellDelivery(tracer, answered, passage));
    },
    committed: (size, startedMs) => {
      record(instruments.commitSize, size);
      record(instruments.commitDuration, secondsSince(startedMs));
    },
    run: (job) => {
      const startedMs = monotonicMs();
      const { handler } = job;
      const span = tracer && openJobSpan(tracer, job, quietly);
      return {
        during: (work) => span?.during(work) ?? work(),
        ended: (end) => {
          const result = results[end];
          record(instruments.jobRuns, 1, { handler, result });
          record(instruments.jobDuration, secondsSince(startedMs), { handler });
          span?.ended(result);
        },
      };
    },
  };
  return {
    recorder,
    text: (readings) => toPrometheus(counts.all, readings),
    observe: (read) => (meter ? observeGauges(meter, read, quietly) : () => {}),
  };
}

function secondsSince(startedMs: number): number {
  return (monotonicMs() - startedMs) / 1000;
}

/** The words for them in labels and spans. */
const results: Readonly<Record<JobEnd, string>> = {
  done: "done",
  again: "failed",
  dead: "dead",
  "given-back": "stopped",
};
