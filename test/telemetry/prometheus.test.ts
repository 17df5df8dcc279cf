import { expect, it } from "vitest";
import { createCounts } from "../../src/telemetry/counts.ts";
import { instruments } from "../../src/telemetry/instruments.ts";
import { toPrometheus } from "../../src/telemetry/prometheus.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, storeKinds } from "../support/mirror.ts";
import { docMetrics } from "./documented.ts";
import { readExposition, type Family } from "./exposition.ts";
import { runEverything, sentinels } from "./flow.ts";

function samplesOf(families: readonly Family[], name: string): Record<string, number> {
  const samples = families.flatMap((family) => family.samples).filter((sample) => sample.name === name);
  return Object.fromEntries(
    samples.map(({ labels, value }) => [
      Object.entries(labels)
        .map(([label, text]) => `${label}=${text}`)
        .join(),
      value,
    ]),
  );
}

it.each(storeKinds)(
  "the text of a mirror on %s is Prometheus's format and has the documented series",
  async (_, create) => {
    const { mirror } = await runEverything({ store: create() });
    const families = readExposition(await mirror.metrics());
    expect(families.map(({ name }) => name)).toEqual(docMetrics.map(({ prometheus }) => prometheus));
    expect(samplesOf(families, "escrow_mirror_deliveries_total")).toEqual({
      "outcome=applied": 1,
      "outcome=duplicate": 1,
      "outcome=quarantined,reason=not-json": 1,
      "outcome=rejected,reason=signature-mismatch": 1,
      "outcome=rejected,reason=method-not-allowed": 1,
      "outcome=failed,reason=raw-body-unavailable": 1,
    });
    expect(samplesOf(families, "escrow_mirror_job_runs_total")).toEqual({
      "handler=ends,result=done": 1,
      "handler=again,result=failed": 1,
      "handler=again,result=done": 1,
      "handler=dies,result=failed": 1,
      "handler=dies,result=dead": 1,
    });
    expect(samplesOf(families, "escrow_mirror_jobs")).toEqual({
      "state=due": 0,
      "state=waiting": 0,
      "state=running": 0,
      "state=dead": 1,
    });
    expect(samplesOf(families, "escrow_mirror_quarantined")).toEqual({ "": 1 });
    expect(samplesOf(families, "escrow_mirror_healthy")).toEqual({ "": 1 });
    const { warnings, lastDeliveryAt } = await mirror.health();
    expect(samplesOf(families, "escrow_mirror_warnings")).toEqual({ "": warnings.length });
    expect(samplesOf(families, "escrow_mirror_last_delivery_timestamp_seconds")).toEqual({
      "": Date.parse(lastDeliveryAt ?? "") / 1000,
    });
  },
);

it("each answered request is in the histogram of its outcome, and each commit in those of commits", async () => {
  const { mirror } = await runEverything();
  const families = readExposition(await mirror.metrics());
  expect(samplesOf(families, "escrow_mirror_receive_duration_seconds_count")).toEqual({
    "outcome=applied": 1,
    "outcome=duplicate": 1,
    "outcome=quarantined": 1,
    "outcome=rejected": 2,
    "outcome=failed": 1,
  });
  expect(samplesOf(families, "escrow_mirror_commit_size_sum")).toEqual({ "": 3 });
  expect(samplesOf(families, "escrow_mirror_commit_duration_seconds_count")).toEqual({ "": 3 });
});

it("the text has no secret, no signature, no payload, no error's text and no id", async () => {
  const { mirror } = await runEverything();
  const text = await mirror.metrics();
  expect(sentinels.filter((sentinel) => text.includes(sentinel))).toEqual([]);
  expect(text).not.toMatch(/CNT-1|wh-/);
});

it("an empty mirror names every metric, and says nothing of a delivery that has not come", async () => {
  const families = readExposition(await (await openMirror()).metrics());
  expect(families.map(({ name }) => name)).toEqual(docMetrics.map(({ prometheus }) => prometheus));
  expect(samplesOf(families, "escrow_mirror_last_delivery_timestamp_seconds")).toEqual({});
});

it("while the store can't be read, its gauges are absent and the mirror is not healthy", async () => {
  const inner = createMemoryStore();
  let isDown = false;
  const store = new Proxy(inner, {
    get: (target, name) =>
      isDown && (name === "read" || name === "transaction")
        ? refuseAll
        : (Reflect.get(target, name) as unknown),
  });
  const mirror = await openMirror({ store });
  await mirror.receive(delivery("contract.created"));
  isDown = true;
  const families = readExposition(await mirror.metrics());
  expect(samplesOf(families, "escrow_mirror_healthy")).toEqual({ "": 0 });
  for (const name of ["jobs", "quarantined", "last_delivery_timestamp_seconds"])
    expect(samplesOf(families, `escrow_mirror_${name}`)).toEqual({});
  expect(samplesOf(families, "escrow_mirror_deliveries_total")).toEqual({ "outcome=applied": 1 });
});

it.each(['quote"', "back\\slash", "two\nlines", "\\n", 'all"\\\n{}=,', "عربي"])(
  "a handler's name %j comes through the format as it is",
  (handler) => {
    const counts = createCounts();
    counts.record(instruments.jobRuns, 1, { handler, result: "done" });
    const families = readExposition(toPrometheus(counts.all, []));
    const [sample] = families.flatMap(({ samples }) => samples);
    expect(sample).toEqual({
      name: "escrow_mirror_job_runs_total",
      labels: { handler, result: "done" },
      value: 1,
    });
  },
);

it("a value on a bound is in that bound's bucket, and one above all is only in the last", () => {
  const counts = createCounts();
  for (const size of [1, 2, 3, 256, 257]) counts.record(instruments.commitSize, size, {});
  const families = readExposition(toPrometheus(counts.all, []));
  const buckets = samplesOf(families, "escrow_mirror_commit_size_bucket");
  expect(buckets).toMatchObject({ "le=1": 1, "le=2": 2, "le=4": 3, "le=256": 4, "le=+Inf": 5 });
});

it("names without end share one series, so that they can't fill the memory", () => {
  const counts = createCounts();
  for (let at = 0; at < 2500; at++)
    counts.record(instruments.jobRuns, 1, { handler: `h${at}`, result: "done" });
  const families = readExposition(toPrometheus(counts.all, []));
  const samples = samplesOf(families, "escrow_mirror_job_runs_total");
  expect(Object.keys(samples)).toHaveLength(2001);
  expect(samples["overflow=true"]).toBe(500);
});

async function refuseAll(): Promise<never> {
  throw new Error("the disk is gone");
}
