/** The shop, tested with node:test and without fast-check: `node --import tsx --test with-node-test.ts` */
import { rejects } from "node:assert/strict";
import { test } from "node:test";
import { assertConverges, assertHandlerIdempotent, livesFrom } from "escrow-mirror/testing";
import { registerHastyOrders, registerOrders } from "./orders.ts";

const lives = livesFrom(1, 10);
const deliveries = lives.flatMap((life) => life.deliveries);

void test("ships once and shows the right status, whatever arrives", async () => {
  const statuses = Object.fromEntries(lives.map(({ contractId, truth }) => [contractId, truth.status]));
  const parcels = lives.flatMap(({ contractId, truth }) =>
    truth.payments.filter(({ milestoneId }) => milestoneId === null).map(() => contractId),
  );
  const expected = { parcels: parcels.sort(), statuses };
  await assertConverges(deliveries, { lives, register: registerOrders, expected });
  await assertHandlerIdempotent(registerOrders, deliveries);
});

void test("finds both mistakes of the hasty shop", async () => {
  await rejects(assertHandlerIdempotent(registerHastyOrders, deliveries), /crashed after its side effect/);
  await rejects(assertConverges(deliveries, { register: registerHastyOrders }), /another order changes/);
});
