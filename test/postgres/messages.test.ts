/** How many messages the store sends. Each can be a wait where Postgres is on another machine. No slow machine changes the count. */
import { Pool } from "pg";
import { afterAll, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import { postgres } from "../../src/postgres.ts";
import { delivery, noonMs } from "../support/delivery.ts";
import { limited } from "../support/failing-store.ts";
import { openMirror } from "../support/mirror.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";

let messages: string[] = [];
const pool = new Pool({ connectionString: postgresUrl, max: 1 });
pool.on("connect", (client) => {
  const query = client.query.bind(client) as (asked: { text: string }) => unknown;
  const counted = (asked: { text: string }): unknown => {
    messages.push(asked.text);
    return query(asked);
  };
  Object.assign(client, { query: counted });
});

afterAll(() => pool.end());

async function open(schema = freshSchema()): Promise<Mirror> {
  const mirror = await openMirror({ store: postgres({ pool, schema }), jobs: { run: false } });
  // The first commit of a process does more: it proves the secret.
  await mirror.receive(delivery("contract.created", { id: "first", seconds: 0, contractId: "first" }));
  return mirror;
}

/** A delivery for each of 64 contracts at once: how many messages each commit was, however many commits there were. */
async function receive(
  mirror: Mirror,
  event: string,
  seconds: number,
  shape: object = {},
): Promise<readonly number[]> {
  const deliveries = Array.from({ length: 64 }, (_, at) =>
    delivery(event, { id: `${event} ${at}`, seconds, contractId: `CNT-${at}`, ...shape }),
  );
  messages = [];
  const results = await Promise.all(deliveries.map((each) => mirror.receive(each)));
  expect(results.filter(({ outcome }) => outcome === "applied")).toHaveLength(64);
  const ends = messages.flatMap((text, at) => (text === "commit" ? [at + 1] : []));
  return [...new Set(ends.map((end, at) => end - (ends[at - 1] ?? 0)))];
}

it("a commit of 64 deliveries is a dozen messages", async () => {
  const mirror = await open();
  expect([
    await receive(mirror, "contract.created", 0),
    await receive(mirror, "contract.approved", 60),
    await receive(mirror, "payment.completed", 120, { paymentId: "7" }),
    await receive(mirror, "refund.full-initiated", 180, { transactionId: 9 }),
  ]).toEqual([[10], [10], [12], [14]]);
});

it("a commit is as many messages while a handler reads older deliveries", async () => {
  const schema = freshSchema();
  const mirror = await open(schema);
  const older = Array.from({ length: 200 }, (_, at) => ({
    id: `old ${at}`,
    seconds: 0,
    contractId: `old ${at}`,
  }));
  await Promise.all(older.map((shape) => mirror.receive(delivery("contract.created", shape))));
  const writes = limited(postgres({ connectionString: postgresUrl, schema }));
  const behind = await openMirror({ store: writes.store, jobs: { run: false } });
  writes.left = 1;
  behind.onTransition({ entity: "contract" }, () => undefined, { name: "behind", since: new Date(noonMs) });
  await expect.poll(() => mirror.handlers.list()).toHaveLength(1);
  expect([
    await receive(mirror, "contract.created", 0),
    await receive(mirror, "contract.approved", 60),
  ]).toEqual([[10], [10]]);
});

it("a read of a contract is 5 messages, its begin and commit among them", async () => {
  const mirror = await open();
  messages = [];
  await mirror.contracts.get("CNT-1");
  expect(messages).toHaveLength(5);
});
