import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { dirname, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { sandboxCommand } from "../../src/cli/sandbox.ts";
import { startReceiver } from "../sandbox/support.ts";
import { temporaryFile } from "../support/mirror.ts";
import { ended, start } from "./process.ts";
import { run, runCommand } from "./run-command.ts";

const sandbox = (...values: string[]) => runCommand(sandboxCommand(), ["--port", "0", ...values]);

function configOf(text: string): string {
  const file = temporaryFile("config.json");
  writeFileSync(file, text);
  return file;
}

describe("escrow-mirror sandbox", () => {
  it.each(["--config", "--secrets-file"])("names %s and its file where there is none", async (option) => {
    expect(await sandbox(option, "nope.json")).toEqual({
      code: 2,
      output: `error: ${option}: there is no file ${resolve("nope.json")}.\n`,
    });
    const folder = dirname(temporaryFile());
    expect((await sandbox(option, folder)).output).toBe(
      `error: ${option}: ${folder} can't be read (EISDIR).\n`,
    );
  });

  it.each(["", "whsec_hello", '{"clientSecret":"whsec_hello"', '{\n"clientSecret":"whsec_hello",\n}'])(
    "names the file of --config that is no JSON, and shows nothing of it: %j",
    async (text) => {
      const file = configOf(text);
      const { code, output } = await sandbox("--config", file);
      expect(code).toBe(1);
      expect(output).toMatch(/^error: --config: .+ is not JSON( \(line \d column \d+\))?\. It takes.+\n$/);
      expect(output).toContain(file);
      expect(output).not.toContain("hello");
    },
  );

  it("names the file of --config that holds a list", async () => {
    const file = configOf("[]");
    expect((await sandbox("--config", file)).output).toContain(`--config: ${file} must hold a JSON object`);
  });

  it("names --port where the port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { code, output } = await sandbox("--port", String(port));
    other.close();
    expect(code).toBe(1);
    expect(output).toMatch(/^error: --port: Port \d+ on 127\.0\.0\.1 is in use .+ 0 takes any free one\.\n$/);
  });

  it.each([
    ["localhost:3000", "http://localhost:3000"],
    ["shop.example/hook", "http://shop.example/hook"],
    ["/webhooks/escrow", "http://localhost:3000/webhooks/escrow"],
    ["ftp://shop.example", "http://localhost:3000/webhooks/escrow"],
    ["", "http://localhost:3000/webhooks/escrow"],
  ])("answers --webhook-url %j with a whole address", async (given, whole) => {
    const { code, output } = await sandbox("--webhook-url", given);
    expect(code).toBe(2);
    expect(output).toContain(
      `'-w, --webhook-url <url>' argument '${given}' is invalid. Give the whole address, with http:// or https://: ${whole}`,
    );
  });
});

/** Starts it, and resolves when it is ready. */
async function running(values: readonly string[], env: Record<string, string>) {
  const child = start(["sandbox", "--port", "0", ...values], { env });
  onTestFinished(() => void child.kill());
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => output, { timeout: 60_000 }).toContain("Ctrl+C stops it.");
  return { child, output: () => output };
}

describe("escrow-mirror sandbox that runs", () => {
  const secrets = { ESCROW_CLIENT_SECRET: "client-sentinel", ESCROW_WEBHOOK_SECRET: "whsec_sentinel" };

  it("prints no secret that --data kept from an earlier start: it may have been given", async () => {
    const data = temporaryFile("sandbox.db");
    const first = await running(["--data", data], secrets);
    first.child.kill("SIGTERM");
    expect((await ended(first.child)).code).toBe(0);
    const second = await running(["--data", data], { ESCROW_CLIENT_SECRET: "", ESCROW_WEBHOOK_SECRET: "" });
    for (const { output } of [first, second]) expect(output()).not.toContain("sentinel");
    const before = "as you set it, or as before: the control page shows it\n";
    expect(second.output()).toContain(`Client secret   ${before}  Webhook secret  ${before}`);
  });

  it("tells once that the subscription is disabled", async () => {
    const { url } = await startReceiver(400);
    const config = configOf(JSON.stringify({ disableAfter: 1 }));
    const { output } = await running(["--webhook-url", url, "--config", config], secrets);
    const baseUrl = /Base URL +(\S+)/.exec(output())?.[1] ?? "";
    const api = { ESCROW_BASE_URL: baseUrl, ESCROW_AUTH_URL: baseUrl, ESCROW_CLIENT_ID: "sandbox-client" };
    const { both } = await run(["subscription", "test"], { ...secrets, ...api });
    expect(both).toContain("A test webhook is on its way.");
    await expect
      .poll(output, { timeout: 60_000 })
      .toContain(
        "The subscription is disabled: 1 webhook in a row failed. Nothing more is sent until it is enabled: by your app, escrow-mirror subscription enable, or the control page.\n",
      );
    expect(output().split("The subscription is disabled")).toHaveLength(2);
  });
});
