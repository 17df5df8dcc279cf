/** What is old goes, and everything that must hold for ever still holds: the same on each store. */
import { describe, expect, it } from "vitest";
import { PermanentError } from "../../src/handlers/errors.ts";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { Store } from "../../src/store/store.ts";
import { mirroredRows } from "../property/rows.ts";
import { delivery, signed } from "../support/delivery.ts";
import { openMirror, testClock } from "../support/mirror.ts";

const day = 86_400_000;

export interface StoreKind {
  readonly name: string;
  readonly create: () => Store;
}

const created = delivery("contract.created", { id: "p-1", seconds: 0, reference: "R-1" });
const approved = delivery("contract.approved", { id: "p-2", seconds: 60 });
const paid = delivery("payment.completed", { id: "p-3", seconds: 120, paymentId: "77" });
const unreadable = signed("not JSON");
const alsoUnreadable = signed("not JSON either");

async function bodyOf(mirror: Mirror, id: string): Promise<string | null> {
  const body = await (await mirror.deliveries.get(id))?.body();
  return body == null ? null : Buffer.from(body).toString();
}

async function asideOf(mirror: Mirror, dismissed: boolean) {
  const [aside] = (await mirror.quarantine.list(dismissed ? { dismissed: true } : {})).items;
  if (aside === undefined) throw new Error("nothing is set aside");
  return aside;
}

function idOf(sent: { readonly headers: unknown }): string {
  return (sent.headers as Record<string, string>)["X-Service-Webhook-Id"] ?? "";
}

export function describePrune({ name, create }: StoreKind): void {
  const open = async () => {
    const store = create();
    const clock = testClock();
    return { store, clock, mirror: await openMirror({ store, clock, jobs: { run: false } }) };
  };

  describe(`prune on ${name}`, () => {
    it("deletes old bodies and headers: duplicates are known, a late event and a rebuild come out the same", async () => {
      const { mirror, store, clock } = await open();
      await mirror.receive(created);
      clock.advance(10 * day);
      await mirror.receive(paid);
      const pruned = await mirror.prune({ payloads: 5 * day });
      expect(pruned).toEqual({ payloads: 1, partitions: [], jobs: 0, quarantine: 0 });
      expect(await bodyOf(mirror, idOf(created))).toBeNull();
      expect(await bodyOf(mirror, idOf(paid))).toBe(String(paid.body));
      expect((await mirror.receive(created)).outcome).toBe("duplicate");
      expect((await mirror.receive(approved)).outcome).toBe("applied");
      const rows = await mirroredRows(store);
      await mirror.rebuild();
      expect(await mirroredRows(store)).toEqual(rows);
      expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "Escrow", reference: "R-1" });
    });

    it("deletes nothing of a kind without an age, and nothing twice", async () => {
      const { mirror, clock } = await open();
      await mirror.receive(created);
      clock.advance(day);
      expect(await mirror.prune({})).toEqual({ payloads: 0, partitions: [], jobs: 0, quarantine: 0 });
      expect(await mirror.prune({ payloads: 0 })).toMatchObject({ payloads: 1 });
      expect(await mirror.prune({ payloads: 0 })).toMatchObject({ payloads: 0 });
    });

    it("keeps what is quarantined until it is dismissed; a copy is a duplicate for ever", async () => {
      const { mirror, clock } = await open();
      for (const each of [unreadable, alsoUnreadable]) await mirror.receive(each);
      const { id } = await asideOf(mirror, false);
      await mirror.quarantine.dismiss(id);
      clock.advance(10 * day);
      expect(await mirror.prune({ quarantine: 11 * day })).toMatchObject({ quarantine: 0 });
      expect(await mirror.prune({ quarantine: 5 * day })).toMatchObject({ quarantine: 1, payloads: 0 });
      expect(await mirror.prune({ quarantine: 5 * day })).toMatchObject({ quarantine: 0 });
      expect(await bodyOf(mirror, id)).toBeNull();
      expect(await mirror.prune({ payloads: 5 * day })).toMatchObject({ payloads: 0 });
      expect(await bodyOf(mirror, (await asideOf(mirror, false)).id)).not.toBeNull();
      for (const each of [unreadable, alsoUnreadable])
        expect((await mirror.receive(each)).outcome).toBe("duplicate");
      expect((await asideOf(mirror, true)).id).toBe(id);
    });

    it("keeps the body of an open job, and runs a dead one without it", async () => {
      const { mirror, clock } = await open();
      const seen: unknown[] = [];
      const handle = async (event: { readonly raw: unknown }): Promise<void> => {
        seen.push(event.raw);
        if (seen.length === 1) throw new PermanentError("not yet");
      };
      mirror.on("contract.created", handle, { name: "sees" });
      await mirror.receive(created);
      clock.advance(10 * day);
      expect(await mirror.prune({ payloads: day })).toMatchObject({ payloads: 0 });
      await mirror.jobs.runOnce();
      expect(await mirror.prune({ payloads: day })).toMatchObject({ payloads: 1 });
      const [dead] = (await mirror.jobs.list({ state: "dead" })).items;
      await mirror.jobs.retry(dead?.id ?? "");
      await mirror.jobs.runOnce();
      expect(seen).toEqual([JSON.parse(String(created.body)), null]);
    });

    it("deletes old done and dead jobs, and keeps those that a handler is owed once ever", async () => {
      const { mirror, clock } = await open();
      const told: unknown[] = [];
      mirror.on("contract.created", async () => {}, { name: "done" });
      mirror.on(
        "contract.created",
        async () => {
          throw new PermanentError("no");
        },
        { name: "dead" },
      );
      mirror.on("anomaly", async ({ kind }) => void told.push(kind), { name: "told" });
      await mirror.receive(created);
      await mirror.receive(delivery("contract.released", { id: "p-9", seconds: 300 }));
      await mirror.jobs.runOnce();
      expect(told).toEqual(["gap"]);
      clock.advance(2 * day);
      expect(await mirror.prune({ jobs: 3 * day })).toMatchObject({ jobs: 0 });
      expect(await mirror.prune({ jobs: day })).toMatchObject({ jobs: 2 });
      const left = (await mirror.jobs.list({})).items.map(({ handler, state }) => [handler, state]);
      expect(left).toEqual([["told", "done"]]);
    });

    it("tells how far it is, and stops before the next step when it is asked to", async () => {
      const { mirror, clock } = await open();
      for (let id = 0; id < 40; id++) await mirror.receive(delivery("contract.created", { id: `m-${id}` }));
      clock.advance(day);
      const stop = new AbortController();
      const counts: number[] = [];
      const onProgress = ({ payloads }: { readonly payloads: number }): void => {
        counts.push(payloads);
        stop.abort();
      };
      await expect(mirror.prune({ payloads: 0, onProgress, signal: stop.signal })).rejects.toMatchObject({
        name: "AbortError",
      });
      expect(counts).toEqual([16]);
      expect(await mirror.prune({ payloads: 0 })).toMatchObject({ payloads: 24 });
    });

    it.each([
      [{ payload: 1 }, '"payload" is not an option of mirror.prune(): it takes payloads'],
      [{ jobs: -1 }, "jobs is -1"],
      [{ quarantine: "30d" }, 'quarantine is "30d"'],
    ])("refuses %j", async (options, message) => {
      const { mirror } = await open();
      await expect(mirror.prune(options as object)).rejects.toMatchObject({
        code: "invalid-argument",
        message: expect.stringContaining(message),
      });
    });
  });
}
