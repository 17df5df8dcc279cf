/** One contract as a page of text. */
import process from "node:process";
import type { MirroredContract, MirroredRefund, Transition } from "../../queries/shapes.ts";
import type { Case } from "./case.ts";
import { createTable, styled, type Column } from "../lib/columns.ts";
import type { Open } from "./open-points.ts";
import { plain } from "../lib/plain.ts";
import { print } from "../lib/print.ts";
import { shown, shownAge, shownAmount, shownTime } from "../lib/values.ts";
import { wrap } from "../lib/wrap.ts";
import { wayOf } from "./way.ts";

export async function printCase(found: Case): Promise<void> {
  const { contract, history, payments, disputes, anomalies, open } = found;
  await print([
    ...headOf(contract),
    ...wayLines(wayOf(contract, history)),
    ...section("Milestones", milestoneColumns, contract.milestones),
    ...section("Payments", paymentColumns, payments),
    ...section("Refunds", refundColumns, contract.refunds),
    ...section("Disputes", disputeColumns, disputes),
    ...section("History", historyColumns, history),
    ...section("Anomalies", anomalyColumns, anomalies),
    "",
    styled("bold", "Open"),
    ...(open.length === 0
      ? ["Nothing. The mirror waits for nothing and has no problem with this contract."]
      : open.flatMap(openLines)),
  ]);
}

/** A terminal gets several lines: the way is broken between two steps. */
function wayLines(way: string): string[] {
  const screen = process.stdout.isTTY ? process.stdout.columns : Infinity;
  const [first = "", ...further] = wrap(way, screen - labelWidth);
  const indent = " ".repeat(labelWidth);
  return [`${"Way".padEnd(labelWidth)}${first}`, ...further.map((line) => indent + line)];
}

const labelWidth = 11;

function headOf(contract: MirroredContract): string[] {
  const { contractId, status, statusSince, title, reference, amountMinor, currency } = contract;
  const { createdAt, syncedAt } = contract;
  // Of a contract that was erased before it arrived, no time is known.
  const since = statusSince === "" ? "" : `, for ${shownAge(statusSince)}, since ${shownTime(statusSince)}`;
  const rows = [
    ["Contract", shown(contractId)],
    ["Status", `${styled("bold", shown(status))}${since}`],
    ["Title", shown(title)],
    ["Reference", shown(reference)],
    ["Amount", shownAmount(amountMinor, currency)],
    ["Created", shownTime(createdAt)],
    ["API read", syncedAt === null ? "never" : shownTime(syncedAt)],
  ] as const;
  return rows
    .filter(([, value]) => value !== "-")
    .map(([name, value]) => `${name.padEnd(labelWidth)}${value}`);
}

/** A heading and a table. No lines if there are no items. */
function section<Item>(title: string, columns: readonly Column<Item>[], items: readonly Item[]): string[] {
  return items.length === 0 ? [] : ["", styled("bold", title), ...createTable(columns).lines(items)];
}

const milestoneColumns: readonly Column<MirroredContract["milestones"][number]>[] = [
  { title: "ID", of: ({ milestoneId }) => shown(milestoneId) },
  { title: "STATUS", of: ({ status }) => shown(status) },
  { title: "SINCE", of: ({ statusSince }) => shownTime(statusSince) },
  { title: "NAME", of: ({ name }) => shown(name) },
];

const paymentColumns: readonly Column<Case["payments"][number]>[] = [
  { title: "ID", of: ({ paymentId }) => shown(paymentId) },
  { title: "SCOPE", of: targetOf },
  { title: "AMOUNT", of: ({ amountMinor, currency }) => shownAmount(amountMinor, currency) },
  { title: "PAID", of: ({ completedAt }) => shownTime(completedAt) },
];

const refundColumns: readonly Column<MirroredRefund>[] = [
  { title: "ID", of: ({ refundId }) => shown(refundId) },
  { title: "SCOPE", of: targetOf },
  { title: "KIND", of: ({ kind }) => kind },
  { title: "STATE", of: ({ state, inferred }) => (inferred ? `${state} (by the status)` : state) },
  { title: "AMOUNT", of: ({ amountMinor, currency }) => shownAmount(amountMinor, currency) },
  { title: "INITIATED", of: ({ initiatedAt }) => shownTime(initiatedAt) },
  { title: "SUCCEEDED", of: ({ succeededAt }) => shownTime(succeededAt) },
];

const disputeColumns: readonly Column<Case["disputes"][number]>[] = [
  { title: "ID", of: ({ disputeId }) => shown(disputeId) },
  { title: "SCOPE", of: targetOf },
  { title: "RAISED", of: ({ raisedAt }) => shownTime(raisedAt) },
];

const historyColumns: readonly Column<Transition>[] = [
  { title: "TIME", of: ({ occurredAt }) => shownTime(occurredAt) },
  { title: "EVENT", of: ({ event }) => (event === "snapshot" ? "read from the API" : shown(event)) },
  { title: "STEP", of: stepOf },
  { title: "ODD", of: ({ anomaly }) => anomaly ?? "", style: () => "yellow" },
];

const anomalyColumns: readonly Column<Case["anomalies"][number]>[] = [
  { title: "TIME", of: ({ at }) => shownTime(at) },
  { title: "KIND", of: ({ kind }) => kind },
  { title: "DETAIL", of: ({ detail }) => shown(detail) },
];

/** The payment, refund or dispute is of the contract, or of one of its milestones. */
function targetOf({ milestoneId }: { readonly milestoneId: string | null }): string {
  return milestoneId === null ? "contract" : `milestone ${shown(milestoneId)}`;
}

function stepOf({ milestoneId, from, to, moved }: Transition): string {
  const who = milestoneId === null ? "" : `milestone ${shown(milestoneId)}: `;
  if (!moved) return `${who}says ${shown(to)}: no move`;
  return from === null ? `${who}→ ${shown(to)}` : `${who}${shown(from)} → ${shown(to)}`;
}

function openLines({ stuck, since, what, next }: Open): string[] {
  const mark = stuck ? styled("yellow", "! ") : "- ";
  const age = since === null ? [] : [`since ${shownTime(since)} (${shownAge(since)})`];
  return [`${mark}${plain(what)}`, ...[...age, ...next.map(plain)].map((each) => `    ${each}`)];
}
