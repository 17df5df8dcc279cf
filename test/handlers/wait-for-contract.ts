/** Waiting for a status, on every store. */
import { describe, expect, it } from "vitest";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";

export function describeWaitFor(name: string, create: () => Store): void {
  const open = (options: Partial<MirrorOptions> = {}) => openMirror({ store: create(), ...options });

  describe(`waiting for a status on ${name}`, () => {
    it("resolves once the history holds a move to it, before or after it is asked", async () => {
      const mirror = await open();
      const waiting = mirror.contracts.waitFor("CNT-1", "escrow");
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0, status: "Pending" }));
      await mirror.receive(delivery("payment.completed", { id: "p", seconds: 20, status: "Escrow" }));
      await expect(waiting).resolves.toMatchObject({ contractId: "CNT-1", status: "Escrow" });
      await mirror.receive(delivery("contract.released", { id: "r", seconds: 30, status: "Released" }));
      await expect(mirror.contracts.waitFor("CNT-1", ["Escrow"])).resolves.toMatchObject({
        status: "Released",
      });
    });

    it("rejects when it can't come, in time, or by the signal", async () => {
      const mirror = await open();
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0, status: "Pending" }));
      await expect(mirror.contracts.waitFor("CNT-1", "Escrow", { timeoutMs: 20 })).rejects.toMatchObject({
        code: "timeout",
      });
      await expect(
        mirror.contracts.waitFor("CNT-1", "Escrow", { signal: AbortSignal.abort() }),
      ).rejects.toMatchObject({ code: "aborted" });
      await mirror.receive(delivery("contract.rejected", { id: "r", seconds: 5, status: "Rejected" }));
      await expect(mirror.contracts.waitFor("CNT-1", "Escrow")).rejects.toMatchObject({
        code: "unreachable-status",
      });
    });
  });
}
