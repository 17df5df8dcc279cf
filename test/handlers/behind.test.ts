/** A handler that still reads older deliveries, while commits change what lies behind or ahead of the place where it reads. */
import { expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { MirrorClient } from "../../src/reconcile/mirror-client.ts";
import { at, delivery, noonMs } from "../support/delivery.ts";
import { limited } from "../support/failing-store.ts";
import { openMirror, temporaryFile } from "../support/mirror.ts";

const since = new Date(noonMs);

const created = (contractId: string) =>
  delivery("contract.created", { id: contractId, seconds: 0, contractId });

const unused = (): never => {
  throw new Error("no test calls this");
};

/** A service that shows each contract in dispute, within the second in which it became so. */
const client: MirrorClient = {
  contracts: {
    create: unused,
    refund: unused,
    renewCheckout: unused,
    get: async (contractId, { onAnswer } = {}) => {
      onAnswer?.({ status: 200, date: at(1000), tookMs: 0, attempts: 1 });
      return { contractId, status: "Dispute" };
    },
  },
  webhooks: { async *allLogs() {} },
};

/** A mirror that can be stopped after so many commits, and another one on the same file. */
async function openTwo() {
  const file = temporaryFile();
  const writes = limited(sqlite(file));
  return {
    writes,
    mirror: await openMirror({ store: writes.store, jobs: { run: false } }),
    other: await openMirror({ store: sqlite(file), jobs: { run: false }, client }),
  };
}

/** More than two pages of older deliveries. */
async function receiveMany(mirror: Mirror): Promise<void> {
  for (let n = 1; n < 450; n++) await mirror.receive(created(`CNT-${n}`));
}

const send = (mirror: Mirror, type: string, seconds: number, more: object = {}) =>
  mirror.receive(delivery(type, { id: `A-${seconds}`, seconds, contractId: "CNT-A", ...more }));

/** The contract was taken up again between its end and a dispute. */
const reopened = { previousStatus: "Cancelled", status: "Escrow" };

type Two = Awaited<ReturnType<typeof openTwo>>;

/** Two handlers read the first page, and go on once `change` is done. Resolves with what they saw of CNT-A. */
async function seenAround({ writes, mirror }: Two, change: () => Promise<unknown>): Promise<string[]> {
  const seen: string[] = [];
  const see = (kind: string, contractId: string): void => void seen.push(`${kind} ${contractId}`);
  writes.left = 2;
  mirror.on("*", ({ contractId }) => see("event", contractId), { since, name: "events" });
  mirror.onTransition({ entity: "contract" }, ({ contractId }) => see("move", contractId), {
    since,
    name: "moves",
  });
  await expect.poll(async () => mirror.handlers.list()).toHaveLength(2);
  await change();
  writes.left = Number.POSITIVE_INFINITY;
  await mirror.jobs.runOnce();
  expect(seen.length).toBeGreaterThan(2 * 449);
  return seen.filter((each) => each.endsWith("CNT-A")).sort();
}

it("a handler gets what is released behind the place to which it has read", async () => {
  const two = await openTwo();
  const { mirror, other } = two;
  await mirror.receive(created("CNT-0"));
  await mirror.receive(delivery("contract.created", { id: "CNT-0", seconds: 1, contractId: "CNT-A" }));
  await receiveMany(mirror);
  const [aside] = (await mirror.quarantine.list()).items;
  const seen = await seenAround(two, () => other.quarantine.release(aside?.id ?? ""));
  expect(seen).toEqual(["event CNT-A", "move CNT-A"]);
});

it("a handler gets a delivery whose first copy was set aside behind that place, and a later one is applied", async () => {
  const two = await openTwo();
  const { mirror, other } = two;
  const shape = { id: "CNT-A", seconds: 0, contractId: "CNT-A" };
  // A proxy adds a wrong header to the first copy.
  const spoilt = delivery("contract.created", shape, { headers: { "content-encoding": "gzip" } });
  expect(await mirror.receive(spoilt)).toMatchObject({
    outcome: "quarantined",
  });
  await receiveMany(mirror);
  const seen = await seenAround(two, async () =>
    expect(await other.receive(delivery("contract.created", shape))).toMatchObject({ outcome: "applied" }),
  );
  expect(seen).toEqual(["event CNT-A", "move CNT-A"]);
});

/** Two handlers of disputes, one of which has read all, and the other only one page when `change` comes. */
async function disputesAround({ writes, mirror, other }: Two, change: () => Promise<unknown>) {
  const seen: string[] = [];
  const see = (name: string) => (move: { readonly from: string | null; readonly to: string }) =>
    void seen.push(`${name}: ${move.from} to ${move.to}`);
  const disputes = { entity: "contract", to: "Dispute" } as const;
  other.onTransition(disputes, see("caught up"), { name: "caught-up" });
  await other.idle();
  writes.left = 1;
  mirror.onTransition(disputes, see("behind"), { since, name: "behind" });
  await expect.poll(async () => mirror.handlers.list()).toHaveLength(2);
  await change();
  expect((await other.contracts.get("CNT-A"))?.status).toBe("Dispute");
  writes.left = Number.POSITIVE_INFINITY;
  await mirror.jobs.runOnce();
  await other.jobs.runOnce();
  return seen.sort();
}

it("a handler gets a move that a late delivery makes of a step behind that place", async () => {
  const two = await openTwo();
  const { mirror, other } = two;
  await send(mirror, "contract.created", 0);
  await send(mirror, "contract.cancelled", 10);
  // After a terminal status: it moves nothing.
  await send(mirror, "contract.disputed", 1000);
  await receiveMany(mirror);
  const seen = await disputesAround(two, () => send(other, "payment.completed", 500, reopened));
  expect(seen).toEqual(["behind: Escrow to Dispute", "caught up: Cancelled to Dispute"]);
});

it("a handler gets a move once that a released delivery makes of a step ahead of that place", async () => {
  const two = await openTwo();
  const { mirror, other } = two;
  await send(mirror, "contract.created", 0);
  await send(mirror, "contract.cancelled", 10);
  const aside = await send(mirror, "payment.completed", 500, { ...reopened, id: "A-0" });
  expect(aside).toMatchObject({ outcome: "quarantined" });
  await receiveMany(mirror);
  await send(mirror, "contract.disputed", 1000);
  const seen = await disputesAround(two, async () => {
    const [item] = (await other.quarantine.list()).items;
    await other.quarantine.release(item?.id ?? "");
  });
  expect(seen).toEqual(["behind: Escrow to Dispute", "caught up: Cancelled to Dispute"]);
});

it("a handler gets a move that an API read takes over from a delivery ahead of that place", async () => {
  const two = await openTwo();
  const { mirror, other, writes } = two;
  await send(mirror, "contract.created", 0);
  await receiveMany(mirror);
  const seen: string[] = [];
  writes.left = 1;
  const disputes = { entity: "contract", to: "Dispute" } as const;
  mirror.onTransition(disputes, ({ contractId }) => void seen.push(contractId), { name: "behind", since });
  await expect.poll(async () => mirror.handlers.list()).toHaveLength(1);
  await send(other, "contract.disputed", 1000.5);
  await other.contracts.refresh("CNT-A");
  expect((await other.contracts.history("CNT-A")).at(-2)).toMatchObject({ to: "Dispute", webhookId: null });
  writes.left = Number.POSITIVE_INFINITY;
  await mirror.jobs.runOnce();
  expect(seen).toEqual(["CNT-A"]);
});

it("a handler gets each move of two deliveries that came with one webhook id once", async () => {
  const two = await openTwo();
  const { mirror, other } = two;
  await send(mirror, "contract.created", 0);
  const sendAs = (type: string, seconds: number) =>
    mirror.receive(
      delivery(type, { id: `A-${seconds}`, seconds, contractId: "CNT-A" }, { webhookId: "wh-one" }),
    );
  await sendAs("contract.cancelled", 10);
  expect(await sendAs("contract.disputed", 1000)).toMatchObject({ outcome: "quarantined" });
  const [aside] = (await mirror.quarantine.list()).items;
  await other.quarantine.release(aside?.id ?? "");
  await send(mirror, "payment.completed", 500, reopened);
  const seen: string[] = [];
  const see = ({ to }: { readonly to: string }): void => void seen.push(to);
  mirror.onTransition({ entity: "contract" }, see, { name: "moves", since });
  await mirror.jobs.runOnce();
  expect(seen.sort()).toEqual(["Cancelled", "Dispute", "Escrow", "pending"]);
});
