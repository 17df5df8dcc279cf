/** Answers of the API that can't be true. */
import { expect, it } from "vitest";
import type { Contract } from "../../src/client/answer/contract.ts";
import type { MirrorClient } from "../../src/reconcile/mirror-client.ts";
import { delivery, noonMs } from "../support/delivery.ts";
import { openMirror, testClock } from "../support/mirror.ts";

const hourMs = 3_600_000;

const unused = (): never => expect.fail("only a read is asked for");

function answering(contract: object, date: string | null): MirrorClient {
  return {
    contracts: {
      create: unused,
      refund: unused,
      renewCheckout: unused,
      get: async (_, { onAnswer } = {}) => {
        onAnswer?.({ status: 200, date, tookMs: 0, attempts: 1 });
        return { contractId: "CNT-1", ...contract } as Contract;
      },
    },
    webhooks: {
      async *allLogs() {},
    },
  };
}

const ahead = (ms: number): string => new Date(noonMs + ms).toISOString();

it.each([
  ["years", "9999-12-31T23:59:59Z"],
  ["hours, as a local time without a zone is", ahead(3 * hourMs).replace("Z", "")],
])("an updatedDate that is %s ahead holds no later webhook back", async (_, updatedDate) => {
  for (const date of [null, new Date(noonMs).toUTCString(), "Thu, 01 Jan 2099 00:00:00 GMT"]) {
    const client = answering({ status: "Approved", title: "Read", updatedDate }, date);
    const mirror = await openMirror({ client, clock: testClock() });
    await mirror.receive(delivery("contract.created", { id: "c", seconds: -60, status: "pending" }));
    expect(await mirror.contracts.refresh("CNT-1")).toMatchObject({ title: "Read" });
    await mirror.receive(
      delivery("payment.completed", { id: "p", seconds: 60, status: "Escrow", previousStatus: "Approved" }),
    );
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "Escrow" });
  }
});

it("an updatedDate that is minutes ahead, by another clock, places an answer without a Date", async () => {
  const client = answering({ status: "Approved", updatedDate: ahead(hourMs / 2) }, null);
  const mirror = await openMirror({ client, clock: testClock() });
  await mirror.receive(delivery("contract.created", { id: "c", seconds: -60, status: "pending" }));
  expect(await mirror.contracts.refresh("CNT-1")).toMatchObject({ status: "Approved" });
});
