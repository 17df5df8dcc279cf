import { Option, type Command } from "commander";
import { isUtf8 } from "node:buffer";
import { storedOutcomes } from "../store/tables/deliveries.ts";
import type { MirroredDelivery } from "../queries/shapes.ts";
import { group, storeCommand, withLimit } from "./lib/command.ts";
import { orExplain } from "./lib/explain.ts";
import { counted } from "./lib/counted.ts";
import { eachId } from "./lib/each-id.ts";
import { pagesOf, printList, type ListFlags, type Listing } from "./lib/list.ts";
import { withMirror, withReads } from "./lib/open.ts";
import { plain } from "./lib/plain.ts";
import { print, printJson } from "./lib/print.ts";
import type { StoreFlags } from "./lib/stores.ts";
import { readSince, shown, shownTime } from "./lib/values.ts";

/** `escrow-mirror deliveries`. */
export function deliveriesCommand(): Command {
  return group("deliveries", "Webhooks, as they arrived.", [listCommand(), showCommand(), replayCommand()]);
}

interface Flags extends StoreFlags, ListFlags {
  readonly contract?: string;
  readonly event?: string;
  readonly outcome?: MirroredDelivery["outcome"];
  readonly since?: string;
}

function listCommand(): Command {
  const command = storeCommand({
    name: "list",
    description: "List deliveries, newest first.",
    examples: [
      ["deliveries list --since 1h", "what arrived in the last hour"],
      ["deliveries list --contract CNT-17", "the webhooks of one contract"],
      ["deliveries list --event refund.full-succeeded --json", "refunds, for a program"],
    ],
  })
    .option("--contract <id>", "only those of this contract")
    .option("--event <type>", "only this event")
    .addOption(new Option("--outcome <name>", "only this result").choices(storedOutcomes))
    .option("--since <time>", "only those received since: a time, or 2h, 3d", readSince);
  return withLimit(command).action((flags: Flags) => orExplain(() => listDeliveries(flags)));
}

function listDeliveries(flags: Flags): Promise<void> {
  const { contract: contractId, event, outcome, since } = flags;
  return withMirror(flags, async ({ deliveries }) => {
    const pages = pagesOf((page) => deliveries.list({ contractId, event, outcome, since, ...page }));
    await printList(pages, deliveryListing, flags);
  });
}

const deliveryListing: Listing<MirroredDelivery> = {
  one: "delivery",
  many: "deliveries",
  columns: [
    { title: "RECEIVED", of: ({ receivedAt }) => shownTime(receivedAt) },
    { title: "EVENT", of: ({ event }) => shown(event) },
    { title: "CONTRACT", of: ({ contractId }) => shown(contractId) },
    { title: "OUTCOME", of: ({ outcome, reason }) => (reason === null ? outcome : `${outcome}: ${reason}`) },
    { title: "COPIES", of: ({ attempts }) => String(attempts) },
    { title: "ID", of: ({ id }) => shown(id) },
  ],
};

interface ShowFlags extends StoreFlags {
  readonly json?: boolean;
}

function showCommand(): Command {
  return storeCommand({
    name: "show",
    description: "Show one delivery and its body.",
    examples: [["deliveries show wh-17", "one delivery, by its webhook id or its id"]],
  })
    .argument("<id>", "its webhook id, or its id")
    .action((id: string, flags: ShowFlags) => orExplain(() => showDelivery(id, flags)));
}

async function showDelivery(id: string, flags: ShowFlags): Promise<void> {
  const found = await withReads(flags, ({ deliveries }) => withBody(deliveries.get(id)));
  if (found === undefined) throw new Error(`No delivery has the id ${id}: it has not arrived.`);
  await printDelivery(found, flags);
}

/** A delivery with its body, and with its headers if they were read. */
interface Whole extends Omit<MirroredDelivery, "body"> {
  readonly headers?: Readonly<Record<string, string>> | null;
  readonly body: Uint8Array | null;
}

/** Reads the body too. */
export async function withBody(reading: Promise<MirroredDelivery | undefined>): Promise<Whole | undefined> {
  const delivery = await reading;
  return delivery && { ...delivery, body: await delivery.body() };
}

/** Prints one delivery. */
export async function printDelivery(delivery: Whole, { json }: ShowFlags): Promise<void> {
  const { body } = delivery;
  if (json === true) return printJson({ ...delivery, ...bodyFields(body) });
  const lines = fieldsOf(delivery).map(([name, value]) => `${name.padEnd(15)}${value}`);
  const { headers } = delivery;
  const sent = Object.entries(headers ?? {}).map(([name, value]) => `${plain(name)}: ${plain(value)}`);
  const heads = sent.length === 0 ? [] : ["", "Headers", ...sent];
  await print([...lines, ...heads, "", "Body", ...bodyLines(body)]);
}

function fieldsOf(delivery: Whole): [name: string, value: string][] {
  const { id, webhookId, payloadId, event, contractId, milestoneId, outcome, reason, attempts } = delivery;
  return [
    ["Id", shown(id)],
    ["Webhook id", shown(webhookId)],
    ["Payload id", shown(payloadId)],
    ["Event", shown(event)],
    ["Contract", shown(contractId)],
    ["Milestone", shown(milestoneId)],
    ["Outcome", outcome],
    ["Reason", shown(reason)],
    ["Happened", shownTime(delivery.occurredAt)],
    ["Received", shownTime(delivery.receivedAt)],
    ["Copies", String(attempts)],
    ["Last copy", shownTime(delivery.lastReceivedAt)],
    ["Signed with", shown(delivery.secretId)],
  ];
}

/** The body as text. A body that is not UTF-8 comes as base64, so that no byte is lost. */
function bodyFields(body: Uint8Array | null): { body: string | null; bodyBase64: string | null } {
  if (body === null) return { body: null, bodyBase64: null };
  const bytes = Buffer.from(body);
  return isUtf8(bytes)
    ? { body: bytes.toString(), bodyBase64: null }
    : { body: null, bodyBase64: bytes.toString("base64") };
}

function bodyLines(body: Uint8Array | null): string[] {
  if (body === null) return ["(not stored any more: it was pruned or redacted)"];
  if (!isUtf8(body)) return [`(not text: ${counted(body.length, "byte")}. --json prints them as base64)`];
  return Buffer.from(body).toString().split(/\r?\n/).map(plain);
}

function replayCommand(): Command {
  return storeCommand({
    name: "replay",
    description: "Make new jobs for deliveries, one for each handler. The mirror's state does not change.",
    examples: [["deliveries replay wh-17", "run your handlers once more for this delivery"]],
    more: "A process of your app that has the handlers runs the jobs. Each gets a new idempotency key.",
  })
    .argument("<id...>", "the deliveries' ids")
    .action((ids: string[], flags: ShowFlags) => orExplain(() => replayDeliveries(ids, flags)));
}

function replayDeliveries(ids: readonly string[], flags: ShowFlags): Promise<void> {
  return withMirror(flags, ({ deliveries }) =>
    eachId(
      ids,
      flags,
      async (id) => {
        const jobs = await deliveries.replay(id);
        return { fields: { jobs }, text: `${counted(jobs, "job")} made for ${id}` };
      },
      { kind: "applied delivery", list: "deliveries list" },
    ),
  );
}
