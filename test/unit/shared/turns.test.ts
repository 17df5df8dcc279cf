import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { createTurns } from "../../../src/shared/turns.ts";

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

it("a turn that fails is taken again, and who waits is told of the third failure in a row", async () => {
  const down = new Error("down");
  const told: unknown[] = [];
  let isDown = true;
  let taken = 0;
  const turns = createTurns(
    async () => {
      taken++;
      if (isDown) throw down;
    },
    () => true,
    (error) => told.push(error),
  );
  turns.soon();
  await expect(turns.over()).rejects.toBe(down);
  expect({ taken, told }).toEqual({ taken: 3, told: [down, down, down] });
  isDown = false;
  await turns.over();
  expect({ taken, told: told.length }).toEqual({ taken: 4, told: 3 });
});

it("a turn that fails is not taken again where none may be, and nobody waits for it", async () => {
  let taken = 0;
  const turns = createTurns(
    async () => {
      taken++;
      throw new Error("down");
    },
    () => false,
    () => undefined,
  );
  turns.soon();
  await turns.over();
  expect(taken).toBe(1);
});
