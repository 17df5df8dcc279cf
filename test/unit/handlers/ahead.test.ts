import { expect, it } from "vitest";
import { aheadOf } from "../../../src/handlers/runner/ahead.ts";

it.each([
  { what: "nothing after a rest", ended: 0, sinceMs: 4, ahead: 0 },
  { what: "nothing behind jobs that take long", ended: 1, sinceMs: 21, ahead: 0 },
  { what: "what starts within 20 ms", ended: 8, sinceMs: 16, ahead: 10 },
  { what: "no more than 56", ended: 8, sinceMs: 1, ahead: 56 },
  { what: "no more than 56 where no time has passed", ended: 8, sinceMs: 0, ahead: 56 },
])("$what is claimed ahead", ({ ended, sinceMs, ahead }) => {
  expect(aheadOf(ended, sinceMs)).toBe(ahead);
});
