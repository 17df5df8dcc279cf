import { statSync } from "node:fs";
import process from "node:process";

import { Command, InvalidArgumentError } from "commander";

import { createSandbox, replayRecording, SandboxError } from "../sandbox.ts";
import type { Replayed, Sandbox, SandboxDelivery, SandboxOptions } from "../sandbox.ts";
import { exitCodes, orExplain } from "./lib/explain.ts";
import { readInput } from "./lib/input.ts";
import { plain } from "./lib/plain.ts";
import { print, printJson } from "./lib/print.ts";
import { command } from "./lib/command.ts";
import { counted } from "./lib/counted.ts";
import { describeSandbox, readyText } from "./lib/sandbox-ready.ts";
import { loadSecrets } from "./lib/secrets.ts";
import { wrapHelp } from "./lib/wrap.ts";

const secretNames = ["ESCROW_CLIENT_ID", "ESCROW_CLIENT_SECRET", "ESCROW_WEBHOOK_SECRET"] as const;

const secretsHelp = `
Secrets come from the environment, or from --secrets-file (one NAME=value a line):
  ESCROW_CLIENT_ID       default: sandbox-client
  ESCROW_CLIENT_SECRET   default: random
  ESCROW_WEBHOOK_SECRET  default: random

A random one is printed, so that you can give it to your app. Secrets that you set, or that --data kept
from an earlier start, are not printed: the control page shows them.

--config takes every option of createSandbox. The command line wins over it.

Exit codes: 0 after Ctrl+C or SIGTERM; 1 if it can't start (the message says why).`;

interface Flags {
  port?: number;
  host?: string;
  baseUrl?: string;
  allowHost?: string[];
  webhookUrl?: string;
  speed?: number;
  data?: string;
  record?: string;
  seed?: number;
  edition?: "current" | "earlier";
  retryDelays?: number[];
  fault?: Record<string, number>;
  delay?: [number, number];
  faultSeed?: number;
  config?: string;
  secretsFile?: string;
  quiet?: boolean;
  json?: boolean;
}

/** `escrow-mirror sandbox`: the whole escrow service on this machine, until Ctrl+C. */
export function sandboxCommand(): Command {
  const sandbox = new Command("sandbox")
    .enablePositionalOptions()
    .description("Run the whole escrow service on this machine: API, checkout page, webhooks with retries.")
    .option("-p, --port <number>", "port to listen on; 0 takes any free port (default: 4010)", readNumber)
    .option("--host <address>", "address to listen on (default: 127.0.0.1, for this machine only)")
    .option("--base-url <url>", "address that others use, for links (default: the address of the request)")
    .option("--allow-host <name...>", "answer for this host name too, such as a tunnel's (repeatable)")
    .option("-w, --webhook-url <url>", "where to send webhooks", readUrl)
    .option("--speed <factor>", "sandbox seconds per real second; with 600 an hour takes 6 s", readNumber)
    .option("-d, --data <file>", "keep everything in this file across restarts (default: in memory)")
    .option("--record <file>", "append every webhook that is sent to this file")
    .option("--seed <number>", "repeat the same ids and secrets", readNumber)
    .option("--edition <name>", "edition of the webhooks: current or earlier (default: current)")
    .option(
      "--retry-delays <list>",
      "wait before each retry, such as 1s,5s,1m (default: 10s,30s,2m,10m,1h)",
      readWaits,
    )
    .option(
      "--fault <name=share...>",
      "make things go wrong: duplicate=0.2 drop=0.05 (repeatable)",
      readFault,
    )
    .option("--delay <least-most>", "delay each webhook by so many ms, such as 0-500", readRange)
    .option("--fault-seed <number>", "repeat the same faults (default: 1)", readNumber)
    .option("--config <file>", "more options of createSandbox, as JSON")
    .option("--secrets-file <file>", "secrets, one NAME=value a line")
    .option("-q, --quiet", "print no line for each attempt")
    .option("--json", "one line with its addresses when it is ready; all else goes to standard error")
    .addHelpText("after", wrapHelp(secretsHelp))
    .action((flags: Flags) => orExplain(() => runSandbox(flags)));
  return sandbox.addCommand(replayCommand());
}

async function runSandbox(flags: Flags): Promise<void> {
  const options = toOptions(flags);
  const isKept = options.data !== undefined && isFilled(options.data);
  const sandbox = await startSandbox(options, flags);
  try {
    const delay = flags.delay === undefined ? {} : { delayMs: flags.delay };
    sandbox.faults.set({ ...flags.fault, ...delay }, { seed: flags.faultSeed ?? 1 });
  } catch (error) {
    await sandbox.close();
    throw error;
  }
  // Before it says that it is ready: whoever reads that may stop it at once.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void stop(sandbox, logOf(flags)));
  const ready = await describeSandbox(sandbox, options, isKept);
  if (flags.json === true) await printJson(ready);
  else process.stdout.write(readyText(ready, isKept));
  // Nobody would know that it still runs.
  logOf(flags).once("error", () => process.exit());
}

function isFilled(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Starts it with a line in the log for each attempt, and one when the subscription is disabled. */
async function startSandbox(options: SandboxOptions, flags: Flags): Promise<Sandbox> {
  if (flags.quiet === true) return createSandbox(options).catch(nameOption);
  let wasActive = true;
  const tellIfDisabled = async (): Promise<void> => {
    const { isActive = true, consecutiveFailures = 0 } = (await sandbox.subscription.get()) ?? {};
    if (wasActive && !isActive) logOf(flags).write(disabledLine(consecutiveFailures));
    wasActive = isActive;
  };
  const onAttempt = (delivery: SandboxDelivery): void => {
    printAttempt(delivery, logOf(flags));
    void tellIfDisabled();
  };
  const sandbox = await createSandbox({ ...options, onAttempt }).catch(nameOption);
  return sandbox;
}

function disabledLine(failures: number): string {
  return `The subscription is disabled: ${counted(failures, "webhook")} in a row failed. Nothing more is sent until it is enabled: by your app, escrow-mirror subscription enable, or the control page.\n`;
}

/** A person who typed a command needs the name of the flag. */
function nameOption(error: unknown): never {
  if (error instanceof SandboxError && error.code === "address-in-use")
    throw new Error(`--port: ${error.message}`, { cause: error });
  throw error;
}

/** The log. With --json it goes to standard error, because a program reads standard output. */
function logOf({ json }: Flags): NodeJS.WriteStream {
  return json === true ? process.stderr : process.stdout;
}

async function stop(sandbox: Sandbox, log: NodeJS.WriteStream): Promise<void> {
  log.write("\nStopping. Webhooks under way have one second to end.\n");
  await sandbox.close();
  process.exitCode = 0;
}

function toOptions(flags: Flags): SandboxOptions {
  const secrets = loadSecrets(secretNames, flags.secretsFile);
  const { port = 4_010, host, baseUrl, webhookUrl, speed, data, record, seed, edition } = flags;
  const given = {
    host,
    baseUrl,
    allowedHosts: flags.allowHost,
    webhookUrl,
    speed,
    data,
    record,
    seed,
    edition,
    retryDelaysMs: flags.retryDelays,
    clientId: secrets.ESCROW_CLIENT_ID,
    clientSecret: secrets.ESCROW_CLIENT_SECRET,
    webhookSecret: secrets.ESCROW_WEBHOOK_SECRET,
  };
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { port, ...readConfig(flags.config), ...(flags.port === undefined ? {} : { port }), ...set };
}

function readConfig(path: string | undefined): SandboxOptions {
  if (path === undefined) return {};
  const value = parseConfig(readInput(path, "--config").toString("utf8"), path);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error(`--config: ${path} must hold a JSON object with options of createSandbox.`);
}

function parseConfig(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The message of JSON.parse quotes the file, which may hold secrets: only the place is used.
    const [where = ""] = / \(line \d+ column \d+\)/.exec(String(cause)) ?? [];
    throw new Error(
      `--config: ${path} is not JSON${where}. It takes one object, such as {"businessName":"Bakery"}.`,
      { cause },
    );
  }
}

function printAttempt(
  { event, contractId, attempts, nextAttemptAt }: SandboxDelivery,
  log: NodeJS.WriteStream,
): void {
  const attempt = attempts.at(-1);
  if (attempt === undefined) return;
  const answer = attempt.httpStatus === null ? "no answer" : String(attempt.httpStatus);
  const next = nextAttemptAt === null ? "" : `  next ${nextAttemptAt.slice(11, 19)}Z`;
  const why = attempt.error === null ? "" : `  ${attempt.error}`;
  const at = `${attempt.at.slice(11, 19)}Z`;
  log.write(`${at}  ${answer}  ${event}  ${contractId ?? "-"}  attempt ${attempt.number}${next}${why}\n`);
}

function replayCommand(): Command {
  return command({
    name: "replay",
    description: "Send a recording again: in its order, with the recorded ids and bytes.",
    examples: [["sandbox replay webhooks.jsonl --to http://localhost:3000/hook", "what --record wrote"]],
    more: "Exit codes: 0 all were answered 2xx, 1 some were not.",
  })
    .argument("<file>", "the file that --record wrote")
    .requiredOption("--to <url>", "where to send it", readUrl)
    .option("--resign", "sign again with ESCROW_WEBHOOK_SECRET; else the recorded signatures are sent")
    .option("--secrets-file <file>", "secrets, one NAME=value a line")
    .option("--json", "one JSON object a line, for programs")
    .action((file: string, flags: ReplayFlags) => orExplain(() => runReplay(file, flags)));
}

interface ReplayFlags {
  to: string;
  resign?: boolean;
  secretsFile?: string;
  json?: boolean;
}

async function runReplay(file: string, flags: ReplayFlags): Promise<void> {
  const secret = loadSecrets(secretNames, flags.secretsFile).ESCROW_WEBHOOK_SECRET;
  if (flags.resign === true && secret === undefined) {
    throw new Error("--resign needs the receiver's secret in ESCROW_WEBHOOK_SECRET or in --secrets-file.");
  }
  const resign = flags.resign === true && secret !== undefined ? { secret } : {};
  const replayed = await replayRecording(file, { url: flags.to, ...resign });
  const failed = replayed.filter(({ status }) => status === null || status < 200 || status > 299).length;
  if (failed > 0) process.exitCode = exitCodes.failed;
  if (flags.json === true) return print(replayed.map((each) => JSON.stringify(each)));
  await print([...replayed.map(replayedLine), `${replayed.length} sent, ${failed} not accepted.`]);
}

function replayedLine({ event, webhookId, status, error }: Replayed): string {
  return plain(`${status ?? "no answer"}  ${event}  ${webhookId}${error === null ? "" : `  ${error}`}`);
}

/** Without http://, `localhost:3000` would be read as the scheme `localhost:`. */
function readUrl(text: string): string {
  if (/^https?:\/\/[^/]/i.test(text)) return text;
  const whole = /^[\w.-]+(:\d+)?(\/|$)/.test(text)
    ? `http://${text}`
    : "http://localhost:3000/webhooks/escrow";
  throw new InvalidArgumentError(`Give the whole address, with http:// or https://: ${whole}`);
}

function readNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number)) throw new InvalidArgumentError("Give a number.");
  return number;
}

const unitMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function readWaits(text: string): number[] {
  return text.split(",").map((part) => {
    const [, amount = "", unit = "s"] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?\s*$/.exec(part) ?? [];
    if (amount === "")
      throw new InvalidArgumentError(`"${part}" is not a duration. Write 500ms, 10s, 2m or 1h.`);
    return Number(amount) * (unitMs[unit] ?? 1_000);
  });
}

function readFault(text: string, before: Record<string, number> = {}): Record<string, number> {
  const [, name = "", share = ""] = /^(\w+)=([\d.]+)$/.exec(text) ?? [];
  if (name === "")
    throw new InvalidArgumentError(`"${text}" is not a fault. Write name=share, such as duplicate=0.2.`);
  return { ...before, [name]: Number(share) };
}

function readRange(text: string): [number, number] {
  const [, least = "", most = ""] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  if (least === "") throw new InvalidArgumentError('Write least-most in milliseconds, such as "0-500".');
  return [Number(least), Number(most)];
}
