/** Ctrl+C and SIGTERM in the middle of long work. */
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { temporaryFile } from "../support/mirror.ts";
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
  { signal, env, when }: { signal: Signal; env: Record<string, string>; when?: Promise<unknown> },
): Promise<Ran> {
  const before = new Set(process.listeners(signal));
  const ran = run(line.split(" "), env);
  await (when ?? listening(signal, before.size));
  for (const listener of process.listeners(signal)) if (!before.has(listener)) listener(signal);
  return ran;
}

async function listening(signal: Signal, known: number): Promise<void> {
  await vi.waitFor(() => expect(process.listenerCount(signal)).toBeGreaterThan(known), { interval: 1 });
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
      "Contracts that are imported stay so; run the command again for the rest.",
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
