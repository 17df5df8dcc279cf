import { groupBy } from "../../src/shared/group-by.ts";

/** Reads the Prometheus text as strictly as its format says: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

/** @throws Error for a line that the format does not have, a sample without its family, or a series that stands twice */
export function readExposition(text: string): Family[] {
  if (!text.endsWith("\n")) throw new Error("the last line must end");
  const families = new Map<string, Family & { samples: Sample[] }>();
  const seen = new Set<string>();
  let current: (Family & { samples: Sample[] }) | undefined;
  const lines = text.slice(0, -1).split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.startsWith("#")) {
      const [, name = "", help = ""] = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line) ?? fail(line);
      const [, typed, type = ""] =
        /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(lines[++at] ?? "") ?? fail(line);
      if (typed !== name || families.has(name)) fail(line);
      current = { name, help, type, samples: [] };
      families.set(name, current);
      continue;
    }
    const sample = readSample(line);
    const key = JSON.stringify([sample.name, Object.entries(sample.labels)]);
    if (seen.has(key) || current === undefined || !belongs(sample.name, current)) fail(line);
    seen.add(key);
    current.samples.push(sample);
  }
  for (const family of families.values()) if (family.type === "histogram") checkHistogram(family);
  return [...families.values()];
}

function belongs(name: string, { name: family, type }: Family): boolean {
  const endings = type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
  return endings.some((ending) => name === family + ending);
}

const pair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

function readSample(line: string): Sample {
  const [, name = "", inside = "", value = ""] =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?[0-9.e+-]+|[+-]Inf|NaN)$/.exec(line) ?? fail(line);
  const labels: Record<string, string> = {};
  for (pair.lastIndex = 0; pair.lastIndex < inside.length;) {
    const [, label = "", text = ""] = pair.exec(inside) ?? fail(line);
    if (label in labels) fail(line);
    labels[label] = text.replaceAll(/\\(.)/g, (_, each: string) => (each === "n" ? "\n" : each));
  }
  return { name, labels, value: Number(value) };
}

/** Buckets rise, the last one is all, and is the count. */
function checkHistogram({ name, samples }: Family): void {
  const series = groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  for (const each of series.values()) {
    const buckets = each.filter((sample) => sample.name === `${name}_bucket`);
    const count = each.find((sample) => sample.name === `${name}_count`)?.value;
    const bounds = buckets.map(({ labels: { le = "" } }) => (le === "+Inf" ? Infinity : Number(le)));
    if (!isRising(bounds) || !isRising(buckets.map(({ value }) => value))) fail(name);
    if (bounds.at(-1) !== Infinity || buckets.at(-1)?.value !== count) fail(name);
    if (!each.some((sample) => sample.name === `${name}_sum`)) fail(name);
  }
}

function isRising(values: readonly number[]): boolean {
  return values.every((value, at) => value >= (values[at - 1] ?? 0));
}

function fail(line: string): never {
  throw new Error(`not the Prometheus text format: ${line}`);
}
