/** Two processes with a watchdog each: one makes the calls, and one that is killed is followed. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildChild } from "../simulation/processes.ts";
import { report, secondsSince } from "../simulation/report.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";
import { openStage, startProcess } from "./processes.ts";

const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-watchdogs-"));
const deaths = process.env["SOAK"] === undefined ? 3 : 30;
let child: string;

beforeAll(async () => {
  child = await buildChild("../healing/child");
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Counts the calls of the subscription that one process makes. */
async function openCounter(baseUrl: string) {
  const counts = { reads: 0, updates: 0 };
  const server = createServer((incoming, response) => {
    if (incoming.url === "/apps/api/webhooks") counts[incoming.method === "GET" ? "reads" : "updates"]++;
    const { hostname, port } = new URL(baseUrl);
    const { method, url, headers } = incoming;
    const passed = request({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    incoming.pipe(passed);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    counts,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const databases: readonly (readonly [string, () => string])[] = [
  ["an SQLite file", () => join(folder, "watchdogs.db")],
  ["Postgres", () => `${postgresUrl}#${freshSchema()}`],
];

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

it.each(databases)(
  "of two watchdogs on %s one makes the calls, and a killed one is followed",
  { timeout: 60_000 + deaths * 20_000 },
  async (where, place) => {
    const start = performance.now();
    const database = place();
    const stage = await openStage(join(folder, `${Math.random()}.secret`), { disableAfter: 10 });
    const begin = async () => {
      const counter = await openCounter((stage.api as { baseUrl: string }).baseUrl);
      const api = { ...stage.api, baseUrl: counter.baseUrl };
      const settings = { database, secretFile: stage.secretFile, api, watch: { everyMs: 50 } };
      return { counter, process: await startProcess(child, settings) };
    };
    let [leader, follower] = [await begin(), await begin()];
    const followedMs: number[] = [];
    await until(() => leader.counter.counts.reads + follower.counter.counts.reads > 0);
    for (let death = 0; death < deaths; death++) {
      if (follower.counter.counts.reads > 0) [leader, follower] = [follower, leader];
      await until(() => leader.counter.counts.reads >= 10);
      expect(follower.counter.counts.reads).toBe(0);
      await leader.process.kill();
      const killedAt = performance.now();
      await until(() => follower.counter.counts.reads > 0);
      followedMs.push(performance.now() - killedAt);
      leader.counter.close();
      leader = await begin();
    }
    const counts = {
      deaths,
      "longest until followed, ms": Math.round(Math.max(...followedMs)),
      "lease, ms": 400,
    };
    report({ what: `watchdogs on ${where}`, seed: 0, seconds: secondsSince(start), counts });
    for (const { process, counter } of [leader, follower]) {
      await process.kill();
      counter.close();
    }
    await stage.close();
  },
);
