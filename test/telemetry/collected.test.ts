import { context, trace } from "@opentelemetry/api";
import { expect, it } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";
import { createCollector, type Collector } from "./collector.ts";
import { docAttributes, docMetrics, docSpans } from "./documented.ts";
import { expectedCalls, expectedOutcomes, runEverything, sentinels } from "./flow.ts";

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
const steps = ["request", "verify", "parse", "dedupe", "transition", "persist", "notify"];

async function collectEverything(): Promise<Collector> {
  const collector = createCollector();
  const { tracer, meter } = collector;
  const { outcomes, calls } = await runEverything({ telemetry: { tracer, meter } });
  expect(outcomes).toEqual(expectedOutcomes);
  expect(calls).toEqual(expectedCalls);
  return collector;
}

it("a collector gets the documented metrics, kinds and labels, and no others", async () => {
  const { metrics } = await collectEverything();
  const kinds = { 0: "histogram", 2: "gauge", 3: "counter" } as Record<number, string>;
  const collected = (await metrics()).map(({ descriptor, dataPointType, dataPoints }) => ({
    name: descriptor.name,
    kind: kinds[dataPointType],
    labels: [...new Set(dataPoints.flatMap(({ attributes }) => Object.keys(attributes)))],
  }));
  const documented = docMetrics.map(({ name, kind, labels }) => ({
    name,
    kind: kind === "counter" || kind === "histogram" ? kind : "gauge",
    labels,
  }));
  expect(collected.toSorted(byName)).toEqual(documented.toSorted(byName));
});

it("a collector gets the documented spans and attributes, and no others", async () => {
  const collector = await collectEverything();
  expect([...new Set(collector.spans().map(({ name }) => name))]).toEqual(docSpans);
  for (const kind of ["receive", "job"]) {
    const spans = collector.spans(`escrow_mirror.${kind}`);
    const names = spans.flatMap(({ attributes }) => Object.keys(attributes));
    expect([...new Set(names)].toSorted()).toEqual(docAttributes(kind).toSorted());
  }
});

it("no span and no metric has a secret, a signature, a payload or an error's text", async () => {
  const collector = await collectEverything();
  const spans = collector
    .spans()
    .map(({ name, attributes, events, status, links }) => ({ name, attributes, events, status, links }));
  const all = JSON.stringify([spans, await collector.metrics()]);
  expect(all).toContain("contract.created");
  expect(sentinels.filter((sentinel) => all.includes(sentinel))).toEqual([]);
  const [, signature = ""] = /"signature":"([^"]+)"/.exec(JSON.stringify(delivery("contract.created"))) ?? [];
  expect(signature === "" || !all.includes(signature)).toBe(true);
});

it("no metric has the id of a contract or of a delivery", async () => {
  const all = JSON.stringify(await (await collectEverything()).metrics());
  expect(all).not.toMatch(/CNT-1|wh-/);
});

it("the span of an applied delivery has the seven steps in their order, each at its time", async () => {
  const collector = await collectEverything();
  const [applied] = collector.spans("escrow_mirror.receive");
  expect(applied?.events.map(({ name }) => name)).toEqual(steps);
  const times = [applied?.startTime, ...(applied?.events ?? []).map(({ time }) => time), applied?.endTime];
  const nanoseconds = times.map(
    ([seconds, nanos] = [0, 0]) => BigInt(seconds) * 1_000_000_000n + BigInt(nanos),
  );
  expect(nanoseconds).toEqual(nanoseconds.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
  expect(Math.abs(Number(nanoseconds[0]) / 1e6 - Date.now())).toBeLessThan(600_000);
});

it("the span of a refused request shows how far it came, and only that of a failed one is an error", async () => {
  const receives = (await collectEverything()).spans("escrow_mirror.receive");
  const seen = receives.map(({ attributes, events, status }) => [
    attributes["escrow_mirror.outcome"],
    attributes["escrow_mirror.reason"],
    events.at(-1)?.name,
    status.code,
  ]);
  expect(seen).toEqual([
    ["applied", undefined, "notify", 0],
    ["duplicate", undefined, "notify", 0],
    ["quarantined", "not-json", "notify", 0],
    ["rejected", "signature-mismatch", "verify", 0],
    ["rejected", "method-not-allowed", "request", 0],
    ["failed", "raw-body-unavailable", "request", 2],
  ]);
});

it("each run of a job is a span of its own, with its attempt and result", async () => {
  const jobs = (await collectEverything()).spans("escrow_mirror.job");
  const seen = jobs.map(({ attributes, status }) => {
    const [handler, attempt, result] = ["handler", "attempt", "result"].map(
      (name) => attributes[`escrow_mirror.${name}`],
    );
    return [handler, attempt, result, status.code].join(" ");
  });
  expect(new Set(seen)).toEqual(
    new Set(["again 1 failed 2", "again 2 done 0", "dies 1 failed 2", "dies 2 dead 2", "ends 1 done 0"]),
  );
  expect(seen).toHaveLength(5);
});

it("the span of a delivery is below the caller's, and a handler's spans are below the job's, which has no parent", async () => {
  const { tracer, spans } = createCollector();
  const mirror = await openMirror({ telemetry: { tracer } });
  mirror.on("contract.created", () => tracer.startSpan("inner").end(), { name: "spans" });
  const outer = tracer.startSpan("outer");
  await context.with(trace.setSpan(context.active(), outer), () =>
    mirror.receive(delivery("contract.created")),
  );
  await mirror.idle();
  const [[receive], [job], [inner]] = ["escrow_mirror.receive", "escrow_mirror.job", "inner"].map(spans) as [
    ReturnType<typeof spans>,
    ReturnType<typeof spans>,
    ReturnType<typeof spans>,
  ];
  expect(receive?.parentSpanContext?.spanId).toBe(outer.spanContext().spanId);
  expect(job?.parentSpanContext).toBeUndefined();
  expect(inner?.parentSpanContext?.spanId).toBe(job?.spanContext().spanId);
});

it("the gauges of a closed mirror are read no more", async () => {
  const { meter, metrics } = createCollector();
  const store = createMemoryStore();
  let reads = 0;
  const read: Store["read"] = (work) => (reads++, store.read(work));
  const mirror = await openMirror({
    store: Object.create(store, { read: { value: read } }) as Store,
    telemetry: { meter },
  });
  const before = reads;
  await metrics();
  expect(reads).toBeGreaterThan(before);
  await mirror.close();
  const last = reads;
  await metrics();
  expect(reads).toBe(last);
});

it("the documented Prometheus names and labels are those of the text", async () => {
  const { mirror } = await runEverything();
  const text = await mirror.metrics();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => ({ name, kind }));
  expect(types).toEqual(docMetrics.map(({ prometheus, kind }) => ({ name: prometheus, kind })));
});
