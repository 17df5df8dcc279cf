import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { bundleCommand } from "../support/children/bundle.ts";
import { call, requestToken, startReceiver, startSandbox } from "./support.ts";

const root = new URL("../../", import.meta.url).pathname;
const command = await bundleCommand();

interface Run {
  child: ChildProcess;
  output: () => string;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

function run(args: string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [command, ...args], {
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill());
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
  return { child, output: () => output, ended };
}

it("prints what a stranger needs, sends webhooks, and ends cleanly on SIGTERM", async () => {
  const receiver = await startReceiver();
  const args = ["sandbox", "--port", "0", "-w", receiver.url, "--speed", "600"];
  const { child, output, ended } = run(args, {
    ESCROW_CLIENT_SECRET: "from-the-environment",
    ESCROW_WEBHOOK_SECRET: "whsec_env",
  });
  await expect.poll(output, { timeout: 15_000 }).toContain("Ctrl+C stops it.");
  const baseUrl = /Base URL +(\S+)/.exec(output())?.[1] ?? "";
  for (const told of [
    "Client secret   as you set it\n",
    "Webhook secret  as you set it\n",
    receiver.url,
    `${baseUrl}/_sandbox/`,
    "600 × real time",
    "Contract ids start again at each start. Delete your app's mirror of an earlier run, or use --data.\n",
  ]) {
    expect(output()).toContain(told);
  }
  expect(output()).not.toMatch(/from-the-environment|whsec_/);
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: "sandbox-client",
    client_secret: "from-the-environment",
  });
  const token = await call(`${baseUrl}/connect/token`, { method: "POST", body: form });
  const bearer = /"access_token":"([^"]+)"/.exec(token.text)?.[1] ?? "";
  await call(`${baseUrl}/apps/api/webhooks/test`, {
    method: "POST",
    headers: { Authorization: `Bearer ${bearer}` },
  });
  await expect.poll(output, { timeout: 15_000 }).toMatch(/200 {2}webhook\.test {2}- {2}attempt 1/);
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
});

it("says in one line what is wrong, and ends with 1", async () => {
  const sandbox = await startSandbox();
  const taken = run(["sandbox", "--port", String(sandbox.address.port)]);
  expect([await taken.ended, taken.output()]).toEqual([
    1,
    expect.stringMatching(/^error: --port: Port \d+ on 127\.0\.0\.1 is in use.*\n$/),
  ]);
  const fault = run(["sandbox", "--port", "0", "--fault", "boom=1"]);
  expect([await fault.ended, fault.output()]).toEqual([1, expect.stringContaining("There is no fault boom")]);
  expect((await requestToken(sandbox, sandbox.clientId, sandbox.clientSecret)).status).toBe(200);
});

it("takes further options from --config and secrets from --secrets-file, never from its arguments", async () => {
  const config = join(tmpdir(), `sandbox-config-${process.pid}.json`);
  const secrets = join(tmpdir(), `sandbox-secrets-${process.pid}.env`);
  const folder = mkdtempSync(join(tmpdir(), "sandbox-data-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const data = join(folder, "sandbox.db");
  writeFileSync(config, JSON.stringify({ businessName: "Bakery", port: 0, data, speed: 60 }));
  writeFileSync(secrets, "ESCROW_WEBHOOK_SECRET=whsec_file\n");
  const { output, child, ended } = run(["sandbox", "--config", config, "--secrets-file", secrets]);
  await expect.poll(output, { timeout: 15_000 }).toContain("Ctrl+C stops it.");
  expect(output()).not.toContain("whsec_file");
  for (const told of [`kept in ${data}\n`, "60 × real time"]) expect(output()).toContain(told);
  expect(output()).not.toContain("start again");
  child.kill("SIGINT");
  expect(await ended).toBe(0);
  const refused = run(["sandbox", "--webhook-secret", "whsec_argument"]);
  expect([await refused.ended, refused.output()]).toEqual([2, expect.stringContaining("unknown option")]);
});

it("--json prints one line with its addresses, and only the secrets that it made", async () => {
  const { child, output, ended } = run(["sandbox", "--port", "0", "--json"], {
    ESCROW_CLIENT_SECRET: "from-the-environment",
  });
  await expect.poll(output, { timeout: 15_000 }).toMatch(/\n$/);
  const { baseUrl, ...ready } = JSON.parse(output()) as Record<string, unknown>;
  expect(ready).toEqual({
    host: "127.0.0.1",
    port: Number(new URL(String(baseUrl)).port),
    tokenUrl: `${String(baseUrl)}/connect/token`,
    clientId: "sandbox-client",
    clientSecret: null,
    webhookSecret: expect.stringMatching(/^whsec_/) as string,
    webhookUrl: null,
    controlUrl: `${String(baseUrl)}/_sandbox/`,
    data: null,
    speed: 1,
  });
  expect(output().trimEnd()).not.toContain("\n");
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
});

it("shares no code with what it judges", () => {
  const folder = join(root, "src/sandbox");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const imports = files.flatMap((name) =>
    Array.from(readFileSync(join(folder, name), "utf8").matchAll(/from "([^"]+)"/g), ([, target = ""]) =>
      target.startsWith(".") ? join("src/sandbox", dirname(name), target) : target,
    ),
  );
  const foreign = imports.filter(
    (target) => !/^(node:|src\/(sandbox|shared)\/|zod$|better-sqlite3$)/.test(target),
  );
  expect([files.length > 40, foreign]).toEqual([true, []]);
});
