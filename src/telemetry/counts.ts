import type { Instrument, Labels, Sink } from "./instruments.ts";

/** The values of one instrument with one set of labels. */
export interface Series {
  readonly labels: Labels;
  /** How many values. */
  count: number;
  sum: number;
  /** How many of them fall into each bucket of a histogram. The last number is for those above all bounds. */
  readonly inBuckets: number[];
}

export interface Counts extends Sink {
  /** Every instrument that has counted anything, with its series. */
  readonly all: ReadonlyMap<Instrument, ReadonlyMap<string, Series>>;
}

/** An app with ever new handler names must not fill the memory: above this number, all share one series. */
const seriesMax = 2000;
const overflow: Labels = { overflow: "true" };

/** The counts of this process since its start, for the Prometheus text. */
export function createCounts(): Counts {
  const all = new Map<Instrument, Map<string, Series>>();

  function seriesOf(instrument: Instrument, labels: Labels): Series {
    const known = all.get(instrument) ?? new Map<string, Series>();
    all.set(instrument, known);
    const key = Object.values(labels).join("\0");
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= seriesMax && labels !== overflow) return seriesOf(instrument, overflow);
    const made = { labels, count: 0, sum: 0, inBuckets: [...(instrument.buckets ?? []), 0].map(() => 0) };
    known.set(key, made);
    return made;
  }

  return {
    all,
    record(instrument, value, labels) {
      const series = seriesOf(instrument, labels);
      series.count++;
      series.sum += value;
      const { buckets = [] } = instrument;
      const at = buckets.findIndex((bound) => value <= bound);
      const bucket = at < 0 ? buckets.length : at;
      series.inBuckets[bucket] = (series.inBuckets[bucket] ?? 0) + 1;
    },
  };
}
