/** The kit against a receiver written by hand: a careful one holds. `npm run mutants` plants faults in it. */
import { expect, it } from "vitest";
import { receiverConformance, testSecret } from "../../src/testing.ts";
import { expectConforming } from "./conforming.ts";
import { createDatabase, createListener, type Pending } from "./sample/receiver.ts";
import { startServer } from "./serve.ts";

it("a careful receiver written by hand holds every check", async () => {
  const database = createDatabase();
  const pending: Pending = [];
  const server = await startServer(createListener(database, testSecret, pending));
  const report = await receiverConformance(server.url, {
    secret: testSecret,
    timeoutMs: 5000,
    observe: (contractId) => {
      const order = database.orders.get(contractId);
      return order && { ...order };
    },
    restart: async () => {
      pending.length = 0;
    },
  });
  await server.close();
  expectConforming(report);
  expect(report.ok).toBe(true);
});
