import { Option, type Command } from "commander";
import type { Job, JobQueries } from "../queries/jobs.ts";
import { jobStates } from "../store/tables/handlers.ts";
import { group, storeCommand, withLimit } from "./lib/command.ts";
import { counted } from "./lib/counted.ts";
import { eachId } from "./lib/each-id.ts";
import { Misuse, orExplain } from "./lib/explain.ts";
import { pagesOf, printList, type ListFlags, type Listing } from "./lib/list.ts";
import { untilStopped, withMirror } from "./lib/open.ts";
import { print, printJson } from "./lib/print.ts";
import type { StoreFlags } from "./lib/stores.ts";
import { readSince, shown, shownTime } from "./lib/values.ts";

/** `escrow-mirror jobs`. */
export function jobsCommand(): Command {
  return group("jobs", "Runs of your handlers: open, done or dead.", [listCommand(), retryCommand()]);
}

interface Flags extends StoreFlags, ListFlags {
  readonly state?: Job["state"];
  readonly handler?: string;
  readonly event?: string;
  readonly since?: string;
}

function listCommand(): Command {
  const command = storeCommand({
    name: "list",
    description: "List jobs, newest first.",
    examples: [
      ["jobs list --state dead", "jobs that gave up, with their last error"],
      ["jobs list --handler email-buyer --since 1d", "what this handler was given since yesterday"],
    ],
  }).addOption(new Option("--state <name>", "only this state").choices(jobStates));
  return withLimit(withFilter(command)).action((flags: Flags) => orExplain(() => listJobs(flags)));
}

function withFilter(command: Command): Command {
  return command
    .option("--handler <name>", "only those of this handler")
    .option("--event <type>", "only those of this event")
    .option("--since <time>", "only those made since: a time, or 2h, 3d", readSince);
}

function listJobs(flags: Flags): Promise<void> {
  return withMirror(flags, async ({ jobs }) => {
    await printJobs(jobs, flags);
  });
}

/** Prints all jobs that fit, page by page. */
export function printJobs(jobs: JobQueries, flags: Flags): Promise<number> {
  const { state, handler, event, since } = flags;
  const pages = pagesOf((page) => jobs.list({ state, handler, event, since, ...page }));
  return printList(pages, jobListing, flags);
}

const jobListing: Listing<Job> = {
  one: "job",
  columns: [
    { title: "ID", of: ({ id }) => id },
    { title: "HANDLER", of: ({ handler }) => shown(handler) },
    {
      title: "STATE",
      of: ({ state }) => state,
      style: ({ state }) => (state === "dead" ? "red" : state === "done" ? "green" : undefined),
    },
    { title: "ATTEMPTS", of: ({ attempts }) => String(attempts) },
    { title: "NEXT", of: nextOf },
    { title: "CONTRACT", of: ({ contractId }) => shown(contractId) },
    { title: "LAST ERROR", of: ({ lastError }) => shown(lastError) },
  ],
};

function nextOf({ state, nextAttemptAt }: Job): string {
  return state === "due" ? shownTime(nextAttemptAt) : "-";
}

interface RetryFlags extends Omit<Flags, "state"> {
  readonly state?: "dead" | "due";
  readonly all?: boolean;
}

const retryMore = `With a filter it retries all dead jobs that fit, oldest first. With --state due, jobs that
failed and wait for their next attempt run now. A process of your app that has the handlers runs them.`;

function retryCommand(): Command {
  const command = storeCommand({
    name: "retry",
    description: "Run dead jobs again: some by id, or all that fit a filter.",
    examples: [
      ["jobs retry 4711", "this one"],
      ["jobs retry --handler email-buyer --since 6h", "all of this handler that died in the last six hours"],
      ["jobs retry --event refund.full-succeeded", "all of this event"],
      ["jobs retry --all", "every dead job"],
    ],
    more: retryMore,
  })
    .argument("[id...]", "the jobs' ids")
    .addOption(new Option("--state <name>", "dead (default), or due").choices(["dead", "due"]))
    .option("--all", "every one");
  return withFilter(command).action((ids: string[], flags: RetryFlags) =>
    orExplain(() => (ids.length > 0 ? retryById(ids, flags) : retryAll(flags))),
  );
}

function retryById(ids: readonly string[], flags: RetryFlags): Promise<void> {
  if (hasFilter(flags) || flags.all === true || flags.state !== undefined)
    throw new Misuse("Give ids, or a filter, not both.");
  return withMirror(flags, ({ jobs }) =>
    eachId(
      ids,
      flags,
      async (id) => {
        await jobs.retry(id);
        return { text: `job ${id} runs again` };
      },
      { kind: "dead or due job", list: "jobs list" },
    ),
  );
}

async function retryAll(flags: RetryFlags): Promise<void> {
  if (!hasFilter(flags) && flags.all !== true)
    throw new Misuse("Which jobs? Give ids, or --handler, --event, --since, or --all.");
  const { state = "dead", handler, event, since } = flags;
  const { retried } = await withMirror(flags, ({ jobs }) =>
    untilStopped(
      (signal) => jobs.retryAll({ state, handler, event, since, signal }),
      "Retried jobs stay retried; run the command again for the rest.",
    ),
  );
  await (flags.json === true
    ? printJson({ retried })
    : print([`${counted(retried, "job runs", "jobs run")} again`]));
}

function hasFilter({ handler, event, since }: RetryFlags): boolean {
  return handler !== undefined || event !== undefined || since !== undefined;
}
