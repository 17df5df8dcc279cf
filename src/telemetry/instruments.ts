/** Every instrument, as data. The OpenTelemetry meter and the Prometheus text are made from it; a test checks the table in the docs. */
export interface Instrument {
  /** As OpenTelemetry writes names. */
  readonly name: string;
  readonly kind: "counter" | "histogram" | "gauge";
  /** As UCUM writes units. One in braces says what is counted. */
  readonly unit: string;
  readonly description: string;
  /** The upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

/** Label names with their values. Only values from a closed list, and names of handlers: each value makes a series that stays. */
export type Labels = Readonly<Record<string, string>>;

/** The value of a gauge now. */
export interface Reading {
  readonly gauge: Instrument;
  readonly labels: Labels;
  readonly value: number;
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export const instruments = {
  deliveries: {
    name: "escrow_mirror.deliveries",
    kind: "counter",
    unit: "{delivery}",
    description: "Answered webhook requests, by outcome and reason",
  },
  receiveDuration: {
    name: "escrow_mirror.receive.duration",
    kind: "histogram",
    unit: "s",
    description: "Time from a request to its answer, by outcome",
    buckets: seconds,
  },
  commitSize: {
    name: "escrow_mirror.commit.size",
    kind: "histogram",
    unit: "{delivery}",
    description: "Deliveries and API reads in one commit",
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
  },
  commitDuration: {
    name: "escrow_mirror.commit.duration",
    kind: "histogram",
    unit: "s",
    description: "Time of one commit",
    buckets: seconds,
  },
  jobRuns: {
    name: "escrow_mirror.job.runs",
    kind: "counter",
    unit: "{run}",
    description: "Runs of handlers in this process, by handler and result",
  },
  jobDuration: {
    name: "escrow_mirror.job.duration",
    kind: "histogram",
    unit: "s",
    description: "Time of one run of a handler, by handler",
    buckets: seconds,
  },
  healthy: {
    name: "escrow_mirror.healthy",
    kind: "gauge",
    unit: "",
    description: "health().ok: 1 or 0",
  },
  warnings: {
    name: "escrow_mirror.warnings",
    kind: "gauge",
    unit: "{warning}",
    description: "Number of health().warnings",
  },
  consecutiveFailures: {
    name: "escrow_mirror.consecutive_failures",
    kind: "gauge",
    unit: "{answer}",
    description: "Answers in a row to verified deliveries that were not 2xx",
  },
  lastDelivery: {
    name: "escrow_mirror.last_delivery.timestamp",
    kind: "gauge",
    unit: "s",
    description: "When the newest delivery arrived, as Unix time",
  },
  quarantined: {
    name: "escrow_mirror.quarantined",
    kind: "gauge",
    unit: "{delivery}",
    description: "Quarantined deliveries that wait for a person, 10,000 at most",
  },
  jobs: {
    name: "escrow_mirror.jobs",
    kind: "gauge",
    unit: "{job}",
    description: "Jobs of every process by state, 1,000 at most each",
  },
} as const satisfies Readonly<Record<string, Instrument>>;

/** Takes what is counted and measured. */
export interface Sink {
  record(instrument: Instrument, value: number, labels: Labels): void;
}
