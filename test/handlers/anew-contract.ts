/** Handlers that are registered again after their removal, on every store. */
import { describe, expect, it } from "vitest";
import { RetryAfterError } from "../../src/handlers/errors.ts";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, withTransactions } from "../support/mirror.ts";

/**
 * A mirror with the handler "mail", whose only job runs until `fail`.
 *
 * @param meanwhile runs once its removal has removed the subscription, and before it comes to the running job
 */
async function openRunning(store: Store, meanwhile: () => Promise<unknown> = async () => undefined) {
  let isRemoved = false;
  const slow = withTransactions(store, async (work) => {
    const result = await store.transaction(work);
    const rows = await store.read((reader) => reader.find("subscriptions"));
    if (rows.length > 0 || isRemoved || fail === undefined) return result;
    isRemoved = true;
    await meanwhile();
    return result;
  });
  const mirror = await openMirror({ store: slow, jobs: { run: false } });
  let fail: ((error: Error) => void) | undefined;
  mirror.on("*", () => new Promise<void>((_, reject) => (fail = reject)), { name: "mail" });
  await mirror.receive(delivery("contract.created", { id: "old", seconds: 0 }));
  const running = mirror.jobs.runOnce();
  await expect.poll(() => fail).toBeDefined();
  return { mirror, running, fail: () => fail?.(new RetryAfterError("no", 0)) };
}

export function describeAnew(name: string, create: () => Store): void {
  const open = (options: Partial<MirrorOptions> = {}) => openMirror({ store: create(), ...options });

  describe(`handlers registered anew on ${name}`, () => {
    it("that this process removed can be registered in it again, as new ones", async () => {
      const mirror = await open();
      const seen: string[] = [];
      const mail = (who: string): (() => void) =>
        mirror.on("*", ({ event }) => void seen.push(`${who} ${event}`), { name: "mail" });
      const off = mail("first");
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await mirror.idle();
      await mirror.handlers.remove("mail");
      expect((await mirror.health()).warnings).toEqual([]);
      mail("second");
      off();
      await mirror.receive(delivery("contract.approved", { id: "a", seconds: 1 }));
      await mirror.idle();
      expect(seen).toEqual(["first contract.created", "second contract.approved"]);
    });

    it("that are registered anew before their last job is removed get what came behind it", async () => {
      const store = create();
      const seen: string[] = [];
      const see = ({ event }: { readonly event: string }): void => void seen.push(event);
      const other = await open({ store });
      let isRemoving = false;
      const slow = withTransactions(store, async (work) => {
        const result = await store.transaction(work);
        if (!isRemoving) return result;
        isRemoving = false;
        other.on("*", see, { name: "mail" });
        await other.receive(delivery("contract.approved", { id: "new", seconds: 1 }));
        return result;
      });
      const mirror = await open({ store: slow, jobs: { run: false } });
      let end: (() => void) | undefined;
      mirror.on("*", () => new Promise<void>((resolve) => (end = resolve)), { name: "mail" });
      await mirror.receive(delivery("contract.created", { id: "old", seconds: 0 }));
      const running = mirror.jobs.runOnce();
      await expect.poll(() => end).toBeDefined();
      isRemoving = true;
      await mirror.handlers.remove("mail");
      end?.();
      await running;
      await other.idle();
      expect([seen, isRemoving]).toEqual([["contract.approved"], false]);
    });

    it("that are removed and registered anew end with a run of their old jobs none of their new ones", async () => {
      const mirror = await open();
      const ends: (() => void)[] = [];
      const seen: string[] = [];
      const register = () =>
        mirror.on(
          "*",
          ({ contractId }) => {
            seen.push(contractId);
            return contractId === "CNT-1" ? new Promise<void>((resolve) => ends.push(resolve)) : undefined;
          },
          { name: "mail" },
        );
      const off = register();
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0 }));
      await expect.poll(() => ends.length).toBe(1);
      off();
      await mirror.handlers.remove("mail");
      register();
      await expect.poll(() => ends.length).toBe(2);
      ends[0]?.();
      await mirror.receive(delivery("contract.created", { id: "d", seconds: 1, contractId: "CNT-2" }));
      await expect.poll(async () => (await mirror.jobs.list({ state: "done" })).items).toHaveLength(1);
      expect((await mirror.jobs.list({ state: "running" })).items).toMatchObject([{ contractId: "CNT-1" }]);
      ends[1]?.();
      await mirror.idle();
      expect(seen).toEqual(["CNT-1", "CNT-1", "CNT-2"]);
    });

    it.each([
      ["once its removal is over", false],
      ["while its removal still has a running job to remove", true],
    ])(
      "get the delivery of a job that then fails, if another process registers them %s",
      async (_, isWithin) => {
        const store = create();
        const other = await open({ store, jobs: { run: false } });
        const seen: string[] = [];
        const register = (): Promise<void> => {
          other.on("*", ({ event }) => void seen.push(event), { name: "mail", since: new Date(0) });
          return expect.poll(() => other.handlers.list()).toHaveLength(1);
        };
        const { mirror, running, fail } = await openRunning(store, isWithin ? register : undefined);
        await mirror.handlers.remove("mail");
        if (!isWithin) await register();
        fail();
        await running;
        await other.jobs.runOnce();
        expect(seen).toEqual(["contract.created"]);
        expect((await other.jobs.list()).items).toHaveLength(1);
      },
    );

    it("of another kind get no job that the removed one left", async () => {
      const store = create();
      const other = await open({ store, jobs: { run: false } });
      const register = (): Promise<void> => {
        other.onTransition({ entity: "contract" }, () => undefined, { name: "mail" });
        return expect.poll(() => other.handlers.list()).toHaveLength(1);
      };
      const { mirror, running, fail } = await openRunning(store, register);
      await mirror.handlers.remove("mail");
      fail();
      await running;
      expect((await other.jobs.list()).items).toEqual([]);
    });
  });
}
