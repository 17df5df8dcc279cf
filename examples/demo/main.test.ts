import { describe, expect, it } from "vitest";
import { runLives } from "./lives.ts";
import { printLives } from "./print.ts";
import { runRecorded } from "./recorded.ts";
import { next, partOne, partTwo } from "./texts.ts";

const widerThanMost = (text: string): string[] => text.split("\n").filter((line) => line.length > 100);

describe("the demo", () => {
  it("applies, quarantines or recognises each recorded delivery, and prints it", async () => {
    const lines: string[] = [];
    const outcomes = await runRecorded((line) => lines.push(line));
    const count = (outcome: string): number => outcomes.filter((each) => each === outcome).length;
    expect([count("applied"), count("quarantined"), count("duplicate")]).toEqual([8, 3, 11]);
    const text = lines.join("\n");
    expect(widerThanMost(text)).toEqual([]);
    expect(text).toMatch(
      /4521 .*CNT-2604-00100002.*1000\.00 SAR.*2026-04-14T14:30:00Z.*2026-04-14T15:05:00Z/,
    );
    expect(text).toContain("ambiguous-field: one key appears twice, with two values");
  });

  it("prints the same contracts, refunds, history and quarantine whatever the order", async () => {
    const first = await tellRecorded();
    expect(first).toContain("The history of");
    expect(first).toContain("wh-V5");
    expect(await tellRecorded()).toBe(first);
  });

  it("ends with every contract equal to the service's, once it has read what dropped webhooks did not tell", async () => {
    const report = await runLives(() => {});
    expect(report.sides).toHaveLength(20);
    expect(report.unexplained).toEqual([]);
    for (const fault of ["duplicate", "reorder", "drop"]) expect(report.faults[fault]).toBeGreaterThan(0);
    expect(report.reconciled.after.sides.filter(({ equal }) => !equal)).toEqual([]);
    const lines = [partOne, partTwo, next];
    printLives(report, (line) => lines.push(line));
    expect(widerThanMost(lines.join("\n"))).toEqual([]);
    for (const { contractId, equal } of report.sides)
      if (!equal) expect(lines.join("\n")).toContain(`${contractId} differs`);
  });
});

async function tellRecorded(): Promise<string> {
  const lines: string[] = [];
  await runRecorded((line) => lines.push(line));
  return /The contracts[^]*/.exec(lines.join("\n"))?.[0] ?? "";
}
