import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";

import { expect, it } from "vitest";

import { optionRules } from "../../src/sandbox/world/option-rules.ts";
import { startReceiver, startSandbox } from "./support.ts";

/**
 * Runs examples/sandbox-curl/walk.sh and keeps the transcript in the sandbox's README equal to what came out.
 * `UPDATE_DOCS=1 npm test` writes it anew.
 */
const script = new URL("../../examples/sandbox-curl/walk.sh", import.meta.url);
const readme = new URL("../../src/sandbox/README.md", import.meta.url);
const charactersShown = 220;

it("the README's curl walk-through gives what the README shows", async () => {
  const sandbox = await startSandbox();
  const steps = readFileSync(script, "utf8").trim().split("\n\n").slice(1);
  const env = {
    ...process.env,
    BASE: sandbox.baseUrl,
    CLIENT_ID: sandbox.clientId,
    CLIENT_SECRET: sandbox.clientSecret,
  };
  const marked = steps.map((step, index) => `echo; echo "@@${index}"\n${step}`).join("\n");
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", marked], { env });
  const outputs = stdout.split(/\n@@\d+\n/).slice(1);
  const transcript = steps.map((step, index) => toMarkdown(step, outputs[index] ?? "")).join("\n");
  const settled = transcript
    .replaceAll(`127.0.0.1:${sandbox.address.port}`, "127.0.0.1:4010")
    .replaceAll(sandbox.webhookSecret, "whsec_…")
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "24114dac-a61d-4285-a6ca-40fdf4de002e");
  expect(await sandbox.contracts.list()).toMatchObject([
    { status: "Cancelled", milestones: [{ status: "Refunded" }, { status: "Escrow" }] },
  ]);
  expectInReadme("transcript", settled);
});

it("the curl walk-through leaves webhooks going to the app that they go to", async () => {
  const receiver = await startReceiver();
  const sandbox = await startSandbox({ webhookUrl: receiver.url });
  const env = { BASE: sandbox.baseUrl, CLIENT_ID: sandbox.clientId, CLIENT_SECRET: sandbox.clientSecret };
  const options = { env: { ...process.env, ...env } };
  const { stdout } = await promisify(execFile)("bash", [script.pathname], options);
  expect(stdout).toContain(`"webhookUrl":"${receiver.url}"`);
  expect(await sandbox.subscription.get()).toMatchObject({ webhookUrl: receiver.url });
});

it.each(["BASE", "CLIENT_ID", "CLIENT_SECRET"])(
  "the curl walk-through says what to do without %s",
  async (name) => {
    const env = {
      PATH: process.env["PATH"],
      BASE: "http://x",
      CLIENT_ID: "x",
      CLIENT_SECRET: "x",
      [name]: "",
    };
    const walk = promisify(execFile)("bash", [script.pathname], { env });
    await expect(walk).rejects.toThrow(`${name}: is not set. Start the sandbox, then: export ${name}=`);
  },
);

function toMarkdown(step: string, output: string): string {
  const lines = step.split("\n");
  const said = lines.filter((line) => line.startsWith("# ")).map((line) => line.slice(2));
  const run = lines.filter((line) => !line.startsWith("# "));
  const shown = output
    .trim()
    .split("\n")
    .map((line) => (line.length > charactersShown ? `${line.slice(0, charactersShown)} …` : line));
  const answer = output.trim() === "" ? "" : `\n\`\`\`text\n${shown.join("\n")}\n\`\`\`\n`;
  return `${said.join(" ")}\n\n\`\`\`sh\n${run.join("\n")}\n\`\`\`\n${answer}`;
}

function expectInReadme(name: string, wanted: string): void {
  const text = readFileSync(readme, "utf8");
  const block = new RegExp(`(<!-- ${name} -->)[^]*?(<!-- /${name} -->)`);
  expect(text).toMatch(block);
  const updated = text.replace(
    block,
    (_all, start: string, end: string) => `${start}\n\n${wanted.trim()}\n\n${end}`,
  );
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(readme, updated);
  else expect(text).toBe(updated);
}

it("the README's tables name every option", () => {
  const text = readFileSync(readme, "utf8");
  expect(Object.keys(optionRules).filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

it("the README cites nothing that its readers don't have", () => {
  expect(readFileSync(readme, "utf8").match(/§|supplement|semantics/g)).toBe(null);
  expect(readFileSync(script, "utf8")).not.toContain("§");
});
