import { describe, expect, it } from "vitest";
import { livesFrom, assertConverges } from "../../../src/testing.ts";
import { otherSecret } from "../../support/delivery.ts";

describe("livesFrom", () => {
  it("tells the same lives for the same seed, and others for another", () => {
    expect(livesFrom(7, 20)).toEqual(livesFrom(7, 20));
    expect(livesFrom(7, 20)).not.toEqual(livesFrom(8, 20));
  });

  it("has no contract twice, and every kind of record", () => {
    const lives = livesFrom(1, 200);
    expect(new Set(lives.map(({ contractId }) => contractId)).size).toBe(200);
    const truths = lives.map(({ truth }) => truth);
    for (const kind of ["refunds", "payments", "disputes"] as const)
      expect(truths.filter((truth) => truth[kind].length > 1).length).toBeGreaterThan(5);
    expect(new Set(truths.map(({ status }) => status)).size).toBeGreaterThan(6);
  });

  it("ends as its truth in every order, signed with a secret of one's own", async () => {
    const lives = livesFrom(2, 4, { secret: otherSecret });
    for (const life of lives) await assertConverges(life.deliveries, { lives: [life], secret: otherSecret });
    await assertConverges(
      lives.flatMap(({ deliveries }) => deliveries),
      { lives, secret: otherSecret },
    );
  });
});
