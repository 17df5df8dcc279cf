/** The parts of `@opentelemetry/api` that the mirror calls. They are typed by shape: the mirror never loads the package. */

/** The option `telemetry`. Names and attributes: `docs/telemetry.md`. */
export interface TelemetryOptions {
  /** A tracer: `trace.getTracer("escrow-mirror")`. It gets one span for each delivery, and one for each run of a job. */
  readonly tracer?: TelemetryTracer | undefined;
  /** A meter: `metrics.getMeter("escrow-mirror")`. It gets counters, histograms and gauges. */
  readonly meter?: TelemetryMeter | undefined;
}

/** Names with values that a span or a metric carries. */
export interface TelemetryAttributes {
  /** An attribute. */
  [name: string]: string | number | boolean;
}

/** A `Span` of `@opentelemetry/api`. */
export interface TelemetrySpan {
  /** Sets attributes. */
  setAttributes(attributes: TelemetryAttributes): unknown;
  /** Sets the status. Code 2 is an error. */
  setStatus(status: { code: number }): unknown;
  /** Adds an event at a time: milliseconds since 1970. */
  addEvent(name: string, time: number): unknown;
  /** Ends the span at a time: milliseconds since 1970. Default: now. */
  end(time?: number): void;
}

/** Options of a new span. */
export interface TelemetrySpanOptions {
  /** Whether the span has no parent. */
  root?: boolean;
  /** When it began: milliseconds since 1970. Default: now. */
  startTime?: number;
  /** Its attributes. */
  attributes?: TelemetryAttributes;
}

/** A `Tracer` of `@opentelemetry/api`. */
export interface TelemetryTracer {
  /** Starts a span below the active one. */
  startSpan(name: string, options?: TelemetrySpanOptions): TelemetrySpan;
  /** Starts a span that is the active one while `run` runs. */
  startActiveSpan<Run extends (span: never) => unknown>(
    name: string,
    options: TelemetrySpanOptions,
    run: Run,
  ): ReturnType<Run>;
}

/** Options of a new instrument. */
export interface TelemetryInstrumentOptions {
  /** A sentence about it. */
  description?: string;
  /** Its unit. */
  unit?: string;
  /** The bounds of a histogram's buckets. */
  advice?: {
    /** The upper bounds. */
    explicitBucketBoundaries?: number[];
  };
}

/** An `ObservableResult` of `@opentelemetry/api`. */
export interface TelemetryObserver {
  /** Reports a gauge's value. */
  observe(gauge: never, value: number, attributes?: TelemetryAttributes): void;
}

/** A `Meter` of `@opentelemetry/api`. */
export interface TelemetryMeter {
  /** Creates a counter. */
  createCounter(
    name: string,
    options?: TelemetryInstrumentOptions,
  ): {
    /** Counts. */
    add(value: number, attributes?: TelemetryAttributes): void;
  };
  /** Creates a histogram. */
  createHistogram(
    name: string,
    options?: TelemetryInstrumentOptions,
  ): {
    /** Records one value. */
    record(value: number, attributes?: TelemetryAttributes): void;
  };
  /** Creates a gauge that is asked for its value. */
  createObservableGauge(name: string, options?: TelemetryInstrumentOptions): object;
  /** Asks `callback` for the values of `gauges` at each collection. */
  addBatchObservableCallback(
    callback: (observer: TelemetryObserver) => void | Promise<void>,
    gauges: never[],
  ): void;
  /** Removes such a callback. */
  removeBatchObservableCallback(
    callback: (observer: TelemetryObserver) => void | Promise<void>,
    gauges: never[],
  ): void;
}
