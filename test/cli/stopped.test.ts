/** Ctrl+C and SIGTERM in the middle of long work. */
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { PermanentError } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, temporaryFile } from "../support/mirror.ts";
import { migrationOf } from "./new-store.ts";
import { ended, start } from "./process.ts";
import { run, type Ran } from "./run-command.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

/** A service that takes requests and answers none. */
async function silentService(): Promise<{ url: string; asked: Promise<unknown> }> {
  server = createServer().listen(0, "127.0.0.1");
  const asked = once(server, "request");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

type Signal = "SIGINT" | "SIGTERM";

/** Types a line, and sends the signal to this process's listeners of the command when `when` resolves. */
async function stopped(
  line: string,
  { signal, env, when }: { signal: Signal; env: Record<string, string>; when: Promise<unknown> },
): Promise<Ran> {
  const before = new Set(process.listeners(signal));
  const ran = run(line.split(" "), env);
  await when;
  for (const listener of process.listeners(signal)) if (!before.has(listener)) listener(signal);
  return ran;
}

/** Types a line, and sends the signal as soon as the command listens for it: before its first step. */
async function stoppedAtOnce(line: string, signal: Signal, env: Record<string, string>): Promise<Ran> {
  const send = (added: string, listener: (signal: Signal) => void): void => {
    if (added === signal) listener(signal);
  };
  process.on("newListener", send);
  try {
    return await run(line.split(" "), env);
  } finally {
    process.off("newListener", send);
  }
}

async function atService(): Promise<{ env: Record<string, string>; asked: Promise<unknown> }> {
  const { url, asked } = await silentService();
  const env = {
    ESCROW_MIRROR_STORE: await migrationOf(temporaryFile()),
    ESCROW_BASE_URL: url,
    ESCROW_AUTH_URL: url,
    ESCROW_CLIENT_ID: "shop",
    ESCROW_CLIENT_SECRET: "client-sentinel",
  };
  return { env, asked };
}

describe("a command that is stopped ends with 130 and says what to do", () => {
  it.each([
    [
      "contracts import CNT-2601-00100003",
      "SIGINT",
      "Imported contracts stay imported; run the command again for the rest.",
    ],
    [
      "reconcile",
      "SIGTERM",
      "Contracts that are done stay done; run the command again within an hour for the rest.",
    ],
  ] as const)("%s, by %s", async (line, signal, advice) => {
    const { env, asked } = await atService();
    const { code, stdout, stderr } = await stopped(line, { signal, env, when: asked });
    expect([code, stdout, stderr]).toEqual([130, "", `error: Stopped. ${advice}\n`]);
  });
});

async function failForGood(): Promise<never> {
  throw new PermanentError("it never works");
}

describe.each(["SIGINT", "SIGTERM"] as const)("by %s", (signal) => {
  it.each([
    [
      "rebuild",
      "Contracts that are rebuilt stay rebuilt. To rebuild all, run the command again: it starts anew.",
    ],
    ["prune --payloads 1s", "Deleted rows stay deleted; run the command again for the rest."],
    ["jobs retry --all", "Retried jobs stay retried; run the command again for the rest."],
  ])("%s ends with 130 before its next step", async (line, advice) => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file), jobs: { run: false } });
    mirror.on("contract.created", failForGood, { name: "fails" });
    await mirror.receive(delivery("contract.created", { id: "e-1", seconds: 0 }, { webhookId: "wh-1" }));
    await mirror.jobs.runOnce();
    const { code, stdout, stderr } = await stoppedAtOnce(line, signal, {
      ESCROW_MIRROR_STORE: `sqlite:${file}`,
    });
    expect([code, stdout, stderr]).toEqual([130, "", `error: Stopped. ${advice}\n`]);
    expect(await (await mirror.deliveries.get("wh-1"))?.body()).toBeInstanceOf(Uint8Array);
    expect((await mirror.jobs.list({ state: "dead" })).items).toHaveLength(1);
  });
});

it.each(["SIGINT", "SIGTERM"] as const)(
  "subscription rotate that %s stops leaves no draft of the secret's file, and tells how to go on",
  async (signal) => {
    const { env, asked } = await atService();
    const file = temporaryFile("webhook-secret");
    const child = start(["subscription", "rotate", "--save", file], { env });
    await asked;
    expect(readdirSync(dirname(file))).toHaveLength(1);
    child.kill(signal);
    expect(await ended(child)).toEqual({
      code: 130,
      stdout: "",
      stderr: `error: Stopped. Run the command again in half a minute: it goes on, and saves the newest secret in ${file}.\n`,
    });
    expect(readdirSync(dirname(file))).toEqual([]);
  },
);
