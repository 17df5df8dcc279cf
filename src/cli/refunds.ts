import { Option, type Command } from "commander";
import type { Mirror } from "../mirror/create-mirror.ts";
import type { MirroredRefund } from "../queries/shapes.ts";
import { refundStates } from "../domain/records.ts";
import { group, storeCommand, withLimit } from "./lib/command.ts";
import { Misuse, orExplain } from "./lib/explain.ts";
import { pagesOf, printList, type ListFlags, type Listing } from "./lib/list.ts";
import { withMirror } from "./lib/open.ts";
import { note } from "./lib/print.ts";
import type { StoreFlags } from "./lib/stores.ts";
import { isStuck, stuckAfterMs } from "./case/stuck.ts";
import { readAge, shown, shownAge, shownAmount } from "./lib/values.ts";

interface Flags extends StoreFlags, ListFlags {
  readonly state?: MirroredRefund["state"];
  readonly contract?: string;
  readonly stuck?: boolean;
  readonly stuckAfter?: number;
}

const more = `The order: stuck ones first, the longest wait at the top; then requested, initiated and succeeded ones.
An initiated refund is stuck after 3 days, a requested one after 90 minutes.`;

/** `escrow-mirror refunds`. */
export function refundsCommand(): Command {
  const list = storeCommand({
    name: "list",
    description: "List refunds, stuck ones first.",
    examples: [
      ["refunds list --stuck", "refunds that wait for too long"],
      ["refunds list --stuck --stuck-after 7d", "those that were initiated a week ago or earlier"],
      ["refunds list --contract CNT-17", "the refunds of one contract"],
    ],
    more,
  })
    .option("--stuck", "only those that wait for too long")
    .option("--stuck-after <age>", "when an initiated refund counts as stuck (default: 3d)", readAge)
    .addOption(new Option("--state <name>", "only this state").choices(refundStates))
    .option("--contract <id>", "only those of this contract");
  const command = withLimit(list).action((flags: Flags) => orExplain(() => listRefunds(flags)));
  return group("refunds", "Refunds, and which of them are stuck.", [command]);
}

/** One refund in the list. */
interface ListedRefund extends MirroredRefund {
  /** It waits for too long. */
  readonly stuck: boolean;
}

async function listRefunds(flags: Flags): Promise<void> {
  if (flags.stuck === true && flags.state !== undefined)
    throw new Misuse(
      "--stuck and --state can't be used together: --stuck shows requested and initiated ones.",
    );
  await withMirror(flags, async (mirror) => {
    const stuck = { seen: 0 };
    await printList(counting(listed(mirror, flags), stuck), refundListing, flags);
    if (stuck.seen > 0) note("For each stuck one: escrow-mirror contracts show <contract> says what to do.");
  });
}

async function* counting(pages: AsyncIterable<ListedRefund[]>, stuck: { seen: number }) {
  for await (const page of pages) {
    stuck.seen += page.filter((each) => each.stuck).length;
    yield page;
  }
}

async function* listed(mirror: Mirror, flags: Flags): AsyncGenerator<ListedRefund[]> {
  const { stuckAfter = stuckAfterMs, stuck: only = false } = flags;
  const now = Date.now();
  for await (const page of inOrder(mirror, flags)) {
    const items = page.map((refund) => ({ ...refund, stuck: isStuck(refund, now, stuckAfter) }));
    const shownItems = only ? items.filter(({ stuck }) => stuck) : items;
    if (shownItems.length > 0) yield shownItems;
  }
}

/** Stuck initiated refunds, then requested, young initiated and succeeded ones. The list of initiated ones is by age. */
async function* inOrder(mirror: Mirror, flags: Flags): AsyncGenerator<MirroredRefund[]> {
  const { state, contract: contractId, stuck = false, stuckAfter = stuckAfterMs } = flags;
  const list = (filter: object) => pagesOf((page) => mirror.refunds.list({ contractId, ...filter, ...page }));
  if (contractId !== undefined || state !== undefined) return yield* list({ state });
  const now = Date.now();
  let areStuck = true;
  for await (const page of list({ state: "initiated" })) {
    const young = page.findIndex((refund) => !isStuck(refund, now, stuckAfter));
    if (!areStuck || young < 0) {
      yield page;
      continue;
    }
    yield page.slice(0, young);
    yield* list({ state: "requested" });
    if (stuck) return;
    areStuck = false;
    yield page.slice(young);
  }
  if (areStuck) yield* list({ state: "requested" });
  if (!stuck) yield* list({ state: "succeeded" });
}

const refundListing: Listing<ListedRefund> = {
  one: "refund",
  columns: [
    { title: "REFUND", of: ({ refundId }) => shown(refundId) },
    { title: "CONTRACT", of: ({ contractId }) => shown(contractId) },
    {
      title: "SCOPE",
      of: ({ milestoneId }) => (milestoneId === null ? "contract" : `milestone ${shown(milestoneId)}`),
    },
    { title: "KIND", of: ({ kind }) => kind },
    { title: "AMOUNT", of: ({ amountMinor, currency }) => shownAmount(amountMinor, currency) },
    {
      title: "STATE",
      of: ({ state, stuck }) => (stuck ? `${state}, stuck` : state),
      style: ({ stuck, state }) => (stuck ? "yellow" : state === "succeeded" ? "green" : undefined),
    },
    { title: "FOR", of: (refund) => shownAge(lastStep(refund)) },
  ],
};

function lastStep({ state, requestedAt, initiatedAt, succeededAt }: MirroredRefund): string | null {
  if (state === "succeeded") return succeededAt;
  return state === "initiated" ? initiatedAt : requestedAt;
}
