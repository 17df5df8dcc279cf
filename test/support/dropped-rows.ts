/** Somebody's trigger or policy drops rows under a running mirror, without a word. One suite for both databases. */
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { Store } from "../../src/store/store.ts";
import type { TableName } from "../../src/store/tables.ts";
import { delivery, type SentRequest } from "./delivery.ts";
import { openMirror, recordingLogger } from "./mirror.ts";

export type Operation = "insert" | "update" | "delete";

/** A store, and what somebody else does to its tables: `meddle` gives the way to mend it. */
export interface MeddledStore {
  readonly store: Store;
  meddle(table: TableName, operation: Operation): Promise<() => Promise<void>>;
}

interface Loss {
  readonly table: TableName;
  readonly operation: Operation;
  readonly before: readonly SentRequest[];
  readonly sent: SentRequest;
}

const created = delivery("contract.created", { id: "c", seconds: 0, status: "pending" });
const approved = delivery("contract.approved", { id: "a", seconds: 10, status: "Approved" });
const paid = delivery("payment.completed", { id: "p", seconds: 20, status: "Escrow", paymentId: "P-1" });
const disputed = delivery("contract.disputed", { id: "d", seconds: 30, disputeId: "D-1" });
const milestonePaid = delivery("milestone.payment.completed", { id: "m", seconds: 40, milestoneId: "13" });
const milestoneReleased = delivery("milestone.released", { id: "l", seconds: 50, milestoneId: "13" });
const refunding = delivery("refund.full-initiated", { id: "r", seconds: 60, transactionId: "7" });
const refunded = delivery("refund.full-succeeded", { id: "s", seconds: 70, transactionId: "7" });
const unknown = delivery("settlement.reported", { id: "u", seconds: 80 });

const loss = (
  table: TableName,
  operation: Operation,
  sent: SentRequest,
  ...before: readonly SentRequest[]
): Loss => ({ table, operation, before, sent });

/** Each table that a commit writes, by each statement that writes it. */
const losses: readonly Loss[] = [
  loss("secrets", "insert", created),
  loss("deliveries", "insert", approved, created),
  loss("deliveries", "update", created, created),
  loss("payloads", "insert", approved, created),
  loss("contracts", "insert", created),
  loss("contracts", "update", approved, created),
  loss("transitions", "insert", approved, created),
  loss("payments", "insert", paid, created),
  loss("disputes", "insert", disputed, created),
  loss("milestones", "insert", milestonePaid, created),
  loss("milestones", "update", milestoneReleased, created, milestonePaid),
  loss("refunds", "insert", refunding, created),
  loss("refunds", "update", refunded, created, refunding),
  loss("anomalies", "insert", paid, created),
  loss("anomalies", "insert", unknown, created),
  loss("anomalies", "delete", approved, created, paid),
  loss("jobs", "insert", approved, created),
];

/** @param create gives the place of a mirror with the tables made, and what can be done to it */
export function describeDroppedRows(what: string, create: () => Promise<MeddledStore>): void {
  describe(`${what} under a running mirror`, () => {
    it.each(losses)("is never a 2xx: $table, on $operation", async ({ table, operation, before, sent }) => {
      const place = await create();
      const logger = recordingLogger();
      const mirror = await openMirror({ store: place.store, logger, jobs: { run: false } });
      mirror.on("*", () => undefined, { name: "all" });
      await mirror.idle();
      for (const request of before) expect((await mirror.receive(request)).status).toBe(200);
      const mend = await place.meddle(table, operation);
      expect(await mirror.receive(sent)).toMatchObject({ status: 503, reason: "store-unavailable" });
      expect(logger.lines).toContainEqual(
        expect.objectContaining({ level: "error", message: expect.stringContaining(`table ${table} `) }),
      );
      await mend();
      expect((await mirror.receive(sent)).status).toBe(200);
      expect(await told(mirror)).toEqual(await told(await untouched([...before, sent])));
    });
  });
}

async function untouched(requests: readonly SentRequest[]): Promise<Mirror> {
  const mirror = await openMirror({ jobs: { run: false } });
  mirror.on("*", () => undefined, { name: "all" });
  await mirror.idle();
  for (const request of requests) await mirror.receive(request);
  return mirror;
}

async function told(mirror: Mirror) {
  const jobs = (await mirror.jobs.list()).items;
  return {
    contract: await mirror.contracts.get("CNT-1"),
    history: await mirror.contracts.history("CNT-1"),
    refunds: (await mirror.refunds.list()).items,
    anomalies: (await mirror.anomalies.list()).items.map(({ kind, detail }) => [kind, detail]),
    attempts: (await mirror.deliveries.list()).items.map(({ webhookId, attempts }) => [webhookId, attempts]),
    jobs: jobs.map(({ webhookId, state }) => [webhookId, state]),
  };
}
