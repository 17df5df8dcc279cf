/** An SDK of OpenTelemetry whose spans and metrics stay in memory. */
import { context, type Meter, type Tracer } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { MeterProvider, MetricReader, type MetricData } from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-base";

export interface Collector {
  readonly tracer: Tracer;
  readonly meter: Meter;
  readonly spans: (name?: string) => ReadableSpan[];
  readonly metrics: () => Promise<MetricData[]>;
}

class PulledReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export function createCollector(): Collector {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = new InMemorySpanExporter();
  const reader = new PulledReader();
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const meters = new MeterProvider({ readers: [reader] });
  return {
    tracer: tracers.getTracer("escrow-mirror"),
    meter: meters.getMeter("escrow-mirror"),
    spans: (name) => exporter.getFinishedSpans().filter((span) => name === undefined || span.name === name),
    metrics: async () => {
      const { resourceMetrics } = await reader.collect();
      return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
    },
  };
}
