import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { dirname, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { sandboxCommand } from "../../src/cli/sandbox.ts";
import { temporaryFile } from "../support/mirror.ts";
import { runCommand } from "./run-command.ts";

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
      expect(output).toMatch(/^error: --config: .+ is no JSON( \(line \d column \d+\))?\. It takes.+\n$/);
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
