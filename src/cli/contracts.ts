import { InvalidArgumentError, type Command } from "commander";
import { contractMachine } from "../domain/contract.ts";
import { statusesOf } from "../domain/machine.ts";
import { canonicalStatus } from "../domain/status.ts";
import type { Mirror } from "../mirror/create-mirror.ts";
import type { MirroredContract } from "../queries/shapes.ts";
import { loadCase } from "./case/case.ts";
import { printCase } from "./case/show-case.ts";
import { importCommand } from "./import.ts";
import { group, storeCommand, withLimit } from "./lib/command.ts";
import { eachId } from "./lib/each-id.ts";
import { orExplain } from "./lib/explain.ts";
import { pagesOf, printList, type ListFlags, type Listing } from "./lib/list.ts";
import { needClient, withMirror, withReads } from "./lib/open.ts";
import { plain } from "./lib/plain.ts";
import { note, printJson } from "./lib/print.ts";
import type { StoreFlags } from "./lib/stores.ts";
import { readSince, shown, shownAge, shownAmount, shownTime } from "./lib/values.ts";

/** `escrow-mirror contracts`. */
export function contractsCommand(): Command {
  return group("contracts", "Contracts: find them, show one, and read them from the service.", [
    listCommand(),
    showCommand(),
    refreshCommand(),
    importCommand(),
  ]);
}

interface ContractsFlags extends StoreFlags, ListFlags {
  readonly status?: readonly string[];
  readonly reference?: string;
  readonly changedSince?: string;
}

function listCommand(): Command {
  const command = storeCommand({
    name: "list",
    description: "List contracts, by id.",
    examples: [
      ["contracts list --status Escrow,Dispute", "contracts whose money is held"],
      ["contracts list --reference order-17", "the contract of an order of yours"],
      ["contracts list --changed-since 2h", "what changed in the last two hours, oldest change first"],
    ],
  })
    .option("--status <name...>", "only these statuses, in any case", readStatuses)
    .option("--reference <text>", "only contracts with this reference of yours")
    .option(
      "--changed-since <time>",
      "only those that the mirror changed since: a time, or 2h, 3d",
      readSince,
    );
  return withLimit(command).action((flags: ContractsFlags) => orExplain(() => listContracts(flags)));
}

function listContracts(flags: ContractsFlags): Promise<void> {
  const { status, reference, changedSince } = flags;
  return withMirror(flags, async ({ contracts }) => {
    const pages = pagesOf((page) => contracts.list({ status, reference, changedSince, ...page }));
    await printList(pages, contractListing, flags);
    for (const name of status ?? []) if (!(await isStatus(contracts, name))) note(noSuchStatus(name));
  });
}

/** Reads `Escrow,Dispute`; and each value of `Escrow Dispute`, or of an option that is given twice. */
function readStatuses(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(",").flatMap((name) => name.trim() || []);
  if (names.length === 0) throw new InvalidArgumentError("Give a status, such as Escrow.");
  return [...before, ...names];
}

const knownStatuses = [...statusesOf(contractMachine), "unknown"];

/** Whether the mirror knows the status, or a contract has it: the service may have new ones. */
async function isStatus(contracts: Mirror["contracts"], name: string): Promise<boolean> {
  if (knownStatuses.includes(canonicalStatus(contractMachine, name.toLowerCase()))) return true;
  return (await contracts.list({ status: name, limit: 1 })).items.length > 0;
}

function noSuchStatus(name: string): string {
  return `No contract has the status ${plain(name)}. Known ones: ${knownStatuses.join(", ")}.`;
}

const contractListing: Listing<MirroredContract> = {
  one: "contract",
  columns: [
    { title: "CONTRACT", of: ({ contractId }) => shown(contractId) },
    { title: "STATUS", of: ({ status }) => shown(status) },
    { title: "FOR", of: ({ statusSince }) => shownAge(statusSince) },
    { title: "AMOUNT", of: ({ amountMinor, currency }) => shownAmount(amountMinor, currency) },
    { title: "UPDATED", of: ({ updatedAt }) => shownTime(updatedAt) },
    { title: "REFERENCE", of: ({ reference }) => shown(reference) },
  ],
};

interface ShowFlags extends StoreFlags {
  readonly json?: boolean;
}

function showCommand(): Command {
  return storeCommand({
    name: "show",
    description: "Show one contract: its way, its history, what is open, and what to do next.",
    examples: [
      ["contracts show CNT-17", "what happened to this contract, and what it waits for"],
      ["contracts show CNT-17 --json | jq .open", "what it waits for, for a program"],
    ],
    more: "The buyer and the seller are not printed, so that the text can go into a ticket. --json has them.",
  })
    .argument("<contract>", "the contract's id")
    .action((id: string, flags: ShowFlags) => orExplain(() => showContract(id, flags)));
}

async function showContract(contractId: string, flags: ShowFlags): Promise<void> {
  const found = await withReads(flags, (reads) => loadCase(reads, contractId));
  if (found === undefined)
    throw new Error(
      `No contract ${contractId} is in the mirror: no webhook has named it. If the service has it, escrow-mirror contracts refresh ${contractId} reads it.`,
    );
  await (flags.json === true ? printJson(found) : printCase(found));
}

function refreshCommand(): Command {
  return storeCommand({
    name: "refresh",
    description: "Read contracts from the service's API into the mirror.",
    examples: [["contracts refresh CNT-17", "ask the service, after a lost webhook"]],
    more: "It prints the status before and after. For many contracts use escrow-mirror contracts import.",
  })
    .argument("<contract...>", "the contracts' ids")
    .action((ids: string[], flags: ShowFlags) => orExplain(() => refreshContracts(ids, flags)));
}

function refreshContracts(ids: readonly string[], flags: ShowFlags): Promise<void> {
  const client = needClient(flags);
  return withMirror(
    flags,
    ({ contracts }) =>
      eachId(ids, flags, async (id) => {
        const before = (await contracts.get(id))?.status ?? null;
        const { status } = await contracts.refresh(id);
        return { fields: { before, status }, text: refreshed(id, before, status) };
      }),
    client,
  );
}

function refreshed(contractId: string, before: string | null, status: string): string {
  if (before === null) return `${contractId} was not in the mirror, and is ${status}.`;
  return before === status
    ? `${contractId} is ${status}, as before.`
    : `${contractId} was ${before}, and is ${status}.`;
}
