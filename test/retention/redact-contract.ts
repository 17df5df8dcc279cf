/** A contract's personal data goes, and nothing brings it back: the same on each store. */
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HandlerContext, WebhookEvent } from "../../src/index.ts";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { MirrorClient } from "../../src/reconcile/mirror-client.ts";
import type { Store } from "../../src/store/store.ts";
import { tables, type TableName } from "../../src/store/tables.ts";
import { mirroredRows } from "../property/rows.ts";
import { chooseSeed } from "../simulation/report.ts";
import { delivery, eventBody, noonMs, signed } from "../support/delivery.ts";
import { openMirror, testClock } from "../support/mirror.ts";
import type { StoreKind } from "./prune-contract.ts";

/** Every text of a person has this in it. */
export const sentinel = "PERSON";

const person = (id: string) => ({
  id,
  title: `${sentinel} title`,
  reference: `${sentinel} reference`,
  metadata: { metadata1: `${sentinel} 1`, metadata2: `${sentinel} 2` },
});

const created = delivery("contract.created", { ...person("r-1"), seconds: 0 });
const late = delivery("contract.approved", { ...person("r-2"), seconds: 60 });
const paid = delivery("payment.completed", { ...person("r-3"), seconds: 120, paymentId: "77" });
const changed = delivery("contract.created", { ...person("r-1"), seconds: 0, notes: "other" });
const conflict = delivery("contract.released", { ...person("r-1"), seconds: 240 });
const unreadable = signed(eventBody("contract.released", { ...person("r-4"), status: 7 }));
const squeezed = signed(gzipSync(eventBody("contract.released", { ...person("r-5"), status: [] })), {
  headers: { "Content-Encoding": "gzip" },
});
const unknown = delivery("buyer.moved", { ...person("r-6"), seconds: 300 });
const ofAnother = delivery("contract.created", { id: "o-1", contractId: "CNT-2", reference: "R-2" });
const all = [created, late, paid, changed, conflict, unreadable, squeezed, unknown];

export async function dumpOf(store: Store): Promise<string> {
  const names = Object.keys(tables) as TableName[];
  const rows = await store.read(async (reader) => {
    const found: unknown[] = [];
    for (const name of names) found.push(await reader.find(name));
    return found;
  });
  return JSON.stringify(rows, function (this: Record<string, unknown>, name, value: unknown) {
    // As it stands: a Buffer would come as the numbers of its own toJSON.
    const bytes = this[name];
    return bytes instanceof Uint8Array ? Buffer.from(bytes).toString("latin1") : value;
  });
}

export function describeRedact({ name, create }: StoreKind): void {
  const open = async () => {
    const store = create();
    const clock = testClock();
    return { store, clock, mirror: await openMirror({ store, clock, jobs: { run: false } }) };
  };

  describe(`redact on ${name}`, () => {
    it("takes a person out of every table, and leaves statuses, times, amounts and others", async () => {
      const { store, mirror } = await open();
      mirror.on(
        "*",
        async ({ reference }) => {
          throw new Error(`can't mail ${reference}`);
        },
        { name: "mails" },
      );
      for (const each of [...all, ofAnother]) expect((await mirror.receive(each)).status).toBe(200);
      await mirror.jobs.runOnce();
      expect(await dumpOf(store)).toContain(sentinel);
      const before = await mirror.contracts.get("CNT-1");
      const history = await mirror.contracts.history("CNT-1");
      await mirror.redact("CNT-1");
      expect(await dumpOf(store)).not.toContain(sentinel);
      const { status, statusSince } = before ?? {};
      expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status, statusSince, reference: null });
      expect(await mirror.contracts.history("CNT-1")).toEqual(history);
      expect((await mirror.contracts.get("CNT-2"))?.reference).toBe("R-2");
    });

    it("runs open jobs without the person, and stores no error that names one", async () => {
      const { store, mirror } = await open();
      const seen: unknown[] = [];
      const handle = async (event: { readonly raw: unknown; readonly reference: string | null }) => {
        seen.push([event.raw, event.reference]);
        throw new Error(`${sentinel} can't be mailed`);
      };
      mirror.on("contract.created", handle, { name: "sees" });
      await mirror.receive(created);
      await mirror.redact("CNT-1");
      await mirror.jobs.runOnce();
      expect(seen).toEqual([[null, null]]);
      expect(await dumpOf(store)).not.toContain(sentinel);
    });

    it("resolves only when no job starts with the person that was claimed before", async () => {
      const store = create();
      const mirror = await openMirror({ store, jobs: { run: false, concurrency: 1 } });
      const seen: unknown[] = [];
      const handle = async (event: WebhookEvent, { contract }: HandlerContext) => {
        if (event.contractId === "CNT-1") seen.push(event.raw, event.reference, contract?.reference);
        // Of the jobs behind quick ones, the next are claimed already.
        if (event.contractId === "slow") await mirror.redact("CNT-1");
      };
      mirror.on("contract.created", handle, { name: "sees" });
      const quick = Array.from({ length: 40 }, (_, at) => `quick-${at}`);
      const sent = [...quick, "slow"].map((id) => delivery("contract.created", { id, contractId: id }));
      for (const each of [...sent, created]) await mirror.receive(each);
      await mirror.jobs.runOnce();
      expect(seen).toEqual([null, null, null]);
    });

    it("comes to the same in any order of redaction, deliveries, copies, reads, release and rebuild", async () => {
      const seed = chooseSeed();
      console.log(`redact on ${name}: seed ${seed}`);
      const order = fc.record({
        steps: fc.shuffledSubarray(
          all.map((_, index) => index),
          { minLength: all.length },
        ),
        at: fc.nat(all.length),
        again: fc.shuffledSubarray(all.map((_, index) => index)),
      });
      const check = async ({ steps, at, again }: { steps: number[]; at: number; again: number[] }) => {
        const { store, mirror } = await open();
        for (const [index, step] of steps.entries()) {
          if (index === at) await mirror.redact("CNT-1");
          await mirror.receive(all[step]!);
        }
        if (at === all.length) await mirror.redact("CNT-1");
        expect(await dumpOf(store)).not.toContain(sentinel);
        for (const step of again) await mirror.receive(all[step]!);
        await releaseAll(mirror);
        const rows = await mirroredRows(store);
        await mirror.rebuild();
        expect(await mirroredRows(store)).toEqual(rows);
        expect(await dumpOf(store)).not.toContain(sentinel);
        expect(await mirror.contracts.get("CNT-1")).toMatchObject({ reference: null, metadata: {} });
        await mirror.close();
      };
      await fc.assert(fc.asyncProperty(order, check), { numRuns: orders, seed });
    }, 120_000);

    it("stores nothing of a contract that it does not know yet, once its data comes", async () => {
      const { store, mirror } = await open();
      await mirror.redact("CNT-1");
      for (const each of all) await mirror.receive(each);
      expect(await dumpOf(store)).not.toContain(sentinel);
      expect((await mirror.receive(created)).outcome).toBe("duplicate");
    });

    it.each([
      ["CNT+1", "CNT\\u002B1"],
      ["CNT/1", "CNT\\/1"],
      ['C"1', 'C\\"1'],
      ["\u0639-1", "\\u0639-1"],
    ])("takes a body out that can't be read and names %s as %s, before and after", async (id, written) => {
      const { store, mirror } = await open();
      const body = (n: number) => `{"data":{"contractId":"${written}","status":7,"title":"${sentinel} ${n}`;
      await mirror.receive(signed(body(1)));
      expect(await dumpOf(store)).toContain(sentinel);
      await mirror.redact(id);
      await mirror.receive(signed(body(2)));
      expect(await dumpOf(store)).not.toContain(sentinel);
    });

    it("keeps what an API read brings out", async () => {
      const store = create();
      const client = readingClient();
      const mirror = await openMirror({ store, client, jobs: { run: false } });
      await mirror.receive(created);
      await mirror.contracts.refresh("CNT-1");
      expect(await dumpOf(store)).toContain(`${sentinel} buyer`);
      await mirror.redact("CNT-1");
      expect(await dumpOf(store)).not.toContain(sentinel);
      await mirror.contracts.refresh("CNT-1");
      await mirror.rebuild();
      expect(await dumpOf(store)).not.toContain(sentinel);
    });
  });
}

/** How many orders are tried. */
const orders = process.env["SOAK"] === undefined ? 10 : 100;

async function releaseAll(mirror: Mirror): Promise<void> {
  const aside = (await mirror.quarantine.list()).items;
  // What can't be read stays aside.
  for (const { id } of aside) await mirror.quarantine.release(id).catch(() => undefined);
}

/** A service that answers with a person's data, another time each time. */
function readingClient(): MirrorClient {
  let reads = 0;
  const party = { firstName: `${sentinel} buyer`, lastName: "x", phoneNumber: sentinel };
  const get: MirrorClient["contracts"]["get"] = async (contractId, options) => {
    reads += 1;
    options?.onAnswer?.({
      date: new Date(noonMs + reads * 1000).toUTCString(),
      tookMs: 0,
      status: 200,
      attempts: 1,
    });
    return {
      contractId,
      status: "pending",
      title: `${sentinel} title ${reads}`,
      description: sentinel,
      notes: sentinel,
      reference: sentinel,
      amount: 600,
      buyerParty: party,
      sellerParty: party,
      milestones: [{ id: "1", name: sentinel, description: sentinel, amount: 600, status: "pending" }],
    };
  };
  return {
    contracts: { get, create: unused, refund: unused, renewCheckout: unused },
    webhooks: { allLogs: async function* () {} },
  };
}

async function unused(): Promise<never> {
  throw new Error("not asked for");
}
