/** The kit against an order service's handlers: careful ones hold. `npm run mutants` plants faults in them. */
import { it } from "vitest";
import { assertConverges, assertHandlerIdempotent, livesFrom } from "../../src/testing.ts";
import { register, stateOf } from "./sample/handlers.ts";

it("a careful order service ends as the truth, whatever the order, the duplicates and the crashes", async () => {
  const lives = livesFrom(11, 8);
  const deliveries = lives.flatMap((life) => life.deliveries);
  await assertConverges(deliveries, { lives, register, expected: stateOf(lives) });
  await assertHandlerIdempotent(register, deliveries);
});
