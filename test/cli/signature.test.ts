import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { signBody } from "../../src/signature/sign.ts";
import { run } from "./run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-signature-"));
afterAll(() => rmSync(folder, { recursive: true }));

const secret = "whsec_test_0123456789abcdef0123456789abcdef";
const body = '{"id":"e-1","event":"payment.completed","data":{"contractId":"CNT-1","amount":600.00}}';
const timestamp = "2026-04-14T14:30:00.1234567Z";
const signed = signBody({ secret, body, webhookId: "wh-1", event: "payment.completed", timestamp });

interface Given {
  readonly body?: string;
  readonly headers?: string;
  readonly secret?: string;
  readonly flags?: readonly string[];
}

function argumentsFor(given: Given): string[] {
  const bodyFile = join(folder, "body");
  const headersFile = join(folder, "headers");
  writeFileSync(bodyFile, given.body ?? body);
  writeFileSync(headersFile, given.headers ?? JSON.stringify(signed));
  return ["detect", "--body", bodyFile, "--headers", headersFile, ...(given.flags ?? [])];
}

async function detect(given: Given) {
  const values = ["signature", ...argumentsFor(given)];
  const { code, stdout, stderr } = await run(values, { ESCROW_WEBHOOK_SECRET: given.secret ?? secret });
  const printed = stderr + stdout;
  expect(printed).not.toContain("0123456789abcdef");
  return { status: code, printed };
}

describe("signature detect", () => {
  it("says that the defaults fit what the service signs", async () => {
    expect(await detect({})).toEqual({
      status: 0,
      printed: "The signature holds: default.\nThe default settings of createMirror fit.\n",
    });
  });

  it("reads headers as curl prints them, and finds another header prefix", async () => {
    const { "X-Service-Signature": signature = "" } = signed;
    const found = await detect({
      headers: `> POST /hook HTTP/1.1\r\n> X-Escrow-Signature: ${signature}\r\n`,
    });
    expect(found.printed).toContain('Set in createMirror: webhook: { headerPrefix: "x-escrow-" }.');
    expect(found.status).toBe(0);
  });

  it("finds a preset", async () => {
    const headers = signBody({ scheme: "github", secret, body, webhookId: "wh-1", timestamp });
    expect((await detect({ headers: JSON.stringify(headers), flags: ["--json"] })).printed).toBe(
      `${JSON.stringify({ fits: true, signature: "github", headerPrefix: "X-Service-", advice: 'Set in createMirror: webhook: { signature: "github" }.' })}\n`,
    );
  });

  it("takes the secret from standard input", () => {
    const flags = ["signature", ...argumentsFor({ flags: ["--secret-file", "-"] })];
    const command = spawnSync(process.execPath, ["--import", "tsx", "src/cli.ts", ...flags], {
      input: `${secret}
`,
    });
    expect(command.stdout.toString()).toMatch(/^The signature holds: default/);
    expect(command.status).toBe(0);
  });

  it.each([
    ["a body that a parser rewrote", { body: JSON.stringify(JSON.parse(body)) }, "body-reserialised"],
    ["a body with a newline more", { body: `${body}\n` }, "body-newline"],
    ["a secret with quotes around it", { secret: `"${secret}"` }, "secret-quoted"],
    ["a secret that is another", { secret: "whsec_another_one" }, "unexplained"],
    ["headers without a signature", { headers: "content-type: application/json" }, "no-signature-header"],
  ])("names the cause of %s, with exit code 1", async (_, given, cause) => {
    const found = await detect(given);
    expect(found.printed).toMatch(new RegExp(`^No scheme fits \\(${cause}\\)\\.\n.{40}`));
    expect(found.status).toBe(1);
  });

  it.each([
    ["no secret", { secret: "" }, "error: no secret: set ESCROW_WEBHOOK_SECRET"],
    ["no headers", { headers: "nothing" }, "error: --headers: the file has no headers"],
    [
      "headers that are no JSON",
      { headers: '{"x-signature": "abc",}' },
      "error: --headers: the file starts like a JSON object, but it is not one",
    ],
    [
      "a file that is not there",
      { flags: ["--secret-file", "/nowhere"] },
      "error: --secret-file: there is no file /nowhere.",
    ],
  ])("says what to do about %s, with exit code 2", async (_, given, message) => {
    const found = await detect(given);
    expect(found.printed).toContain(message);
    expect(found.status).toBe(2);
  });

  it("has no option that takes the secret itself", () => {
    const source = readFileSync(new URL("../../src/cli/signature.ts", import.meta.url), "utf8");
    expect(source).not.toMatch(/--secret </);
  });
});
