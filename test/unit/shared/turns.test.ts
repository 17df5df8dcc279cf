import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { createTurns } from "../../../src/handlers/runner/turns.ts";

it.each(Array.from({ length: 12 }, (_, steps) => steps))(
  "a turn that is asked for %i steps after the end of another is taken",
  async (steps) => {
    let taken = 0;
    const take = async (): Promise<void> => {
      if (++taken === 1) void askAfter(steps);
    };
    const askAfter = async (left: number): Promise<void> => {
      for (let step = 0; step < left; step++) await Promise.resolve();
      turns.soon();
    };
    const turns = createTurns(
      take,
      () => true,
      () => undefined,
    );
    turns.soon();
    await turns.over();
    await setImmediate();
    await turns.over();
    expect(taken).toBe(2);
  },
);

it("wishes that come together share one turn", async () => {
  let taken = 0;
  const turns = createTurns(
    async () => void taken++,
    () => true,
    () => undefined,
  );
  for (let wish = 0; wish < 5; wish++) turns.soon();
  await turns.over();
  expect(taken).toBe(1);
});
