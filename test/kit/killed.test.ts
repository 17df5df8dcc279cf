/**
 * The kit against the library in a process of its own, on a file and on Postgres. `restart` kills that process where it is.
 * So "200 before commit" shows, which no test within one process can see.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { receiverConformance, type ConformanceReport, type Observation } from "../../src/testing.ts";
import { buildChild, secret, startReceiver, type Receiver } from "../simulation/processes.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";
import { expectConforming } from "./conforming.ts";

const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-killed-"));
let bundle: string;

beforeAll(async () => {
  bundle = await buildChild("../kit/killable-child");
});

afterAll(() => rmSync(folder, { recursive: true }));

const databases: readonly (readonly [string, (name: string) => string])[] = [
  ["an SQLite file", (name) => join(folder, `${name}.db`)],
  ["Postgres", () => `${postgresUrl}#${freshSchema()}`],
];

/** It posts a hundred deliveries and starts four processes. */
const timeout = 600_000;

it.each(databases)(
  "the library on %s holds every check, killed three times",
  { timeout },
  async (_, place) => {
    const { report, kills } = await judge(place("careful"), "careful");
    expectConforming(report);
    expect(kills).toBe(3);
  },
);

it.each(databases)(
  "a receiver on %s that answers 200 before it commits is found out",
  { timeout },
  async (_, place) => {
    const { report, kills } = await judge(place("late"), "late");
    expect(report.checks.filter(({ ok }) => !ok)).toEqual([
      {
        name: "what was answered 2xx is there after a crash",
        ok: false,
        expected: "the contract, as before the crash",
        got: "nothing after crash 1",
        advice: "Commit before you answer: a 2xx that is not durable is an event lost.",
      },
    ]);
    expect(kills).toBe(1);
  },
);

interface Judged {
  readonly report: ConformanceReport;
  /** How often the process was killed and started again. */
  readonly kills: number;
}

async function judge(place: string, manner: "careful" | "late"): Promise<Judged> {
  const start = (port: number): Promise<Receiver> => startReceiver(bundle, place, String(port), manner);
  let process = await start(0);
  let kills = 0;
  const { port } = process;
  const url = `http://127.0.0.1:${port}/`;
  const observe = async (contractId: string): Promise<Observation | undefined> => {
    const answer = await fetch(`${url}?${contractId}`, { headers: { Connection: "close" } });
    return ((await answer.json()) as Observation | null) ?? undefined;
  };
  const restart = async (): Promise<void> => {
    await process.kill();
    kills += 1;
    process = await start(port);
  };
  try {
    const report = await receiverConformance(url, { secret, observe, restart });
    return { report, kills };
  } finally {
    await process.kill();
  }
}
