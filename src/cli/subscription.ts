import process from "node:process";
import type { Command } from "commander";
import type { WebhookSubscription } from "../client/answer/webhook.ts";
import { isEscrowApiError } from "../client/api-error.ts";
import { isEscrowMirrorError } from "../shared/errors.ts";
import { command, group, storeCommand, withJson, type CommandText } from "./lib/command.ts";
import { exitCodes, orExplain } from "./lib/explain.ts";
import { endedBySignal, needClient, withMirror } from "./lib/open.ts";
import { plain } from "./lib/plain.ts";
import { note, print, printJson } from "./lib/print.ts";
import { openSecretFile } from "./lib/secret-file.ts";
import type { StoreFlags } from "./lib/stores.ts";
import { shown, shownTime } from "./lib/values.ts";

interface Flags {
  readonly config?: string;
  readonly secretsFile?: string;
  readonly json?: boolean;
}

/** `escrow-mirror subscription`. */
export function subscriptionCommand(): Command {
  return group("subscription", "The webhook subscription at the service.", [
    showCommand(),
    enableCommand(),
    rotateCommand(),
    testCommand(),
  ]);
}

const more = `It asks the service's API: set ESCROW_BASE_URL, ESCROW_AUTH_URL, ESCROW_CLIENT_ID and ESCROW_CLIENT_SECRET
in the environment or in --secrets-file. All but the secret can be in escrow-mirror.json, in "client".`;

function clientCommand(text: CommandText): Command {
  const about = text.more === undefined ? more : `${text.more}\n\n${more}`;
  return withJson(
    command({ ...text, more: about })
      .option("--config <file>", "settings as JSON (default: escrow-mirror.json, if it is there)")
      .option("--secrets-file <file>", "secrets as NAME=value lines; they win over the environment"),
  );
}

/** The subscription without its secret, and without fields that are unknown here. */
export interface ShownSubscription {
  readonly webhookUrl: string | null;
  readonly active: boolean | null;
  readonly consecutiveFailures: number | null;
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
}

export function toShown(subscription: WebhookSubscription): ShownSubscription {
  const { webhookUrl, isActive, consecutiveFailures, lastSuccessAt, lastFailureAt } = subscription;
  return {
    webhookUrl: webhookUrl ?? null,
    active: isActive ?? null,
    consecutiveFailures: consecutiveFailures == null ? null : Number(consecutiveFailures),
    lastSuccessAt: lastSuccessAt ?? null,
    lastFailureAt: lastFailureAt ?? null,
  };
}

function showCommand(): Command {
  return clientCommand({
    name: "show",
    description: "Show whether the service sends webhooks, and where to.",
    examples: [["subscription show", "is it active?"]],
    more: "Exit codes: 0 it is active, 1 it is not, or there is none. The signing secret is not printed.",
  }).action((flags: Flags) => orExplain(() => showSubscription(flags)));
}

async function showSubscription(flags: Flags): Promise<void> {
  const found = await needClient(flags).webhooks.get().catch(explainNone);
  await printSubscription(toShown(found), flags);
}

function explainNone(error: unknown): never {
  if (!isEscrowApiError(error) || error.status !== 404) throw error;
  throw new Error("There is no subscription: escrow-mirror subscription enable --url <address> makes one.", {
    cause: error,
  });
}

async function printSubscription(subscription: ShownSubscription, { json }: Flags): Promise<void> {
  if (subscription.active !== true) process.exitCode = exitCodes.failed;
  if (json === true) return printJson(subscription);
  const { webhookUrl, active, consecutiveFailures, lastSuccessAt, lastFailureAt } = subscription;
  await print([
    `Webhooks go to  ${shown(webhookUrl)}`,
    `Active          ${active === true ? "yes" : "NO: the service sends nothing. escrow-mirror subscription enable"}`,
    `Failures        ${shown(consecutiveFailures)} in a row (ten disable it)`,
    `Last success    ${shownTime(lastSuccessAt)}`,
    `Last failure    ${shownTime(lastFailureAt)}`,
  ]);
}

interface EnableFlags extends Flags {
  readonly url?: string;
}

function enableCommand(): Command {
  return clientCommand({
    name: "enable",
    description: "Make the subscription active again, or make one.",
    examples: [
      ["subscription enable", "after ten failures in a row disabled it"],
      ["subscription enable --url https://shop.example/webhooks/escrow", "set the address, too"],
    ],
    more: `No webhook was sent while it was disabled. So run escrow-mirror reconcile afterwards: it reads every contract
of the mirror that has not ended. It can't find contracts that others created meanwhile: take their ids from
your own database, and run escrow-mirror contracts import.`,
  })
    .option("--url <address>", "where webhooks go (default: where they went)")
    .action((flags: EnableFlags) => orExplain(() => enableSubscription(flags)));
}

async function enableSubscription(flags: EnableFlags): Promise<void> {
  const { webhooks } = needClient(flags);
  const webhookUrl = flags.url ?? (await webhooks.get().catch(explainNone)).webhookUrl;
  if (webhookUrl == null || webhookUrl === "")
    throw new Error("The service names no address for this subscription: give one with --url.");
  const enabled = toShown(await webhooks.update({ webhookUrl }));
  await printSubscription(enabled, flags);
  if (enabled.active === true && flags.json !== true) for (const step of afterEnabling) note(step);
}

const afterEnabling = [
  "If it was disabled, no webhook was sent meanwhile. Read what changed: escrow-mirror reconcile",
  "It can't find contracts that others created meanwhile: escrow-mirror contracts import <contract...> reads them.",
];

interface RotateFlags extends StoreFlags {
  readonly save: string;
  readonly json?: boolean;
}

const rotateMore = `The new secret goes to the file and nowhere else. The file has mode 600, and holds nothing but the secret.
The service stops the old secret at once. Until your app has the new one, it answers new deliveries with 503,
and the service sends them again.
Give the new secret to the app within an hour. If the command fails or is stopped, run it again: no secret is lost.

${more}`;

function rotateCommand(): Command {
  return storeCommand({
    name: "rotate",
    description: "Change the signing secret without losing a delivery.",
    examples: [["subscription rotate --save webhook-secret", "then restart the app with the new secret"]],
    more: rotateMore,
  })
    .requiredOption("--save <file>", "where the new secret goes; a file that is there is replaced")
    .action((flags: RotateFlags) => orExplain(() => rotateSecret(flags)));
}

async function rotateSecret(flags: RotateFlags): Promise<void> {
  const client = needClient(flags);
  const place = openSecretFile(flags.save);
  const stopped = `Stopped. Run the command again in half a minute: it goes on, and saves the newest secret in ${plain(flags.save)}.`;
  try {
    await endedBySignal(
      () => withMirror(flags, (mirror) => mirror.rotateSecret({ save: place.save }), client),
      () => (place.close(), stopped),
    );
  } catch (error) {
    throw isEscrowMirrorError(error, "secret-not-saved") ? notSaved(flags.save, error) : error;
  } finally {
    place.close();
  }
  if (flags.json === true) return printJson({ saved: flags.save });
  await print([`The new signing secret is in ${plain(flags.save)}. Give it to the app within an hour.`]);
  note("Then check that it works: escrow-mirror subscription test");
}

function notSaved(file: string, error: Error): Error {
  const why = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return new Error(
    `The service has a new signing secret, and it could not be written to ${file}${why}. No delivery is lost: the app answers 503, and the service sends it again. Within an hour, run the command again with a file that can be written: it saves the same secret.`,
    { cause: error },
  );
}

function testCommand(): Command {
  return clientCommand({
    name: "test",
    description: "Ask the service for a test webhook.",
    examples: [["subscription test", "does a webhook arrive, and does the secret fit?"]],
  }).action((flags: Flags) => orExplain(() => testSubscription(flags)));
}

async function testSubscription(flags: Flags): Promise<void> {
  const { webhookId } = await needClient(flags).webhooks.test();
  if (flags.json === true) return printJson({ webhookId: webhookId ?? null });
  await print([
    `A test webhook is on its way. To see whether it has arrived: escrow-mirror deliveries show ${shown(webhookId)}`,
  ]);
}
