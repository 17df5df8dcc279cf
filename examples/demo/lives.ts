/**
 * Twenty contracts through whole lives. The sandbox plays the service; an Express server with a mirror receives its webhooks.
 * Some are duplicated, reordered or dropped. For an hour the receiver is down.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMirror, type Mirror, type Reconciled } from "escrow-mirror";
import { createClient } from "escrow-mirror/client";
import { expressWebhook } from "escrow-mirror/express";
import { createSandbox, manualClock, type ContractAction, type Sandbox } from "escrow-mirror/sandbox";
import { sqlite } from "escrow-mirror/sqlite";
import express from "express";
import { compare, type Comparison } from "./compare.ts";
import { connect, type Caller } from "./service-api.ts";

const contracts = 20;
const minuteMs = 60_000;

/** The steps of a contract's life. Every fifth contract has the same life. */
const lives: readonly (readonly Step[])[] = [
  ["approve", "pay", "release", "complete"],
  ["approve", "pay", "refund", "settle"],
  ["approve", "pay", "refund first milestone", "settle"],
  ["approve", "pay", "dispute", "refund", "settle"],
  ["reject"],
];

type Step = ContractAction | "refund" | "refund first milestone" | "settle";

export interface LivesReport extends Comparison {
  readonly faults: Readonly<Record<string, number>>;
  /** The comparison after `mirror.reconcile()`. */
  readonly reconciled: Pick<Reconciled, "checked" | "healed" | "drift"> & { readonly after: Comparison };
}

export async function runLives(print: (line: string) => void): Promise<LivesReport> {
  const folder = await mkdtemp(join(tmpdir(), "escrow-mirror-demo-"));
  const receiver = await startReceiver(0);
  const sandbox = await createSandbox({ clock: manualClock(), seed: 1, webhookUrl: receiver.url });
  const mirror = await createMirror({
    store: sqlite(join(folder, "escrow.db")),
    webhook: { secrets: sandbox.webhookSecret },
    client: createClient(sandbox),
  });
  receiver.mount(mirror);
  try {
    sandbox.faults.set({ duplicate: 0.3, reorder: 0.3, drop: 0.04 }, { seed: 4 });
    print(`The service: ${sandbox.baseUrl}. The receiver: ${receiver.url}`);
    await live(sandbox, receiver, print);
    const faults = { ...sandbox.faults.counts() };
    const before = await compare(sandbox, mirror);
    sandbox.faults.clear();
    const { checked, healed, drift } = await mirror.reconcile();
    const after = await compare(sandbox, mirror);
    return { ...before, faults, reconciled: { checked, healed, drift, after } };
  } finally {
    await sandbox.close();
    receiver.stop();
    await mirror.close();
    await rm(folder, { recursive: true });
  }
}

/** Step by step for all contracts at once; in the middle the receiver is down for an hour. */
async function live(sandbox: Sandbox, receiver: Receiver, print: (line: string) => void): Promise<void> {
  const caller = await connect(sandbox);
  const ids: string[] = [];
  for (let index = 0; index < contracts; index++) ids.push(await caller.createContract(index));
  await pass(sandbox, minuteMs);
  for (let step = 0; step < 5; step++) {
    if (step === 2) receiver.stop();
    for (const [index, id] of ids.entries())
      await take(sandbox, caller, id, lives[index % lives.length]?.[step]);
    // The first two steps come at once, so that a webhook can overtake another.
    if (step > 0) await pass(sandbox, step === 2 ? 60 * minuteMs : minuteMs);
    if (step !== 2) continue;
    await receiver.start();
    print("The receiver was down for an hour, and is back. The service retries what it could not deliver.");
  }
  await pass(sandbox, 120 * minuteMs);
}

async function take(sandbox: Sandbox, caller: Caller, id: string, step: Step | undefined): Promise<void> {
  if (step === undefined) return;
  const contract = await sandbox.contracts.get(id);
  if (step === "settle") {
    for (const refund of contract?.refunds ?? [])
      if (refund.state === "initiated") await sandbox.settleRefund(refund.refundId);
  } else if (step === "refund") await caller.refund(id);
  else if (step === "refund first milestone") await caller.refund(id, contract?.milestones[0]?.milestoneId);
  else await sandbox.act(id, step);
}

/** Moves the sandbox's clock, and delivers what becomes due. */
async function pass(sandbox: Sandbox, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += minuteMs) await sandbox.clock.advance(minuteMs);
  await sandbox.deliveries.idle();
}

interface Receiver {
  readonly url: string;
  mount(mirror: Mirror): void;
  start(): Promise<void>;
  stop(): void;
}

/** An Express server that can go away and come back on the same port. */
async function startReceiver(port: number): Promise<Receiver> {
  let server: Server;
  let mounted!: (mirror: Mirror) => void;
  const mirror = new Promise<Mirror>((resolve) => (mounted = resolve));
  const app = express().all("/webhooks/escrow", expressWebhook(mirror));
  const start = async (on: number): Promise<number> => {
    server = app.listen(on, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const bound = await start(port);
  return {
    url: `http://127.0.0.1:${bound}/webhooks/escrow`,
    mount: mounted,
    start: async () => void (await start(bound)),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
