/** Lines that together show every command, and a place to type them in. */
import { copyFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { createProgram } from "../../src/cli/program.ts";
import type { Sandbox } from "../../src/sandbox.ts";
import { signBody } from "../../src/signature/sign.ts";
import { contractInput } from "../reconcile/support.ts";
import { openReceiver, openSandbox, type Receiver } from "../sandbox/support.ts";
import { migrationOf } from "./new-store.ts";
import { fillStory } from "./story.ts";

/** The quarantined delivery of the story. */
export const quarantinedId = "sha256:56985548dbe08911ba3e0cfb13ac8562e5a6eff2da3fd48c54cc6d224be65d5b";

/** A contract that the sandbox of a place has, and no mirror. */
export const sandboxContract = "CNT-2601-00100001";

/** Each works in a `Place`. `<url>` is the address of a receiver. */
export const commandLines: readonly string[] = [
  "status",
  "contracts list",
  "contracts list --status escrow RefundInProgress --limit 1",
  "contracts show CNT-1",
  "contracts show CNT-2",
  "contracts show CNT-99",
  `contracts refresh ${sandboxContract} CNT-99`,
  `contracts import ${sandboxContract} CNT-99`,
  "contracts import --file ids.txt",
  "contracts import",
  "refunds list",
  "refunds list --stuck",
  "deliveries list",
  "deliveries list --limit 2",
  "deliveries show WH-1",
  "deliveries show WH-99",
  "deliveries replay WH-7 WH-99",
  "quarantine list",
  `quarantine show ${quarantinedId}`,
  "quarantine show WH-99",
  `quarantine release ${quarantinedId}`,
  `quarantine dismiss ${quarantinedId} WH-99`,
  "anomalies",
  "jobs list",
  "jobs retry 1 99",
  "jobs retry --all",
  "jobs retry",
  "reconcile",
  "subscription show",
  "subscription enable",
  "subscription rotate --save webhook-secret",
  "subscription test",
  "rebuild",
  "prune --payloads 1d --jobs 1d --quarantine 1d",
  "prune",
  "redact CNT-3 CNT-misspelt",
  "migrate",
  "migrate --sql --dialect sqlite",
  "copy --from sqlite:escrow.db --to sqlite:copy.db",
  "signature detect --body body.bin --headers headers.txt",
  "signature detect --body other.bin --headers headers.txt",
  "sandbox --port 0 --seed 1",
  "sandbox replay webhooks.jsonl --to <url>",
  "sandbox replay webhooks.jsonl --to <url> --resign --secrets-file secrets.env",
];

/** The commands that do something, each as its words: `contracts show`. */
export const everyCommand: readonly string[] = leavesOf(createProgram()).map(pathOf);

function leavesOf(command: Command): Command[] {
  const below = command.commands.flatMap(leavesOf);
  // The sandbox runs by itself, and has a command below it.
  return below.length === 0 || command.name() === "sandbox" ? [command, ...below] : below;
}

function pathOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}

/** The command of a line. */
export function commandOf(line: string): string {
  const words = line.split(" ");
  const found = everyCommand.filter((path) => path === words.slice(0, path.split(" ").length).join(" "));
  return found.sort((a, b) => b.length - a.length)[0] ?? "";
}

/** `true` if the command opens the store that `--store` names. */
export function opensStore(line: string): boolean {
  const command = commandOf(line)
    .split(" ")
    .reduce<Command | undefined>(
      (above, word) => above?.commands.find((each) => each.name() === word),
      createProgram(),
    );
  const hasOption = command?.options.some(({ long }) => long === "--store") ?? false;
  return hasOption && !line.includes("--sql");
}

/** A folder with stores and files, and a service. */
export interface Place {
  readonly folder: string;
  readonly receiver: Receiver;
  /** Puts the files as they were, starts a fresh service, and gives the environment. */
  readonly reset: (store: "story" | "empty" | "missing") => Promise<Record<string, string>>;
  readonly close: () => Promise<void>;
}

const signingSecret = "whsec_sentinel_0123456789abcdef0123456789";

export async function openPlace(): Promise<Place> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "escrow-mirror-lines-")));
  const receiver = await openReceiver();
  await fillStory(join(folder, "story.db"));
  await migrationOf(join(folder, "empty.db"));
  await record(join(folder, "webhooks.jsonl"), receiver.url);
  writeCaptured(folder);
  writeFileSync(join(folder, "secrets.env"), `ESCROW_WEBHOOK_SECRET=${signingSecret}\n`);
  writeFileSync(join(folder, "ids.txt"), `\uFEFF${sandboxContract}\r\n\n  ${sandboxContract}  \n`);
  let sandbox: Sandbox | undefined;

  const reset: Place["reset"] = async (store) => {
    await sandbox?.close();
    sandbox = await openSandbox({
      webhookUrl: receiver.url,
      clientSecret: "client-sentinel-0123456789",
      webhookSecret: signingSecret,
    });
    await sandbox.createContract(contractInput(1));
    for (const name of ["escrow.db", "copy.db", "webhook-secret"])
      for (const end of ["", "-wal", "-shm"]) rmSync(join(folder, name + end), { force: true });
    if (store !== "missing") copyFileSync(join(folder, `${store}.db`), join(folder, "escrow.db"));
    return {
      ESCROW_MIRROR_STORE: "sqlite:escrow.db",
      ESCROW_BASE_URL: sandbox.baseUrl,
      ESCROW_AUTH_URL: sandbox.authUrl,
      ESCROW_CLIENT_ID: sandbox.clientId,
      ESCROW_CLIENT_SECRET: sandbox.clientSecret,
      ESCROW_WEBHOOK_SECRET: signingSecret,
    };
  };

  const close = async (): Promise<void> => {
    await sandbox?.close();
    receiver.close();
    rmSync(folder, { recursive: true });
  };
  return { folder, receiver, reset, close };
}

async function record(path: string, webhookUrl: string): Promise<void> {
  const sandbox = await openSandbox({ webhookUrl, record: path });
  await sandbox.createContract(contractInput(1));
  await sandbox.deliveries.idle();
  await sandbox.close();
}

/** A captured request, and one whose body was changed. */
function writeCaptured(folder: string): void {
  const body = '{"id":"e-1","event":"payment.completed","data":{"contractId":"CNT-1","amount":600.00}}';
  const timestamp = "2026-04-14T14:30:00.1234567Z";
  const headers = signBody({
    secret: signingSecret,
    body,
    webhookId: "wh-1",
    event: "payment.completed",
    timestamp,
  });
  writeFileSync(join(folder, "body.bin"), body);
  writeFileSync(join(folder, "other.bin"), `${body}\n`);
  writeFileSync(join(folder, "headers.txt"), JSON.stringify(headers));
}
