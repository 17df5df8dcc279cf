/**
 * `npm run bench:sandbox`: token, create and get at 64 connections against a bare node:http server that parses and
 * answers JSON, turn by turn in one run; and 100,000 pending retries without a timer each. Fails below its targets.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { z } from "zod";

import { createSandbox, manualClock } from "../../src/sandbox.ts";
import { measure, toShot } from "./sandbox-client.ts";
import type { Shot } from "./sandbox-client.ts";

const connections = 64;
const roundMs = Number(process.env["ROUND_MS"] ?? 1_500);
const rounds = 3;
const shareMin = 0.25;
const retries = 100_000;

const serverLine = z.object({
  baseUrl: z.string(),
  clientId: z.string().default(""),
  clientSecret: z.string().default(""),
});

const contract = JSON.stringify({
  title: "Website",
  contractServiceType: "Service",
  amount: 1000,
  reference: "order-77",
  BuyerParty: { phoneNumber: "+966500000001", firstName: "Alia", lastName: "Hassan" },
  SellerParty: { phoneNumber: "+966500000002", firstName: "Badr", lastName: "" },
});

async function startServer(kind: "bare" | "sandbox") {
  const path = new URL("sandbox-server.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--import", "tsx", path, kind], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { child, ...serverLine.parse(JSON.parse(String(line))) };
}

interface Race {
  name: string;
  sandbox: Shot;
  bare: Shot;
}

async function toRaces(baseUrl: string, clientId: string, clientSecret: string): Promise<Race[]> {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
  });
  const token = z.object({ access_token: z.string() });
  const issued = await fetch(`${baseUrl}/connect/token`, { method: "POST", body: form });
  const auth = { Authorization: `Bearer ${token.parse(await issued.json()).access_token}` };
  const json = { ...auth, "Content-Type": "application/json" };
  const made = await fetch(`${baseUrl}/apps/api/contracts`, {
    method: "POST",
    headers: json,
    body: contract,
  });
  const answer = z.object({ data: z.object({ contractId: z.string() }) }).parse(await made.json());
  const urlencoded = { "Content-Type": "application/x-www-form-urlencoded" };
  return [
    {
      name: "token",
      sandbox: toShot("POST", "/connect/token", urlencoded, form.toString()),
      bare: toShot("POST", "/", json, JSON.stringify(Object.fromEntries(form))),
    },
    {
      name: "create",
      sandbox: toShot("POST", "/apps/api/contracts", json, contract),
      bare: toShot("POST", "/", json, contract),
    },
    {
      name: "get",
      sandbox: toShot("GET", `/apps/api/contracts/${answer.data.contractId}`, auth),
      bare: toShot("GET", "/", auth),
    },
  ];
}

/** The median of turns taken one after the other, so that a neighbour's work hits both alike. */
async function race({ name, sandbox, bare }: Race, sandboxUrl: string, bareUrl: string): Promise<boolean> {
  const rates: { sandbox: number; bare: number; share: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const theirs = (await measure(bareUrl, bare, connections, roundMs)).perSecond;
    const ours = (await measure(sandboxUrl, sandbox, connections, roundMs)).perSecond;
    rates.push({ sandbox: ours, bare: theirs, share: ours / theirs });
  }
  const median = [...rates].sort((a, b) => a.share - b.share)[Math.floor(rounds / 2)];
  if (median === undefined) return false;
  const row = [name.padEnd(8), String(median.sandbox).padStart(10), String(median.bare).padStart(10)];
  console.log(`${row.join("")}${median.share.toFixed(2).padStart(9)}×  (at least ${shareMin}×)`);
  return median.share >= shareMin;
}

/** Counts the timers that the process holds while 100,000 deliveries wait for their second attempt. */
async function pendingRetries(): Promise<boolean> {
  const clock = manualClock();
  const sandbox = await createSandbox({ clock, webhookUrl: "http://127.0.0.1:9/", retryDelaysMs: [1e9] });
  const { Schedule } = await import("../../src/sandbox/schedule.ts");
  const startedMs = performance.now();
  const schedule = new Schedule<number>();
  for (let index = 0; index < retries; index++) schedule.add((index * 7_919) % 3_600_000, index);
  const scheduledMs = performance.now() - startedMs;
  let out = 0;
  while (schedule.takeDue(Infinity) !== undefined) out++;
  const takenMs = performance.now() - startedMs - scheduledMs;
  await sandbox.close();
  console.log(
    `${retries} in the heap: ${scheduledMs.toFixed(0)} ms in, ${takenMs.toFixed(0)} ms out in order`,
  );
  return out === retries && (await liveRetries());
}

/** The same with whole deliveries, on a real clock, whose first attempts an hour's delay keeps back. */
async function liveRetries(): Promise<boolean> {
  const sandbox = await createSandbox({ webhookUrl: "http://127.0.0.1:9/" });
  sandbox.faults.set({ delayMs: [3_600_000, 7_200_000] });
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: sandbox.clientId,
    client_secret: sandbox.clientSecret,
  });
  const issued = await (
    await fetch(`${sandbox.authUrl}/connect/token`, { method: "POST", body: form })
  ).json();
  const token = z.object({ access_token: z.string() }).parse(issued).access_token;
  const shot = toShot("POST", "/apps/api/webhooks/test", { Authorization: `Bearer ${token}` });
  const timersBefore = countTimers();
  const startedMs = performance.now();
  while (sandbox.deliveries.pending() < retries) await measure(sandbox.baseUrl, shot, connections, 500);
  const tookMs = performance.now() - startedMs;
  const timers = countTimers() - timersBefore;
  const heapMb = Math.round(process.memoryUsage().heapUsed / 1_048_576);
  console.log(
    `${sandbox.deliveries.pending()} deliveries pending after ${(tookMs / 1_000).toFixed(1)} s: ${timers} timers more, ${heapMb} MB heap`,
  );
  await sandbox.close();
  // One of the engine, and a few of node:http's own.
  return timers < 10;
}

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

const children: ChildProcess[] = [];
try {
  const [bare, sandbox] = [await startServer("bare"), await startServer("sandbox")];
  children.push(bare.child, sandbox.child);
  console.log(
    `${connections} connections, median of ${rounds} turns of ${roundMs} ms each, requests a second`,
  );
  console.log(`${"".padEnd(8)}${"sandbox".padStart(10)}${"bare".padStart(10)}${"share".padStart(10)}`);
  let good = true;
  for (const one of await toRaces(sandbox.baseUrl, sandbox.clientId, sandbox.clientSecret)) {
    good = (await race(one, sandbox.baseUrl, bare.baseUrl)) && good;
  }
  good = (await pendingRetries()) && good;
  if (!good) process.exitCode = 1;
} finally {
  for (const child of children) child.kill();
}
