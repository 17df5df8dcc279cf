/**
 * `npm run bench:sandbox`: token, create and get at 64 connections against a bare node:http server that parses and
 * answers JSON, turn by turn in one run; and 100,000 pending retries without a timer each. Fails below its targets.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { z } from "zod";

import { createSandbox } from "../../../src/sandbox.ts";
import { measure, toShot } from "./client.ts";
import type { Shot } from "./client.ts";

const connections = 64;
const turnMs = Number(process.env["TURN_MS"] ?? 500);
const turns = 7;
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

async function startServer(kind: "bare" | "sandbox"): Promise<Server> {
  const path = new URL("server.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--import", "tsx", path, kind], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  if (child.stdout === null) throw new Error("The server has no output.");
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { child, ...serverLine.parse(JSON.parse(String(line))) };
}

interface Client {
  baseUrl: string;
  clientId: string;
  clientSecret: string;
}

type Server = Client & { child: ChildProcess };

async function requestToken({ baseUrl, clientId, clientSecret }: Client) {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
  });
  const answer = await fetch(`${baseUrl}/connect/token`, { method: "POST", body: form });
  return { form, token: z.object({ access_token: z.string() }).parse(await answer.json()).access_token };
}

async function createContract(client: Client): Promise<string> {
  const headers = {
    Authorization: `Bearer ${(await requestToken(client)).token}`,
    "Content-Type": "application/json",
  };
  const made = await fetch(`${client.baseUrl}/apps/api/contracts`, {
    method: "POST",
    headers,
    body: contract,
  });
  return z.object({ data: z.object({ contractId: z.string() }) }).parse(await made.json()).data.contractId;
}

interface Race {
  name: string;
  sandbox: Shot;
  bare: Shot;
}

async function toRaces(server: Server): Promise<Race[]> {
  const { form, token } = await requestToken(server);
  const auth = { Authorization: `Bearer ${token}` };
  const json = { ...auth, "Content-Type": "application/json" };
  const contractId = await createContract(server);
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
      sandbox: toShot("GET", `/apps/api/contracts/${contractId}`, auth),
      bare: toShot("GET", "/", auth),
    },
  ];
}

interface Turn {
  perSecond: number;
  /** What the server itself used for one request, in microseconds: neighbours on the machine change it little. */
  cpuUs: number;
}

async function takeTurn({ child, baseUrl }: Server, shot: Shot): Promise<Turn> {
  const before = await cpuOf(child);
  const { perSecond, requests } = await measure(baseUrl, shot, connections, turnMs);
  return { perSecond, cpuUs: ((await cpuOf(child)) - before) / requests };
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send("cpu");
  const [usage] = await once(child, "message");
  const { user, system } = z.object({ user: z.number(), system: z.number() }).parse(usage);
  return user + system;
}

/** Turns taken one after the other, so that a neighbour's work hits both alike; the first warms up. */
async function race(
  { name, sandbox: ours, bare: theirs }: Race,
  sandbox: Server,
  bare: Server,
): Promise<boolean> {
  const pairs: { ours: Turn; theirs: Turn }[] = [];
  for (let turn = 0; turn <= turns; turn++) {
    pairs.push({ theirs: await takeTurn(bare, theirs), ours: await takeTurn(sandbox, ours) });
  }
  const counted = pairs.slice(1);
  const rates = [
    median(counted.map((pair) => pair.ours.perSecond)),
    median(counted.map((pair) => pair.theirs.perSecond)),
  ];
  const costs = [
    median(counted.map((pair) => pair.ours.cpuUs)),
    median(counted.map((pair) => pair.theirs.cpuUs)),
  ];
  const share = median(counted.map((pair) => pair.ours.perSecond / pair.theirs.perSecond));
  const cells = [
    ...rates.map(String),
    `${share.toFixed(2)}×`,
    ...costs.map((cost) => `${cost.toFixed(0)} µs`),
  ];
  console.log(name.padEnd(8) + cells.map((cell) => cell.padStart(11)).join(""));
  return share >= shareMin;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** 100,000 webhooks that wait for an attempt, and the timers that the process holds for them. */
async function pendingAttempts(): Promise<boolean> {
  const sandbox = await createSandbox({ edition: "earlier", webhookUrl: "http://127.0.0.1:9/" });
  sandbox.faults.set({ delayMs: [3_600_000, 7_200_000] });
  const contractId = await createContract(sandbox);
  await sandbox.act(contractId, "pay");
  const timersBefore = countTimers();
  const startedMs = performance.now();
  while (sandbox.deliveries.pending() < retries) await sandbox.act(contractId, "deliver");
  const tookMs = performance.now() - startedMs;
  const timers = countTimers() - timersBefore;
  const heapMb = Math.round(process.memoryUsage().heapUsed / 1_048_576);
  console.log(
    `${sandbox.deliveries.pending()} webhooks pending: ${tookMs.toFixed(0)} ms, ${timers} timers more, ${heapMb} MB of heap`,
  );
  await sandbox.close();
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
    `${connections} connections, median of ${turns} turns of ${turnMs} ms; at least ${shareMin}× the bare server's`,
  );
  const heads = ["sandbox/s", "bare/s", "share", "CPU each", "bare's"];
  console.log("".padEnd(8) + heads.map((head) => head.padStart(11)).join(""));
  let good = true;
  for (const one of await toRaces(sandbox)) good = (await race(one, sandbox, bare)) && good;
  for (const { child } of [bare, sandbox]) child.kill();
  good = (await pendingAttempts()) && good;
  if (!good) process.exitCode = 1;
} finally {
  for (const child of children) child.kill();
}
