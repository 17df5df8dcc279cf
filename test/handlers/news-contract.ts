/** The news that handlers get, on every store: moves, anomalies and replays. */
import { describe, expect, it } from "vitest";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery } from "../support/delivery.ts";
import { failing } from "../support/failing-store.ts";
import { openMirror } from "../support/mirror.ts";

export function describeNews(name: string, create: () => Store): void {
  const open = (options: Partial<MirrorOptions> = {}) => openMirror({ store: create(), ...options });

  const tell = async (together: boolean): Promise<string[]> => {
    const mirror = await open();
    const moves: string[] = [];
    mirror.onTransition({ entity: "contract" }, ({ from, to }) => void moves.push(`${from} > ${to}`), {
      name: "moves",
    });
    mirror.onTransition(
      { entity: "milestone", to: "Released" },
      ({ from, to, milestoneId }) => void moves.push(`${milestoneId}: ${from} > ${to}`),
      { name: "milestones" },
    );
    await mirror.receive(delivery("webhook.test", { id: "t" }));
    const requests = [
      delivery("contract.created", { id: "c", seconds: 0, status: "Pending" }),
      delivery("payment.completed", { id: "p", seconds: 20, status: "Escrow" }),
      delivery("contract.approved", { id: "a", seconds: 10, status: "Approved" }),
      delivery("milestone.released", {
        id: "m",
        seconds: 21,
        milestoneId: 7,
        status: "Released",
        previousStatus: "Escrow",
      }),
      delivery("contract.released", { id: "r", seconds: 30, status: "Released" }),
    ];
    if (together) await Promise.all(requests.map((request) => mirror.receive(request)));
    else for (const request of requests) await mirror.receive(request);
    await mirror.idle();
    return moves;
  };

  describe(`handlers on ${name}`, () => {
    it("hear of moves of the present state alone: once each, and of none that a late event contradicts", async () => {
      const mirror = await open();
      const moves: string[] = [];
      mirror.onTransition(
        { entity: "contract" },
        ({ from, to, event }) => void moves.push(`${from} > ${to} by ${event}`),
        { name: "moves" },
      );
      const created = delivery("contract.created", { id: "c", seconds: 0, status: "Pending" });
      const approved = delivery("contract.approved", {
        id: "a",
        seconds: 10,
        status: "Approved",
        previousStatus: "Pending",
      });
      const paid = delivery("payment.completed", {
        id: "p",
        seconds: 20,
        status: "Escrow",
        previousStatus: "Approved",
        paymentId: "P",
      });
      await mirror.receive(created);
      await mirror.receive(paid);
      await mirror.receive(approved);
      await mirror.receive(paid);
      await mirror.receive(
        delivery("payment.completed", {
          id: "p2",
          seconds: 20,
          status: "Escrow",
          previousStatus: "Approved",
          paymentId: "P",
        }),
      );
      await mirror.rebuild();
      await mirror.idle();
      expect(moves).toEqual(["null > pending by contract.created", "pending > Escrow by payment.completed"]);
    });

    it("hear of the same moves whatever shares a commit", async () => {
      const expected = ["null > pending", "pending > Escrow", "7: null > Released", "Escrow > Released"];
      expect((await tell(false)).sort()).toEqual([...expected].sort());
      expect((await tell(true)).sort()).toEqual([...expected].sort());
    });

    it("are told of an anomaly once for each contract, kind and detail", async () => {
      const mirror = await open();
      const kinds: string[] = [];
      mirror.on("anomaly", ({ kind, contractId }) => void kinds.push(`${contractId} ${kind}`), {
        name: "alarm",
      });
      await mirror.idle();
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0, status: "Pending" }));
      await mirror.receive(delivery("contract.released", { id: "r", seconds: 50, status: "Released" }));
      await mirror.receive(delivery("contract.approved", { id: "a", seconds: 10, status: "Approved" }));
      await mirror.receive(delivery("odd.event", { id: "o", seconds: 60 }));
      await mirror.idle();
      expect(kinds).toEqual(["CNT-1 gap", "CNT-1 gap", "CNT-1 unknown-event"]);
    });

    it("are told of new anomalies without a read of the old ones", async () => {
      let reads = 0;
      const watched = failing(create(), (call, [table]) => {
        if (call === "lookup" && table === "anomalies") reads++;
        return false;
      });
      watched.fault = new Error("never thrown");
      const mirror = await open({ store: watched.store });
      const details: string[] = [];
      mirror.on("anomaly", ({ kind, webhookId }) => void details.push(`${webhookId} ${kind}`), { name: "a" });
      await mirror.idle();
      reads = 0;
      const send = (id: string, seconds: number, event: string, status: string) =>
        mirror.receive(delivery(event, { id, seconds, status }, { webhookId: id }));
      await send("c", 0, "contract.created", "Pending");
      await send("r", 50, "contract.released", "Released");
      await send("a", 60, "contract.approved", "Approved");
      await mirror.idle();
      expect(details.splice(0)).not.toEqual([]);
      expect(reads).toBe(0);
    });

    it("are owed a delivery again when it is replayed", async () => {
      const mirror = await open();
      const keys: string[] = [];
      mirror.on("contract.created", (_, { idempotencyKey }) => void keys.push(idempotencyKey), { name: "h" });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }, { webhookId: "wh-1" }));
      await mirror.idle();
      expect(await mirror.deliveries.replay("wh-1")).toBe(1);
      await mirror.idle();
      expect(keys).toHaveLength(2);
      await expect(mirror.deliveries.replay("nowhere")).rejects.toMatchObject({
        code: "not-found",
        message: expect.stringContaining("the id, not the webhookId") as string,
      });
      await expect(mirror.deliveries.replay(5 as never)).rejects.toMatchObject({ code: "invalid-argument" });
    });

    it("are owed the one delivery that a replay names, of two that were applied under one webhook id", async () => {
      const mirror = await open();
      const seen: string[] = [];
      mirror.on("contract.created", ({ contractId }) => void seen.push(contractId), { name: "h" });
      for (const contractId of ["CNT-A", "CNT-B"])
        await mirror.receive(
          delivery("contract.created", { id: contractId, seconds: 0, contractId }, { webhookId: "wh-1" }),
        );
      await mirror.quarantine.release((await mirror.quarantine.list()).items[0]?.id ?? "");
      await mirror.idle();
      expect(seen.splice(0)).toEqual(["CNT-A", "CNT-B"]);
      const { items } = await mirror.deliveries.list({ outcome: "applied" });
      expect(items.map(({ webhookId }) => webhookId)).toEqual(["wh-1", "wh-1"]);
      for (const { id, contractId } of items) {
        expect(await mirror.deliveries.replay(id)).toBe(1);
        await mirror.idle();
        expect(seen.splice(0)).toEqual([contractId]);
      }
    });
  });
}
