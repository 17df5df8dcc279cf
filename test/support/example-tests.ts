/** What holds for each framework's example: they are one shop, four times. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startExample, type RunningExample } from "./example.ts";

/** TypeScript is compiled on the way, and Nest is large. */
const startsWithinMs = 120_000;

export function exampleTests(main: URL): void {
  let example: RunningExample;

  beforeAll(async () => {
    example = await startExample(main);
  }, startsWithinMs);
  afterAll(async () => {
    // It ends by itself, since nothing is left open; Nest sends itself the signal once more in the end.
    expect([0, null]).toContain(await example.stop());
  }, startsWithinMs);

  it("stores a signed delivery, and shows the contract", async () => {
    expect(await example.request("/contracts/CNT-7")).toMatchObject([404, {}]);
    expect(await example.deliver("CNT-7")).toMatchObject([200, { outcome: "applied" }]);
    expect(await example.deliver("CNT-7")).toMatchObject([200, { outcome: "duplicate" }]);
    expect(await example.request("/contracts/CNT-7")).toMatchObject([200, { contractId: "CNT-7" }]);
  });

  it("answers 401 to what is not signed", async () => {
    expect(await example.request("/webhooks/escrow", "{}")).toEqual([401, { outcome: "rejected" }]);
  });

  it("answers 405 to a GET on the webhook", async () => {
    expect(await example.request("/webhooks/escrow")).toEqual([405, { outcome: "rejected" }]);
  });

  it("parses JSON on its other routes", async () => {
    expect(await example.request("/orders", '{"sku":1}')).toEqual([201, { order: { sku: 1 } }]);
  });

  it("tells its health", async () => {
    expect(await example.request("/health")).toMatchObject([200, { ok: true }]);
  });
}
