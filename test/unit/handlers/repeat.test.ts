import { expect, it } from "vitest";
import { repeat } from "../../../src/handlers/runner/repeat.ts";

it("work that is repeated never runs twice at once, though its wait is counted anew while it runs", async () => {
  let runs = 0;
  let under = 0;
  let most = 0;
  let enough!: () => void;
  const done = new Promise<void>((resolve) => (enough = resolve));
  const repeated = repeat(
    async () => {
      most = Math.max(most, ++under);
      repeated.restart();
      await new Promise((resolve) => setTimeout(resolve, 2));
      under--;
      if (++runs === 5) enough();
    },
    () => 0,
  );
  await done;
  repeated.stop();
  expect(most).toBe(1);
});

it("work that fails is repeated", async () => {
  let runs = 0;
  await new Promise<void>((resolve) => {
    const repeated = repeat(
      async () => {
        if (++runs < 3) throw new Error("away");
        repeated.stop();
        resolve();
      },
      () => 0,
    );
  });
  expect(runs).toBe(3);
});
