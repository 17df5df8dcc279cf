/** A person's data outside of deliveries: in own requests, anomalies, errors, and what could not be applied. The same on each store. */
import { describe, expect, it } from "vitest";
import { EscrowApiError } from "../../src/client.ts";
import type { MirrorClient } from "../../src/reconcile/mirror-client.ts";
import { delivery, noonMs, signed } from "../support/delivery.ts";
import { failing } from "../support/failing-store.ts";
import { openMirror, testClock } from "../support/mirror.ts";
import type { StoreKind } from "./prune-contract.ts";
import { dumpOf, sentinel } from "./redact-contract.ts";

const hour = 3_600_000;
const reference = `${sentinel} order`;
const created = delivery("contract.created", { id: "p-1", seconds: 0, reference });
const party = { phoneNumber: "+966500000001", firstName: sentinel, lastName: sentinel };
const request = {
  title: `${sentinel} title`,
  contractServiceType: "Service" as const,
  buyerParty: party,
  sellerParty: party,
  amount: 100,
  reference,
};

const lost = async (): Promise<never> => {
  throw new EscrowApiError("outcome-unknown", "the answer is lost");
};

const get: MirrorClient["contracts"]["get"] = async (contractId, options) => {
  options?.onAnswer?.({ date: new Date(noonMs).toUTCString(), tookMs: 0, status: 200, attempts: 1 });
  return { contractId, status: "pending", reference, buyerParty: party };
};

/** A service whose answers to creates are lost. Its reads give the person's reference. */
const client: MirrorClient = {
  contracts: { get, create: lost, refund: lost, renewCheckout: lost },
  webhooks: { allLogs: async function* () {} },
};

const cantBook = async (): Promise<never> => {
  throw new Error(`${sentinel} can't be booked`);
};

export function describePerson({ name, create }: StoreKind): void {
  const open = async () => {
    const store = create();
    const clock = testClock();
    const mirror = await openMirror({ store, clock, client, jobs: { run: false }, intentTimeoutMs: hour });
    const told: string[] = [];
    mirror.on("anomaly", async ({ detail }) => void told.push(detail), { name: "told" });
    /** A create whose answer is lost, and the anomaly that says so. */
    const loseCreate = async () => {
      await expect(mirror.contracts.create(request)).rejects.toMatchObject({ code: "outcome-unknown" });
      clock.advance(2 * hour);
      await mirror.reconcile();
      expect((await mirror.anomalies.list({ kind: "intent-open" })).items).toHaveLength(1);
    };
    return { store, clock, mirror, told, loseCreate };
  };

  describe(`the person on ${name}`, () => {
    it("goes from an own request without an answer, from its anomaly and from the job that tells of it", async () => {
      const { store, mirror, told, loseCreate } = await open();
      await loseCreate();
      await mirror.contracts.refresh("CNT-1");
      expect(await dumpOf(store)).toContain(sentinel);
      await mirror.redact("CNT-1");
      expect(await dumpOf(store)).not.toContain(sentinel);
      await mirror.jobs.runOnce();
      expect(told).toEqual([""]);
      // The reference is free again.
      await expect(mirror.contracts.create(request)).rejects.toMatchObject({ code: "outcome-unknown" });
    });

    it("goes from the errors of handlers that quote that anomaly, before and after", async () => {
      const { store, clock, mirror, loseCreate } = await open();
      const quotes = async ({ detail }: { readonly detail: string }): Promise<never> => {
        throw new Error(`can't log "${detail}" of ${reference}`);
      };
      const dead: unknown[] = [];
      mirror.on("anomaly", quotes, { name: "quotes" });
      mirror.on("job-dead", async ({ lastError }) => void dead.push(lastError), { name: "dead" });
      await loseCreate();
      const runUntilDead = async (): Promise<void> => {
        const deadJobs = { state: "dead", handler: "quotes" } as const;
        while ((await mirror.jobs.list(deadJobs)).items.length === 0) {
          await mirror.jobs.runOnce();
          await mirror.jobs.retryAll({ state: "due", handler: "quotes" });
        }
      };
      await runUntilDead();
      expect(await dumpOf(store)).toContain(`of ${reference}`);
      await mirror.contracts.refresh("CNT-1");
      await mirror.redact("CNT-1");
      expect(await dumpOf(store)).not.toContain(sentinel);
      clock.advance(hour);
      await mirror.jobs.retryAll({ handler: "quotes" });
      await runUntilDead();
      await mirror.jobs.runOnce();
      expect(await dumpOf(store)).not.toContain(sentinel);
      expect(dead).toEqual([expect.stringContaining(sentinel), null]);
    });

    it("goes from an own request whose webhook arrives after the redaction, and from its anomaly", async () => {
      const { store, mirror, loseCreate } = await open();
      await loseCreate();
      await mirror.redact("CNT-1");
      await mirror.receive(delivery("contract.created", { id: "p-1", seconds: 2 * 3600, reference }));
      expect(await dumpOf(store)).not.toContain(sentinel);
      await mirror.rebuild();
      expect(await dumpOf(store)).not.toContain(sentinel);
      expect(await mirror.contracts.get("CNT-1")).toMatchObject({ reference: null, amountMinor: 10_000 });
    });

    it("goes from the failures of a handler inside the transaction, before and after its third", async () => {
      const { store, mirror } = await open();
      mirror.inTransaction("contract.created", cantBook, { name: "books" });
      await mirror.contracts.refresh("CNT-1");
      await mirror.receive(created);
      // A store in memory lends no transaction: there the handler is not called.
      expect(await dumpOf(store)).toContain(name === "memory" ? "books" : `${sentinel} can't be booked`);
      await mirror.redact("CNT-1");
      expect(await dumpOf(store)).not.toContain(sentinel);
      for (const status of [503, 200]) expect((await mirror.receive(created)).status).toBe(status);
      expect((await mirror.jobs.list({ state: "dead" })).items).toMatchObject([{ lastError: null }]);
      expect(await dumpOf(store)).not.toContain(sentinel);
    });

    it("goes from the body of a delivery that can't be applied, before and after", async () => {
      const broken = failing(create(), (call, [table]) => call === "upsert" && table === "contracts");
      const mirror = await openMirror({ store: broken.store, jobs: { run: false } });
      await mirror.receive(delivery("contract.created", { id: "p-0", seconds: 0 }));
      broken.fault = new TypeError("of its own");
      const other = delivery("contract.approved", { id: "p-2", seconds: 60, reference });
      expect(await mirror.receive(created)).toMatchObject({ status: 503, reason: "unstorable" });
      expect(await dumpOf(broken.store)).toContain(sentinel);
      broken.fault = undefined;
      await mirror.redact("CNT-1");
      expect(await dumpOf(broken.store)).not.toContain(sentinel);
      broken.fault = new TypeError("of its own");
      expect(await mirror.receive(other)).toMatchObject({ status: 503, reason: "unstorable" });
      expect(await mirror.receive(created)).toMatchObject({ outcome: "quarantined" });
      expect(await dumpOf(broken.store)).not.toContain(sentinel);
      broken.fault = undefined;
      expect(await mirror.receive(other)).toMatchObject({ outcome: "applied" });
      expect(await dumpOf(broken.store)).not.toContain(sentinel);
    });

    it("does not come back with the error of a handler that runs in that moment, nor with the job that tells of it", async () => {
      const { store, mirror } = await open();
      const dead: unknown[] = [];
      const throws = async (): Promise<never> => {
        await mirror.redact("CNT-1");
        throw new Error(`${sentinel} can't be mailed`);
      };
      mirror.on("contract.created", throws, { name: "mails" });
      mirror.on("job-dead", async ({ lastError }) => void dead.push(lastError), { name: "dead" });
      await mirror.receive(created);
      for (let attempt = 0; attempt < 50 && dead.length === 0; attempt++) {
        await mirror.jobs.runOnce();
        expect(await dumpOf(store)).not.toContain(sentinel);
        await mirror.jobs.retryAll({ state: "due" });
      }
      expect(dead).toEqual([null]);
    });

    it.each(["contract\\u0049d", "\\u0063ontract\\u0049\\u0064", "contract\\u005fid"])(
      "goes from a body that can't be read and names the contract under %s",
      async (key) => {
        const { store, mirror } = await open();
        const body = (n: number) => `{"data":{"say":"\\"${sentinel}\\\\","${key}":"CNT-1","status":${n}`;
        await mirror.receive(signed(body(1)));
        expect(await dumpOf(store)).toContain(sentinel);
        await mirror.redact("CNT-1");
        await mirror.receive(signed(body(2)));
        expect(await dumpOf(store)).not.toContain(sentinel);
      },
    );

    it("is said to be known or not", async () => {
      const { mirror } = await open();
      expect(await mirror.redact("CNT-1")).toMatchObject({ known: false });
      expect(await mirror.redact("CNT-1")).toMatchObject({ known: false });
      await mirror.receive(delivery("buyer.moved", { id: "p-5", contractId: "CNT-2" }));
      await mirror.contracts.refresh("CNT-3");
      for (const id of ["CNT-2", "CNT-3"]) expect(await mirror.redact(id)).toMatchObject({ known: true });
      await mirror.receive(created);
      expect(await mirror.redact("CNT-1")).toMatchObject({ known: true });
    });
  });
}
