/** The cost of telemetry for a delivery: a tracer with a batch processor and a meter, against none. */
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace-base";
import { ExportResultCode } from "@opentelemetry/core";
import { join } from "node:path";
import { createMirror, type TelemetryOptions } from "../../src/index.ts";
import { startWay } from "../../src/receiver/way.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { sqlite } from "../../src/sqlite.ts";
import { createTelemetry } from "../../src/telemetry/recorder.ts";
import { makeDeliveries, receiveAll, secret } from "./deliveries.ts";
import { atMost, median, microseconds, microsecondsEach, withFolder, type Figure } from "./stopwatch.ts";

const rounds = 9;
const perRound = 3200;

export async function benchTelemetry(): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const open = (name: string, telemetry: TelemetryOptions) =>
      createMirror({ store: sqlite(join(folder, `${name}.db`)), webhook: { secrets: secret }, telemetry });
    const sdk = startSdk();
    const mirrors = { off: await open("off", {}), on: await open("on", sdk.telemetry) };
    const taken = { off: [] as number[], on: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      // Each is first in every other round.
      const order = round % 2 === 0 ? (["off", "on"] as const) : (["on", "off"] as const);
      for (const name of order) {
        const deliveries = [...makeDeliveries(perRound, round * perRound)];
        taken[name].push(await microsecondsEach(perRound, () => receiveAll(mirrors[name], deliveries)));
      }
    }
    await Promise.all([mirrors.off.close(), mirrors.on.close()]);
    await sdk.stop();
    const [off, on] = [median(taken.off), median(taken.on)];
    return [
      atMost(1.15, {
        what: `mirror.receive with a tracer (batch processor) and a meter, 64 in flight, SQLite FULL; ${sdk.exported()} spans exported`,
        measured: microseconds(on),
        against: `without telemetry: ${microseconds(off)}`,
        ratio: on / off,
      }),
      await benchOff(off),
    ];
  });
}

/** All that telemetry does for a delivery while it is off: times of the steps, and counts for `mirror.metrics()`. */
async function benchOff(delivery: number): Promise<Figure> {
  const { recorder } = createTelemetry({}, silentLogger);
  const each: number[] = [];
  const count = 100_000;
  for (let round = 0; round < rounds; round++)
    each.push(
      await microsecondsEach(count, () => {
        for (let at = 0; at < count; at++) {
          const way = startWay("request");
          for (const step of ["verify", "request", "verify", "parse"] as const) way.enter(step);
          recorder.answered({ outcome: "applied" }, way);
        }
      }),
    );
  const own = median(each);
  return atMost(1.03, {
    what: "a delivery with telemetry off",
    measured: `${microseconds(own)} of it are counts and times of steps`,
    against: `the whole delivery: ${microseconds(delivery)}`,
    ratio: delivery / (delivery - own),
  });
}

function startSdk() {
  let exported = 0;
  const exporter: SpanExporter = {
    export: (spans, done) => {
      exported += spans.length;
      done({ code: ExportResultCode.SUCCESS });
    },
    shutdown: async () => {},
  };
  const reader = new PeriodicExportingMetricReader({
    exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
    exportIntervalMillis: 5000,
  });
  const tracers = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  const meters = new MeterProvider({ readers: [reader] });
  return {
    telemetry: { tracer: tracers.getTracer("bench"), meter: meters.getMeter("bench") },
    exported: () => exported.toLocaleString("en"),
    stop: () => Promise.all([tracers.shutdown(), meters.shutdown()]),
  };
}
