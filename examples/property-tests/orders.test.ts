/** The shop, property-tested with vitest and fast-check. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { arbitraries, assertConverges, assertHandlerIdempotent } from "escrow-mirror/testing/fast-check";
import { registerHastyOrders, registerOrders } from "./orders.ts";

it("ships once and shows the right status, whatever arrives", async () => {
  const property = fc.asyncProperty(arbitraries.schedule(), async (deliveries) => {
    await assertConverges(deliveries, { register: registerOrders, orders: 2 });
    await assertHandlerIdempotent(registerOrders, deliveries);
  });
  await fc.assert(property, { numRuns: 10 });
});

it("finds that a hasty shop ships twice after a crash, by a short story", async () => {
  const property = fc.asyncProperty(arbitraries.schedule(), (deliveries) =>
    assertHandlerIdempotent(registerHastyOrders, deliveries),
  );
  const { counterexample, errorInstance } = await fc.check(property, { seed: 1, numRuns: 100 });
  expect((errorInstance as Error).message).toContain("every first attempt crashed after its side effect");
  expect(counterexample?.[0].length).toBeLessThan(5);
});

it("finds that a hasty shop trusts the order of arrival", async () => {
  const property = fc.asyncProperty(arbitraries.schedule(), (deliveries) =>
    assertConverges(deliveries, { register: registerHastyOrders }),
  );
  await expect(fc.assert(property, { seed: 1, numRuns: 100, endOnFailure: true })).rejects.toThrow(
    /Counterexample: \[\s+what happened/,
  );
});

it("does the same in node:test", async () => {
  const file = fileURLToPath(new URL("with-node-test.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", "--test", file]);
  expect(stdout).toMatch(/pass 2\n/);
});
