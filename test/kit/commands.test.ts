/** A server under stories that the sandbox tells: the library's holds, and one that trusts the order of arrival does not. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { nodeWebhook } from "../../adapters/node.ts";
import { createSandbox } from "../../src/sandbox.ts";
import { createTestMirror, manualClock, testSecret, type Observation } from "../../src/testing.ts";
import { commands } from "../../src/testing-fast-check.ts";
import { createDatabase, createListener } from "./sample/receiver.ts";
import { startServer } from "./serve.ts";

/** A server that starts empty for each story, as each sandbox does. */
interface Server {
  restart(): Promise<void>;
  observe(contractId: string): Promise<Observation | undefined>;
}

async function runStories(webhookUrl: string, server: Server, numRuns: number): Promise<void> {
  const stories = fc.commands(commands({ waitMs: 200 }), { maxCommands: 16, size: "max" });
  const property = fc.asyncProperty(stories, async (story) => {
    await server.restart();
    const clock = manualClock();
    await using sandbox = await createSandbox({ port: 0, webhookUrl, webhookSecret: testSecret, clock });
    const real = { sandbox, observe: (contractId: string) => server.observe(contractId) };
    await fc.asyncModelRun(() => ({ model: { contracts: [] }, real }), story);
  });
  await fc.assert(property, { numRuns, seed: 3, endOnFailure: true });
}

it("the library's own server holds what the sandbox holds, story by story", async () => {
  let opened = await createTestMirror();
  const http = await startServer((request, response) => void nodeWebhook(opened.mirror)(request, response));
  const server: Server = {
    restart: async () => {
      await opened.mirror.close();
      opened = await createTestMirror();
    },
    observe: async (contractId) => {
      const contract = await opened.mirror.contracts.get(contractId);
      const refunds = (contract?.refunds ?? []).map(({ refundId, state }) => [refundId, state]);
      return (
        contract && {
          status: contract.status,
          refunds: Object.fromEntries(refunds) as Record<string, string>,
        }
      );
    },
  };
  await runStories(http.url, server, 15);
  await http.close();
  await opened.mirror.close();
});

it("a server that leaves the contract where it is while a milestone is refunded is found, with the story", async () => {
  let database = createDatabase();
  const http = await startServer((request, response) =>
    createListener(database, testSecret)(request, response),
  );
  const server: Server = {
    restart: async () => {
      database = createDatabase();
    },
    observe: async (contractId) => {
      const order = database.orders.get(contractId);
      return order && { status: order.status };
    },
  };
  await expect(runStories(http.url, server, 100)).rejects.toThrow(/create CNT-[^]*refund CNT-/);
  await http.close();
});
