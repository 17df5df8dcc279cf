/** Tells of own calls that nothing has answered for so long that nothing will: a person has to look. */
import { commitOnce, type CommitParts } from "../receiver/commit.ts";
import { lastingAnomaly } from "../receiver/contracts/lasting-anomaly.ts";
import { toIsoTime } from "../shared/clock.ts";
import { clearTimeout, setTimeout } from "../shared/timers.ts";
import type { StoreTransaction } from "../store/store.ts";
import type { IntentRow } from "../store/tables/inputs.ts";

/** How many are told of in one commit. */
const pageRows = 200;

/** Notes an anomaly for each intent that has been open for `timeoutMs`, once. */
export async function tellOpenIntents(commit: CommitParts, timeoutMs: number): Promise<void> {
  const nowMs = commit.clock.now();
  const until = toIsoTime(nowMs - timeoutMs);
  const now = toIsoTime(nowMs);
  let after: readonly [string, string] | undefined;
  for (;;) {
    const stretch = {
      by: ["createdAt", "intentId"],
      present: ["openKey"],
      after,
      until,
      rowsMax: pageRows,
    } as const;
    const open = await commit.store.read((reader) => reader.walk("intents", stretch));
    const untold = open.filter(({ toldAt }) => toldAt === null);
    if (untold.length > 0)
      await commitOnce(commit, {
        take: async (tx) => {
          await tell(tx, untold, now);
          return { inputs: [], deliveries: [] };
        },
      });
    const last = open.at(-1);
    if (last === undefined || open.length < pageRows) return;
    after = [last.createdAt, last.intentId];
  }
}

async function tell(tx: StoreTransaction, untold: readonly IntentRow[], now: string): Promise<void> {
  const ids = untold.map(({ intentId }) => intentId);
  // Another process may have told of it, or a webhook closed it.
  const still = (await tx.lock("intents", "intentId", ids)).filter(
    ({ openKey, toldAt }) => openKey !== null && toldAt === null,
  );
  await tx.updateEach(
    "intents",
    "intentId",
    still.map(({ intentId }) => ({ intentId, toldAt: now })),
  );
  await tx.insert(
    "anomalies",
    still.map((intent) => lastingAnomaly("intent-open", detailOf(intent), now, intent)),
  );
}

function detailOf({ kind, fields, createdAt }: IntentRow): string {
  const what =
    kind === "refund"
      ? "a refund"
      : `a contract with the reference ${JSON.stringify(fields?.reference ?? "")}`;
  return `${what} was requested at ${createdAt}, and neither an answer nor a webhook has shown the result: ask the service`;
}

/** Looks at start, and as often as it takes to tell in time. */
export function watchOpenIntents(
  commit: CommitParts,
  timeoutMs: number,
  onFault: (error: unknown) => void,
): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const look = (): void => {
    running = tellOpenIntents(commit, timeoutMs).catch(onFault);
    timer = setTimeout(look, Math.min(timeoutMs, everyMsMax));
    timer.unref();
  };
  look();
  return {
    stop: () => {
      clearTimeout(timer);
      return running;
    },
  };
}

const everyMsMax = 60_000;
