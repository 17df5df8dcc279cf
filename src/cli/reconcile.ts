import process from "node:process";
import type { Command } from "commander";
import type { Drift } from "../reconcile/drift.ts";
import type { Reconciled, ReconcileProgress } from "../reconcile/reconcile.ts";
import { createTable, type Column } from "./lib/columns.ts";
import { storeCommand, withPace, type PaceFlags } from "./lib/command.ts";
import { counted } from "./lib/counted.ts";
import { exitCodes, orExplain } from "./lib/explain.ts";
import { failureLines } from "./lib/failures.ts";
import { needClient, untilStopped, withMirror } from "./lib/open.ts";
import { note, print, printJson } from "./lib/print.ts";
import { createProgress } from "./lib/progress.ts";
import type { StoreFlags } from "./lib/stores.ts";
import { readAge, readSince, shown } from "./lib/values.ts";

interface Flags extends StoreFlags, PaceFlags {
  readonly since?: string;
  readonly olderThan?: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const more = `It reads contracts with a failed delivery in the service's log, contracts in progress, and ended ones that
look incomplete. It may run while the app receives. If it stops early, the next run within an hour goes on.

Exit codes: 0 all were read, 1 some failed.`;

/** `escrow-mirror reconcile`: reads contracts from the service, in case webhooks were lost. */
export function reconcileCommand(): Command {
  const command = storeCommand({
    name: "reconcile",
    description: "Read from the service's API what the mirror may have missed.",
    examples: [
      ["reconcile --dry-run", "only report where the mirror differs"],
      ["reconcile --since 6h", "after an outage that began six hours ago"],
    ],
    more,
  })
    .option("--since <time>", "when the trouble began: a time, or 2h, 3d (default: everything)", readSince)
    .option("--older-than <age>", "skip contracts in progress that had news in this time", readAge)
    .option("--dry-run", "only report: the mirror stays as it is");
  return withPace(command).action((flags: Flags) => orExplain(() => runReconcile(flags)));
}

async function runReconcile(flags: Flags): Promise<void> {
  const { since, olderThan, dryRun, concurrency, perSecond: perSecondMax } = flags;
  const progress = createProgress();
  const onProgress = ({ checked, healed, failed }: ReconcileProgress): void =>
    progress.tell(`${counted(checked, "contract")} read, ${healed} healed, ${failed} failed`);
  const options = { since, olderThan, dryRun, concurrency, perSecondMax, onProgress };
  const client = needClient(flags);
  const result = await withMirror(
    flags,
    (mirror) =>
      untilStopped(
        (signal) => mirror.reconcile({ ...options, signal }).finally(() => progress.end()),
        "Contracts that are done stay done; run the command again within an hour for the rest.",
      ),
    client,
  );
  await (flags.json === true ? printJson(result) : printResult(result));
  if (result.failed > 0) process.exitCode = exitCodes.failed;
}

async function printResult({
  checked,
  healed,
  failed,
  drift,
  failures,
  unreadable,
}: Reconciled): Promise<void> {
  await print([`${counted(checked, "contract")} read, ${healed} healed, ${failed} failed`]);
  if (drift.length > 0) await print(["", ...createTable(driftColumns).lines(drift)]);
  await print(failureLines(failures));
  note(`The API does not show: ${unreadable.join(", ")}.`);
}

const driftColumns: readonly Column<Drift>[] = [
  { title: "CONTRACT", of: ({ contractId }) => shown(contractId) },
  { title: "MILESTONE", of: ({ milestoneId }) => shown(milestoneId) },
  { title: "FIELD", of: ({ field }) => shown(field) },
  { title: "MIRROR", of: ({ mirror }) => shown(mirror) },
  { title: "SERVICE", of: ({ service }) => shown(service) },
];
