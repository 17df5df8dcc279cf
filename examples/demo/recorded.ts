/**
 * Recorded deliveries over HTTP, to an Express server with a mirror on an SQLite file. Each is sent twice, in shuffled
 * order. Then the mirror's contents are printed.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMirror } from "escrow-mirror";
import { expressWebhook } from "escrow-mirror/express";
import { sqlite } from "escrow-mirror/sqlite";
import express from "express";
import { printMirror } from "./print.ts";

export interface Recorded {
  readonly what: string;
  readonly bodyBase64: string;
  readonly headers: Record<string, string>;
}

/** Runs the demo. Returns the answers in the order of sending. */
export async function runRecorded(print: (line: string) => void): Promise<string[]> {
  const { secret, deliveries } = readRecorded();
  const folder = await mkdtemp(join(tmpdir(), "escrow-mirror-demo-"));
  const mirror = await createMirror({
    store: sqlite(join(folder, "escrow.db")),
    webhook: { secrets: secret },
  });
  const server = express().all("/webhooks/escrow", expressWebhook(mirror)).listen(0, "127.0.0.1");
  try {
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/escrow`;
    print(`The receiver: ${url}, with an SQLite file\n`);
    const outcomes = await sendShuffled(url, [...deliveries, ...deliveries], print);
    const count = (outcome: string): number => outcomes.filter((each) => each === outcome).length;
    print(`
${count("applied")} × applied: new, understood and on the disk before the answer.
${count("duplicate")} × duplicate: seen before, so nothing was done a second time.
${count("quarantined")} × quarantined: authentic, but the body can't be read, so it is kept for a person to look at.`);
    await printMirror(mirror, print);
    return outcomes;
  } finally {
    server.close();
    await mirror.close();
    await rm(folder, { recursive: true });
  }
}

function readRecorded(): { secret: string; deliveries: Recorded[] } {
  const file = new URL("../../test/fixtures/deliveries.json", import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as { secret: string; deliveries: Recorded[] };
}

async function sendShuffled(
  url: string,
  deliveries: Recorded[],
  print: (line: string) => void,
): Promise<string[]> {
  const outcomes: string[] = [];
  print("  HTTP outcome     webhook      what is special about it");
  for (const delivery of shuffle(deliveries)) {
    const body = Buffer.from(delivery.bodyBase64, "base64");
    const response = await fetch(url, { method: "POST", headers: delivery.headers, body });
    const { outcome } = (await response.json()) as { outcome: string };
    outcomes.push(outcome);
    const webhookId = delivery.headers["x-service-webhook-id"] ?? "";
    print(`  ${response.status}  ${outcome.padEnd(11)} ${webhookId.padEnd(12)} ${delivery.what}`);
  }
  return outcomes;
}

function shuffle<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
