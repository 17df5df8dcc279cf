/**
 * The library under the suite that an integrator gets: nothing here is used but the kit and the public surface. `npm run mutants`
 * plants faults in the core, and each must be noticed here.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeWebhook } from "../../adapters/node.ts";
import { createMirror, type Mirror, type Store } from "../../src/index.ts";
import {
  assertConverges,
  assertHandlerIdempotent,
  createTestMirror,
  livesFrom,
  recordedDeliveries,
  receiverConformance,
  testSecret,
} from "../../src/testing.ts";
import { arbitraries } from "../../src/testing-fast-check.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { expectConforming } from "./conforming.ts";
import { observeMirror } from "./observe-mirror.ts";
import { register, stateOf } from "./sample/handlers.ts";
import { startServer } from "./serve.ts";

const scale = Number(process.env["KIT_SCALE"] ?? 1);

describe("the mirror under the kit", () => {
  it("ends as the truth of lives, whatever the order, the duplicates and the crashes", async () => {
    // The second seed has a life with two disputes that have no id, on one target.
    for (const life of [...livesFrom(1, 12 * scale), ...livesFrom(105, 7).slice(-1)])
      await assertConverges(life.deliveries, { lives: [life], orders: 2 });
    const several = livesFrom(2, 5);
    const deliveries = several.flatMap((life) => life.deliveries);
    await assertConverges(deliveries, { lives: several, register, expected: stateOf(several) });
    await assertHandlerIdempotent(register, deliveries);
  });

  it.each(["complete", "skewed", "wild"] as const)(
    "converges for schedules of the %s manner",
    async (manner) => {
      const schedules = arbitraries.schedule({
        manner,
        contractsMax: 2,
        sharedRefundIds: manner === "wild",
        stepsMax: 14,
      });
      const property = fc.asyncProperty(schedules, (deliveries) =>
        assertConverges(deliveries, { orders: 2 }),
      );
      await fc.assert(property, { numRuns: 25 * scale, seed: 2026, endOnFailure: true });
    },
  );

  it("converges for what was recorded, and answers what is hostile", async () => {
    await assertConverges(recordedDeliveries, { orders: 8 });
    const { mirror, deliver } = await createTestMirror();
    for (const delivery of recordedDeliveries) await deliver(delivery);
    const property = fc.asyncProperty(arbitraries.hostile(), async ({ isAuthentic, ...request }) => {
      expect((await mirror.receive(request)).status).toBe(isAuthentic ? 200 : 401);
    });
    await fc.assert(property, { numRuns: 200 * scale, seed: 2026, endOnFailure: true });
    await mirror.close();
  });

  it("holds every check of a receiver, over HTTP", async () => {
    const disk = createMemoryStore();
    let process = await startProcess(disk);
    const server = await startServer(
      (request, response) => void nodeWebhook(process.mirror)(request, response),
    );
    const report = await receiverConformance(server.url, {
      secret: testSecret,
      timeoutMs: 10_000,
      observe: (contractId) => observeMirror(process.mirror, contractId),
      restart: async () => {
        process.kill();
        process = await startProcess(disk);
      },
    });
    await server.close();
    await process.mirror.close();
    expectConforming(report);
  });
});

/** A mirror that can be killed: what it has not committed by then never is. */
async function startProcess(disk: Store): Promise<{ readonly mirror: Mirror; kill(): void }> {
  let isDead = false;
  const transaction: Store["transaction"] = (work) =>
    isDead ? new Promise(() => {}) : disk.transaction(work);
  const store = Object.create(disk, { transaction: { value: transaction } }) as Store;
  const mirror = await createMirror({ store, logger: silentLogger, webhook: { secrets: testSecret } });
  return { mirror, kill: () => (isDead = true) };
}
