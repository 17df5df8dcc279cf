/** The Prometheus text format, version 0.0.4. The names are those that OpenTelemetry's own exporter gives the instruments. */
import type { Series } from "./counts.ts";
import { instruments, type Instrument, type Labels, type Reading } from "./instruments.ts";

export type SeriesByInstrument = ReadonlyMap<Instrument, ReadonlyMap<string, Series>>;

/** Every instrument has its lines HELP and TYPE, also before it has a value: you see all of them when you write an alarm. */
export function toPrometheus(counted: SeriesByInstrument, readings: readonly Reading[]): string {
  const families = Object.values(instruments).map((instrument: Instrument) => {
    const series = [...(counted.get(instrument)?.values() ?? [])];
    const read = readings.filter(({ gauge }) => gauge === instrument);
    return [
      ...headOf(instrument),
      ...series.flatMap((each) => linesOf(instrument, each)),
      ...read.map(lineOf),
    ];
  });
  return `${families.flat().join("\n")}\n`;
}

export function prometheusName({ name, unit, kind }: Instrument): string {
  return `${name.replaceAll(".", "_")}${unit === "s" ? "_seconds" : ""}${kind === "counter" ? "_total" : ""}`;
}

function headOf(instrument: Instrument): string[] {
  const name = prometheusName(instrument);
  return [`# HELP ${name} ${instrument.description}`, `# TYPE ${name} ${instrument.kind}`];
}

function linesOf(instrument: Instrument, { labels, count, sum, inBuckets }: Series): string[] {
  const name = prometheusName(instrument);
  if (instrument.kind === "counter") return [`${name}${toLabels(labels)} ${sum}`];
  let below = 0;
  const bounds = [...(instrument.buckets ?? []), "+Inf"];
  const buckets = bounds.map((bound, index) => {
    below += inBuckets[index] ?? 0;
    return `${name}_bucket${toLabels({ ...labels, le: String(bound) })} ${below}`;
  });
  return [...buckets, `${name}_sum${toLabels(labels)} ${sum}`, `${name}_count${toLabels(labels)} ${count}`];
}

function lineOf({ gauge, labels, value }: Reading): string {
  return `${prometheusName(gauge)}${toLabels(labels)} ${value}`;
}

function toLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** A handler's name may hold anything. */
function escapeValue(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
