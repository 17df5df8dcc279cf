/** The instruments on a meter of OpenTelemetry. */
import { instruments, type Instrument, type Labels, type Reading, type Sink } from "./instruments.ts";
import type { TelemetryInstrumentOptions, TelemetryMeter, TelemetryObserver } from "./open-telemetry.ts";
import type { Quietly } from "./quietly.ts";

export function createMeterSink(meter: TelemetryMeter, quietly: Quietly): Sink {
  const made = new Map<Instrument, (value: number, labels: Labels) => void>();
  for (const instrument of all("counter"))
    quietly(() => {
      const counter = meter.createCounter(instrument.name, optionsOf(instrument));
      made.set(instrument, (value, labels) => counter.add(value, labels));
    });
  for (const instrument of all("histogram"))
    quietly(() => {
      const histogram = meter.createHistogram(instrument.name, optionsOf(instrument));
      made.set(instrument, (value, labels) => histogram.record(value, labels));
    });
  return {
    record: (instrument, value, labels) => quietly(() => made.get(instrument)?.(value, labels)),
  };
}

/** Lets the meter ask for the gauges at each collection. Returns a function that ends this. */
export function observeGauges(
  meter: TelemetryMeter,
  read: () => Promise<readonly Reading[]>,
  quietly: Quietly,
): () => void {
  const gauges = new Map<Instrument, never>();
  const observe = async (observer: TelemetryObserver): Promise<void> => {
    const readings = await read();
    quietly(() => {
      for (const { gauge, value, labels } of readings) {
        const observed = gauges.get(gauge);
        if (observed !== undefined) observer.observe(observed, value, labels);
      }
    });
  };
  quietly(() => {
    for (const each of all("gauge"))
      gauges.set(each, meter.createObservableGauge(each.name, optionsOf(each)) as never);
    meter.addBatchObservableCallback(observe, [...gauges.values()]);
  });
  return () => quietly(() => meter.removeBatchObservableCallback(observe, [...gauges.values()]));
}

function all(kind: Instrument["kind"]): Instrument[] {
  return Object.values(instruments).filter((each) => each.kind === kind);
}

function optionsOf({ description, unit, buckets }: Instrument): TelemetryInstrumentOptions {
  const advice = buckets === undefined ? {} : { advice: { explicitBucketBoundaries: [...buckets] } };
  return { description, unit, ...advice };
}
