import process from "node:process";
import type { Command } from "commander";
import type { Client } from "../client.ts";
import type { Mirror } from "../mirror/create-mirror.ts";
import type { Health } from "../mirror/health.ts";
import { aside, gaveUp } from "../mirror/warnings.ts";
import { readsIn, type Reads } from "../queries/reads.ts";
import type { MirroredRefund } from "../queries/shapes.ts";
import { styled } from "./lib/columns.ts";
import { storeCommand } from "./lib/command.ts";
import { counted } from "./lib/counted.ts";
import { exitCodes, orExplain } from "./lib/explain.ts";
import { findClient, withMirror, type OpenStore } from "./lib/open.ts";
import { plain } from "./lib/plain.ts";
import { print, printJson } from "./lib/print.ts";
import { kindOf, type StoreFlags } from "./lib/stores.ts";
import { stuckAfterMs } from "./case/stuck.ts";
import { shown, shownAge, shownTime } from "./lib/values.ts";
import { toShown, type ShownSubscription } from "./subscription.ts";

interface Flags extends StoreFlags {
  readonly json?: boolean;
}

const more = `It asks the store. If the service's address and your credentials are set, it also asks the service about
the subscription (escrow-mirror subscription show --help).

Exit codes: 0 all is well, 1 a person must do something, or the store can't be used.`;

/** `escrow-mirror status`: says if all is well, and else what to do. */
export function statusCommand(): Command {
  return storeCommand({
    name: "status",
    description: "Say whether all is well, and what a person must do.",
    examples: [
      ["status", "the first thing to ask"],
      ["status --json", "for an alarm: the exit code is 1 while a person must do something"],
    ],
    more,
  }).action((flags: Flags) => orExplain(() => runStatus(flags)));
}

/** The object that `status --json` prints. */
interface Status {
  readonly ok: boolean;
  readonly store: string;
  readonly lastDeliveryAt: string | null;
  readonly contracts: { readonly total: number; readonly byStatus: Readonly<Record<string, number>> };
  readonly quarantined: number;
  readonly jobs: Health["jobs"];
  /** 500 means 500 or more. */
  readonly stuckRefunds: { readonly count: number; readonly since: string | null };
  /** `null` if the service was not asked. */
  readonly subscription: ShownSubscription | { readonly error: string } | null;
  /** A sentence for each thing that a person must do. */
  readonly todo: readonly string[];
}

async function runStatus(flags: Flags): Promise<void> {
  const client = findClient(flags);
  const status = await withMirror(flags, (mirror, open) => readStatus(mirror, client, open));
  if (!status.ok) process.exitCode = exitCodes.failed;
  await (flags.json === true ? printJson(status) : print(toLines(status)));
}

/** Asks the store, and the service if there is a client. */
export async function readStatus(
  mirror: Mirror,
  client: Client | undefined,
  { address, store }: OpenStore,
): Promise<Status> {
  const [health, [contracts, stuck], subscription] = await Promise.all([
    mirror.health(),
    store.read((reader) => readCounts(readsIn(reader))),
    client === undefined ? null : askService(client),
  ]);
  const todo = [...todoOf(health, stuck.items), ...todoOfSubscription(subscription)];
  const { lastDeliveryAt, quarantined, jobs } = health;
  return {
    ok: health.ok && todo.length === 0,
    store: kindOf(address) === "sqlite" ? address : "postgres",
    lastDeliveryAt,
    contracts,
    quarantined,
    jobs,
    stuckRefunds: { count: stuck.items.length, since: stuck.items[0]?.initiatedAt ?? null },
    subscription,
    todo,
  };
}

function readCounts({ contracts, refunds }: Reads) {
  return Promise.all([
    contracts.count(),
    refunds.list({ state: "initiated", olderThan: stuckAfterMs, limit: 500 }),
  ]);
}

/** The longest wait for the service. A person waits for the answer. */
const answerMs = 5000;

async function askService(client: Client): Promise<Status["subscription"]> {
  try {
    return toShown(await client.webhooks.get({ signal: AbortSignal.timeout(answerMs) }));
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function todoOf(health: Health, stuck: readonly MirroredRefund[]): string[] {
  const { quarantined, jobs, warnings } = health;
  const inOtherWords = new Set([aside(quarantined), gaveUp(jobs.dead)]);
  const since = stuck[0]?.initiatedAt ?? null;
  return [
    ...(stuck.length === 0
      ? []
      : [
          `${counted(stuck.length, "refund is", "refunds are")} stuck, the longest for ${shownAge(since)}: escrow-mirror refunds list --stuck`,
        ]),
    ...(quarantined === 0
      ? []
      : [
          `${counted(quarantined, "delivery is", "deliveries are")} quarantined: escrow-mirror quarantine list`,
        ]),
    ...(jobs.dead === 0
      ? []
      : [`${counted(jobs.dead, "job is", "jobs are")} dead: escrow-mirror jobs list --state dead`]),
    ...warnings.filter((warning) => !inOtherWords.has(warning)),
  ];
}

/** From so many failures in a row it warns. At ten the service disables the subscription. */
const failuresAlarm = 5;

function todoOfSubscription(subscription: Status["subscription"]): string[] {
  if (subscription === null) return [];
  if ("error" in subscription) return [`The service could not be asked: ${subscription.error}`];
  const { active, consecutiveFailures } = subscription;
  if (active !== true)
    return [
      "The service sends no webhooks: the subscription is disabled. Fix the cause of the failed deliveries, then: escrow-mirror subscription enable, and escrow-mirror reconcile",
    ];
  if ((consecutiveFailures ?? 0) < failuresAlarm) return [];
  return [
    `${String(consecutiveFailures)} webhooks in a row were not answered 2xx: at ten the service disables the subscription. The app's log says why.`,
  ];
}

function toLines(status: Status): string[] {
  const { ok, store, lastDeliveryAt, contracts, quarantined, jobs, stuckRefunds, todo } = status;
  const ago = lastDeliveryAt === null ? "" : `, ${shownAge(lastDeliveryAt)} ago`;
  const rows = [
    ["Status", ok ? styled("green", "all is well") : styled("yellow", "a person must do something")],
    ["Store", plain(store)],
    ["Last webhook", lastDeliveryAt === null ? "none yet" : `${shownTime(lastDeliveryAt)}${ago}`],
    ["Contracts", contractsLine(contracts)],
    ["Stuck refunds", orMore(stuckRefunds.count, 500)],
    ["Quarantined", orMore(quarantined, 10_000)],
    ["Jobs", jobsLine(jobs)],
    ["Subscription", subscriptionLine(status.subscription)],
  ] as const;
  const lines = rows.map(([name, value]) => `${name.padEnd(15)}${value}`);
  return todo.length === 0 ? lines : [...lines, "", ...todo.map((each) => `! ${plain(each)}`)];
}

function contractsLine({ total, byStatus }: Status["contracts"]): string {
  const parts = Object.entries(byStatus)
    .sort(([, one], [, other]) => other - one)
    .map(([status, count]) => `${plain(status)} ${count.toLocaleString("en")}`);
  return total === 0 ? "0" : `${total.toLocaleString("en")} (${parts.join(", ")})`;
}

function jobsLine({ due, waiting, running, dead }: Health["jobs"]): string {
  const counts = { due, waiting, running, dead };
  return Object.entries(counts)
    .map(([state, count]) => `${orMore(count, 1000)} ${state}`)
    .join(", ");
}

function orMore(count: number, max: number): string {
  return `${count.toLocaleString("en")}${count >= max ? " or more" : ""}`;
}

function subscriptionLine(subscription: Status["subscription"]): string {
  if (subscription === null) return "not asked: the service's address and your credentials are not set";
  if ("error" in subscription) return "unknown";
  const { active, consecutiveFailures } = subscription;
  return `${active === true ? "active" : "DISABLED"}, ${shown(consecutiveFailures)} failures in a row`;
}
