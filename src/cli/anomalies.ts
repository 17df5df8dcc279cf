import { Option, type Command } from "commander";
import { anomalyKinds, type AnomalyKind } from "../domain/anomaly.ts";
import type { Anomaly } from "../queries/shapes.ts";
import { storeCommand, withLimit } from "./lib/command.ts";
import { orExplain } from "./lib/explain.ts";
import { pagesOf, printList, type ListFlags, type Listing } from "./lib/list.ts";
import { withMirror } from "./lib/open.ts";
import type { StoreFlags } from "./lib/stores.ts";
import { shown, shownTime } from "./lib/values.ts";

interface Flags extends StoreFlags, ListFlags {
  readonly contract?: string;
  readonly kind?: AnomalyKind;
}

/** `escrow-mirror anomalies`. */
export function anomaliesCommand(): Command {
  const command = storeCommand({
    name: "anomalies",
    description:
      "List the anomalies that the mirror noticed, newest first. The reference explains each kind.",
    examples: [
      ["anomalies --kind gap", "contracts with a lost event"],
      ["anomalies --contract CNT-17", "those of one contract"],
    ],
  })
    .option("--contract <id>", "only those of this contract")
    .addOption(new Option("--kind <name>", "only this kind").choices(anomalyKinds));
  return withLimit(command).action((flags: Flags) => orExplain(() => listAnomalies(flags)));
}

function listAnomalies(flags: Flags): Promise<void> {
  const { contract: contractId, kind } = flags;
  return withMirror(flags, async ({ anomalies }) => {
    const pages = pagesOf((page) => anomalies.list({ contractId, kind, ...page }));
    await printList(pages, anomalyListing, flags);
  });
}

const anomalyListing: Listing<Anomaly> = {
  one: "anomaly",
  many: "anomalies",
  columns: [
    { title: "TIME", of: ({ at }) => shownTime(at) },
    { title: "KIND", of: ({ kind }) => kind },
    { title: "CONTRACT", of: ({ contractId }) => shown(contractId) },
    { title: "DETAIL", of: ({ detail }) => shown(detail) },
  ],
};
