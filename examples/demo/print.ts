import Table from "cli-table3";
import type { Mirror } from "escrow-mirror";
import type { Side } from "./compare.ts";
import type { LivesReport } from "./lives.ts";

type Print = (line: string) => void;

/** Both sides after the twenty lives, and the faults that happened between them. */
export function printLives(report: LivesReport, print: Print): void {
  const { sides, unexplained, faults, reconciled } = report;
  const rows = sides.map((side) => [side.contractId, side.service, side.mirror, tellEqual(side)]);
  print(toTable(["contract", "the service says", "the mirror says", "and that is"], rows));
  const did = Object.entries(faults).filter(([, count]) => count > 0);
  print(`\nWhat the line did: ${did.map(([fault, count]) => `${count} × ${fault}`).join(", ")}.`);
  const equal = sides.filter((side) => side.equal).length;
  const missing = sides.filter((side) => !side.equal && side.dropped.length > 0);
  print(`${equal} of ${sides.length} contracts are equal, milestones and refunds included.`);
  for (const { contractId, dropped } of missing)
    print(`${contractId} differs: no later webhook makes up for the dropped ${dropped.join(" and ")}.`);
  if (unexplained.length > 0)
    print(`${unexplained.length} differ although every webhook came: that is a bug.`);
  const { checked, healed, drift, after } = reconciled;
  print(`\nThen mirror.reconcile() read ${checked} contracts from the API and corrected ${healed}:`);
  for (const { contractId, field, mirror, service } of drift)
    print(`${contractId}: ${field} was ${mirror ?? "unknown"}, and is ${service}.`);
  print(`Now ${after.sides.filter((side) => side.equal).length} of ${sides.length} are equal.`);
}

function tellEqual({ equal, dropped }: Side): string {
  if (dropped.length === 0) return equal ? "equal" : "DIFFERS";
  return [`${equal ? "equal" : "differs"}; dropped:`, ...dropped].join("\n");
}

/** Prints a mirror's contents for a person. */
export async function printMirror(mirror: Mirror, print: Print): Promise<void> {
  await printContracts(mirror, print);
  await printRefunds(mirror, print);
  await printHistory(mirror, "CNT-2604-00100002", print);
  await printQuarantine(mirror, print);
}

async function printContracts(mirror: Mirror, print: Print): Promise<void> {
  const { items } = await mirror.contracts.list();
  print(`\nThe contracts, read from the local database: ${items.length}`);
  const rows = items.map(({ contractId, status, statusSince, previousStatus, reference }) => [
    contractId,
    status,
    toSeconds(statusSince),
    previousStatus ?? "",
    reference ?? "",
  ]);
  print(toTable(["contract", "status", "since", "before", "reference"], rows));
}

async function printRefunds(mirror: Mirror, print: Print): Promise<void> {
  const { items } = await mirror.refunds.list();
  print("\nThe refunds, their two webhooks paired by transactionId");
  const rows = items.map(
    ({ refundId, contractId, milestoneId, amountMinor, currency, initiatedAt, succeededAt }) => [
      refundId ?? "not named yet",
      milestoneId === null ? contractId : `${contractId}\nmilestone ${milestoneId}`,
      amountMinor === null ? "" : `${toAmount(amountMinor)} ${currency}`,
      initiatedAt === null ? "no webhook" : toSeconds(initiatedAt),
      succeededAt === null ? "not yet" : toSeconds(succeededAt),
    ],
  );
  print(toTable(["refund", "of", "amount", "initiated", "succeeded"], rows));
}

async function printHistory(mirror: Mirror, contractId: string, print: Print): Promise<void> {
  print(`\nThe history of ${contractId}, in the order of the events and not of their arrival`);
  const rows = (await mirror.contracts.history(contractId)).map((step) => [
    toSeconds(step.occurredAt ?? ""),
    step.event,
    step.milestoneId === null ? "contract" : `milestone ${step.milestoneId}`,
    step.moved ? `${step.from ?? "(new)"} → ${step.to}` : `stays ${step.to}`,
    step.anomaly ?? "",
  ]);
  print(toTable(["at", "event", "of", "transition", "flag"], rows));
  print(`gap: events before this one have not come; the recording begins in the middle of its contracts.
stays: the event says what an earlier one had said; here a second refund began during the first.`);
}

async function printQuarantine(mirror: Mirror, print: Print): Promise<void> {
  const { items } = await mirror.quarantine.list();
  print(`\nIn quarantine, authentic and stored but not applied: ${items.length}`);
  // The list is in the order of arrival, which differs in each run.
  const sorted = items.sort((a, b) => a.webhookId.localeCompare(b.webhookId, "en", { numeric: true }));
  const rows = sorted.map(({ webhookId, reason, attempts }) => [
    webhookId,
    explanations[reason ?? ""] ?? reason ?? "",
    `${attempts} times`,
  ]);
  print(toTable(["webhook", "why", "came"], rows));
}

const explanations: Record<string, string> = {
  "not-utf8": "not-utf8: a byte of the body is not UTF-8",
  "not-json": "not-json: the body is not JSON",
  "ambiguous-field": "ambiguous-field: one key appears twice, with two values",
};

/** The mirror stores all seven digits of a fraction. Here they would only widen the table. */
function toSeconds(time: string): string {
  return time.replace(/\.\d+/, "");
}

function toAmount(minor: number): string {
  return `${Math.trunc(minor / 100)}.${String(minor % 100).padStart(2, "0")}`;
}

function toTable(head: string[], rows: string[][]): string {
  const table = new Table({
    head,
    style: { head: [], border: [], compact: rows.every((row) => row.every((cell) => !cell.includes("\n"))) },
  });
  table.push(...rows);
  return table.toString();
}
