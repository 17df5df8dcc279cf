import { expect, it, onTestFinished } from "vitest";
import { createClient } from "../../src/client.ts";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import { manualClock } from "../../src/sandbox.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { openSandbox } from "../sandbox/support.ts";
import { delivery } from "../support/delivery.ts";

it.each<[string, () => Store]>([
  ["memory", () => createMemoryStore()],
  ["SQLite", () => sqlite(":memory:")],
])("until the new secret is saved, what either secret signed is taken, on %s", async (_, open) => {
  const sandbox = await openSandbox({ clock: manualClock(), webhookUrl: "http://127.0.0.1:9/" });
  const old = sandbox.webhookSecret;
  const mirror = await createMirror({
    store: open(),
    webhook: { secrets: () => old },
    client: createClient(sandbox),
    clock: sandbox.clock,
    logger: silentLogger,
  });
  onTestFinished(async () => {
    await mirror.close();
    await sandbox.close();
  });
  const statuses: number[] = [];
  const save = async (made: string): Promise<void> => {
    for (const [id, secret] of Object.entries({ old, made })) {
      const signed = delivery("contract.created", { id, contractId: `CNT-${id}`, seconds: 0 }, { secret });
      statuses.push((await mirror.receive(signed)).status);
    }
  };
  await mirror.rotateSecret({ save });
  expect(statuses).toEqual([200, 200]);
});
