import type { Meter, Tracer } from "@opentelemetry/api";
import { expectTypeOf, it } from "vitest";
import type { TelemetryOptions } from "../../src/telemetry/open-telemetry.ts";

it("a tracer and a meter of @opentelemetry/api fit the option telemetry without a cast", () => {
  expectTypeOf<{ tracer: Tracer; meter: Meter }>().toExtend<TelemetryOptions>();
});
