import type { Span } from "@opentelemetry/api";
import { expect, it } from "vitest";
import type { TelemetryMeter, TelemetryTracer } from "../../src/index.ts";
import { recordingLogger } from "../support/mirror.ts";
import { createCollector } from "./collector.ts";
import { expectedCalls, expectedOutcomes, runEverything } from "./flow.ts";

/** The same object, of which the named method throws, and so do the methods of what the others return. */
function throwing<T extends object>(inner: T, isHit: (name: string) => boolean): T {
  return new Proxy(inner, {
    get(target, name: string) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...given: unknown[]): unknown => {
        if (isHit(name)) throw new Error(`${name} is broken`);
        const result: unknown = Reflect.apply(value, target, given);
        return typeof result === "object" && result !== null ? throwing(result, isHit) : result;
      };
    },
  });
}

const methods = [
  "startSpan",
  "startActiveSpan",
  "addEvent",
  "setAttributes",
  "setStatus",
  "end",
  "createCounter",
  "createHistogram",
  "createObservableGauge",
  "addBatchObservableCallback",
  "removeBatchObservableCallback",
  "add",
  "record",
];

it.each(methods)(
  "a tracer or a meter whose %s throws changes no answer and no run of a handler",
  async (method) => {
    const logger = recordingLogger();
    const { tracer, meter } = createCollector();
    const isHit = (name: string) => name === method;
    const telemetry = { tracer: throwing(tracer, isHit), meter: throwing(meter, isHit) };
    const { mirror, outcomes, calls } = await runEverything({ logger, telemetry });
    expect(outcomes).toEqual(expectedOutcomes);
    expect(calls).toEqual(expectedCalls);
    await mirror.close();
    expect(logger.lines.filter(({ message }) => /the tracer or the meter/.test(message)).length).toBeLessThan(
      2,
    );
  },
);

it("a tracer that calls the work twice, or throws after it, runs a handler once for each attempt", async () => {
  const { tracer } = createCollector();
  const startTwice = (name: string, options: object, run: (span: Span) => unknown): never => {
    tracer.startActiveSpan(name, options, run);
    tracer.startActiveSpan(name, options, run);
    throw new Error("twice is not enough");
  };
  const eager: TelemetryTracer = Object.create(tracer, { startActiveSpan: { value: startTwice } });
  expect((await runEverything({ telemetry: { tracer: eager } })).calls).toEqual(expectedCalls);
});

it("a tracer that never calls the work leaves the handlers running", async () => {
  const { tracer } = createCollector();
  const idle = {
    startSpan: tracer.startSpan.bind(tracer),
    startActiveSpan: () => undefined as never,
  } satisfies TelemetryTracer;
  expect((await runEverything({ telemetry: { tracer: idle } })).calls).toEqual(expectedCalls);
});

it("the log says once that telemetry fails, without the error's text", async () => {
  const logger = recordingLogger();
  const { tracer } = createCollector();
  await runEverything({ logger, telemetry: { tracer: throwing(tracer, (name) => name === "startSpan") } });
  const lines = logger.lines.filter(({ message }) => /the tracer or the meter/.test(message));
  expect(lines).toMatchObject([{ level: "warn", fields: { error: "Error" } }]);
  expect(JSON.stringify(lines)).not.toContain("is broken");
});

it.each([
  [{ tracer: {} }, /telemetry\.tracer: expected a tracer/],
  [{ meter: { createCounter() {} } }, /telemetry\.meter: expected a meter/],
  [{ traces: {} }, /"traces" is not an option here: the options are tracer, meter/],
])("createMirror refuses %j as telemetry", async (telemetry, message) => {
  const given = telemetry as { tracer?: TelemetryTracer; meter?: TelemetryMeter };
  await expect(runEverything({ telemetry: given })).rejects.toThrow(message);
});
