/** Commands that ask the service: against the sandbox. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Sandbox } from "../../src/sandbox.ts";
import { temporaryFile } from "../support/mirror.ts";
import { contractInput } from "../reconcile/support.ts";
import { startReceiver, startSandbox } from "../sandbox/support.ts";
import { migrationOf } from "./new-store.ts";
import { run, type Ran } from "./run-command.ts";

interface Site {
  readonly sandbox: Sandbox;
  /** Runs a command with everything that it may need, and looks that it prints no secret. */
  readonly type: (line: string) => Promise<Ran>;
}

async function openSite(reply = 200): Promise<Site> {
  const receiver = await startReceiver(reply);
  const sandbox = await startSandbox({
    webhookUrl: receiver.url,
    clientSecret: "client-sentinel-0123456789",
    webhookSecret: "whsec_sentinel_0123456789abcdef0123456789",
  });
  const file = temporaryFile("secrets.env");
  writeFileSync(file, `ESCROW_CLIENT_SECRET=${sandbox.clientSecret}\n`);
  const env = {
    ESCROW_MIRROR_STORE: await migrationOf(temporaryFile()),
    ESCROW_BASE_URL: sandbox.baseUrl,
    ESCROW_AUTH_URL: sandbox.authUrl,
    ESCROW_CLIENT_ID: sandbox.clientId,
  };
  const type = async (line: string): Promise<Ran> => {
    const ran = await run([...line.split(" "), "--secrets-file", file], env);
    expect(ran.both).not.toMatch(/sentinel|whsec_/);
    return ran;
  };
  return { sandbox, type };
}

describe("escrow-mirror subscription", () => {
  it("show says where webhooks go, and not the secret", async () => {
    const { sandbox, type } = await openSite();
    const { webhookUrl } = (await sandbox.subscription.get()) ?? {};
    expect(await type("subscription show")).toMatchObject({
      code: 0,
      stdout: `Webhooks go to  ${webhookUrl}
Active          yes
Failures        0 in a row (ten disable it)
Last success    -
Last failure    -
`,
    });
    expect(JSON.parse((await type("subscription show --json")).stdout)).toEqual({
      webhookUrl,
      active: true,
      consecutiveFailures: 0,
      lastSuccessAt: null,
      lastFailureAt: null,
    });
    const { subscription, ok } = JSON.parse((await type("status --json")).stdout) as Record<string, unknown>;
    expect([ok, subscription]).toMatchObject([true, { active: true, consecutiveFailures: 0 }]);
  });

  it("enable sets the address, and keeps the one that there is", async () => {
    const { sandbox, type } = await openSite();
    const url = "https://shop.example/webhooks/escrow";
    expect((await type(`subscription enable --url ${url}`)).stdout).toContain(`Webhooks go to  ${url}\n`);
    const enabled = await type("subscription enable");
    expect(enabled.stdout).toContain("Active          yes\n");
    // What was missed meanwhile, and how to get it.
    expect(enabled.stderr).toMatch(/escrow-mirror reconcile\n.*escrow-mirror contracts import/s);
    expect((await type("subscription enable --json")).stderr).toBe("");
    expect((await sandbox.subscription.get())?.webhookUrl).toBe(url);
  });

  it("test asks for a delivery, and says how to look for it", async () => {
    const { sandbox, type } = await openSite();
    const { stdout } = await type("subscription test");
    const [sent] = await sandbox.deliveries.list();
    expect(stdout).toBe(
      `A test webhook is on its way. To see whether it has arrived: escrow-mirror deliveries show ${sent?.webhookId}\n`,
    );
    expect(JSON.parse((await type("subscription test --json")).stdout)).toEqual({
      webhookId: expect.any(String) as string,
    });
  });

  it("rotate writes the new secret to a file that nobody else can read", async () => {
    const { sandbox, type } = await openSite();
    const file = temporaryFile("webhook-secret");
    expect(await type(`subscription rotate --save ${file}`)).toMatchObject({
      code: 0,
      stdout: `The new signing secret is in ${file}. Give it to the app within an hour.\n`,
    });
    expect(readFileSync(file, "utf8")).toBe(sandbox.webhookSecret);
    expect(sandbox.webhookSecret).not.toContain("sentinel");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(file))).toEqual(["webhook-secret"]);
  });

  it("rotate changes nothing where the file can't be written", async () => {
    const { sandbox, type } = await openSite();
    const before = sandbox.webhookSecret;
    expect(await type("subscription rotate --save /nowhere/secret")).toMatchObject({
      code: 2,
      stderr: "error: --save: /nowhere/secret can't be written (ENOENT).\n",
    });
    expect([sandbox.webhookSecret, existsSync("/nowhere")]).toEqual([before, false]);
    const folder = dirname(temporaryFile("webhook-secret"));
    for (const named of [folder, `${folder}/`])
      expect(await type(`subscription rotate --save ${named}`)).toMatchObject({
        code: 2,
        stderr: `error: --save: ${named} can't be written (EISDIR).\n`,
      });
    expect([sandbox.webhookSecret, readdirSync(folder)]).toEqual([before, []]);
  });
});

it("rotate whose file can't be written at last says that no secret is lost, and the next call saves it", async () => {
  const { sandbox, type } = await openSite();
  const file = temporaryFile("webhook-secret");
  const ran = type(`subscription rotate --save ${file}`);
  await vi.waitFor(() => expect(readdirSync(dirname(file))).toHaveLength(1));
  rmSync(dirname(file), { recursive: true });
  const { code, stdout, stderr } = await ran;
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(
    /^error: The service has a new signing secret, and it could not be written to .+webhook-secret \(.*ENOENT.*\)\. No delivery is lost: .+ Within an hour, run the command again with a file that can be written: it saves the same secret\.\n$/,
  );
  const made = sandbox.webhookSecret;
  mkdirSync(dirname(file));
  expect((await type(`subscription rotate --save ${file}`)).code).toBe(0);
  expect([readFileSync(file, "utf8"), sandbox.webhookSecret]).toEqual([made, made]);
});

it("contracts import reads ids of a file once each, and goes on after one that fails", async () => {
  const { sandbox, type } = await openSite();
  const contractIds: string[] = [];
  for (const number of [1, 2])
    contractIds.push((await sandbox.createContract(contractInput(number))).contractId);
  const file = temporaryFile("ids.txt");
  writeFileSync(
    file,
    ["", contractIds[0], "CNT-2601-00009999", ` ${contractIds[1]}`, contractIds[0]].join("\r\n"),
  );
  const { code, stdout } = await type(`contracts import --file ${file}`);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^2 contracts imported, 1 failed\n\nCONTRACT +CODE +FAILURE\nCNT-2601-00009999 +error-response +/,
  );
  const { stdout: listed } = await type("contracts list --json");
  expect(listed.trimEnd().split("\n")).toHaveLength(2);
  expect(await type("contracts import --file /nowhere/ids.txt")).toMatchObject({
    code: 2,
    stderr: "error: --file: there is no file /nowhere/ids.txt.\n",
  });
  expect(await type("contracts import --concurrency 65 CNT-1")).toMatchObject({ code: 2 });
});

it("contracts refresh goes on after an id that fails", async () => {
  const { sandbox, type } = await openSite();
  const { contractId } = await sandbox.createContract(contractInput(1));
  const { code, stdout, stderr } = await type(`contracts refresh CNT-2601-00009999 ${contractId}`);
  expect([code, stdout]).toEqual([1, `${contractId} was not in the mirror, and is pending.\n`]);
  expect(stderr).toContain("404");
});

describe("a command that asks the service", () => {
  it("names what is missing", async () => {
    const { code, stderr } = await run(["subscription", "show"], { ESCROW_BASE_URL: "http://127.0.0.1:1" });
    expect([code, stderr]).toEqual([
      2,
      'error: This command asks the service, and ESCROW_AUTH_URL, ESCROW_CLIENT_ID, ESCROW_CLIENT_SECRET are missing: set them in the environment or in --secrets-file. All but the secret can be in escrow-mirror.json, in "client".\n',
    ]);
  });

  it("refreshes a contract that no webhook has named, and reconciles it", async () => {
    const { sandbox, type } = await openSite();
    const { contractId } = await sandbox.createContract(contractInput(1));
    expect((await type(`contracts show ${contractId}`)).stderr).toBe(
      `error: No contract ${contractId} is in the mirror: no webhook has named it. If the service has it, escrow-mirror contracts refresh ${contractId} reads it.\n`,
    );
    expect((await type(`contracts refresh ${contractId}`)).both).toBe(
      `${contractId} was not in the mirror, and is pending.\n`,
    );
    await sandbox.act(contractId, "approve");
    await sandbox.clock.advance(5000);
    const { code, stdout } = await type("reconcile");
    expect([code, stdout]).toEqual([
      0,
      `1 contract read, 1 healed, 0 failed

CONTRACT${" ".repeat(contractId.length - 8)}  MILESTONE  FIELD   MIRROR   SERVICE
${contractId}  -          status  pending  Approved
`,
    ]);
    const shown = await type(`contracts show ${contractId}`);
    expect(shown.stdout).toContain("Way        pending → [Approved] → ");
    expect(shown.stdout).not.toMatch(/Alia|966500000001/);
    expect(JSON.parse((await type("reconcile --dry-run --json")).stdout)).toMatchObject({
      checked: 1,
      healed: 0,
      failed: 0,
      drift: [],
    });
  });
});
