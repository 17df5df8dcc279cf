/**
 * Handlers that begin at some time and read older deliveries, while deliveries come, come again, are released and arrive late:
 * each gets what one gets that was there from the start.
 */
import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { expect } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { Anomaly } from "../../src/queries/shapes.ts";
import type { Store } from "../../src/store/store.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { delivery, noonMs } from "../support/delivery.ts";
import { openMirror, withTransactions } from "../support/mirror.ts";
import { law } from "./law.ts";

const since = new Date(noonMs);
/** A page of older deliveries, and a part of a second one. */
const fillers = 230;

const step = fc.record({
  contract: fc.nat({ max: 2 }),
  seconds: fc.nat({ max: 3000 }),
  event: fc.constantFrom(
    { type: "payment.completed" },
    { type: "payment.completed", previousStatus: "Cancelled", status: "Escrow" },
    { type: "contract.cancelled" },
    { type: "contract.disputed" },
    { type: "contract.released" },
  ),
  /** How it comes first. */
  as: fc.constantFrom("plain", "plain", "spoilt", "under a taken id"),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const act = fc.oneof(
  { weight: 3, arbitrary: step.map((each) => ({ do: "receive", step: each }) as const) },
  { weight: 2, arbitrary: fc.nat().map((pick) => ({ do: "receive again", pick }) as const) },
  { weight: 2, arbitrary: fc.nat().map((pick) => ({ do: "release", pick }) as const) },
  { weight: 2, arbitrary: fc.nat({ max: 3 }).map((commits) => ({ do: "read on", commits }) as const) },
);
type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;

const story = fc.record({
  before: fc.array(step, { maxLength: 8 }),
  after: fc.array(step, { maxLength: 4 }),
  acts: fc.array(act, { minLength: 1, maxLength: 14 }),
});

type Story = typeof story extends fc.Arbitrary<infer Value> ? Value : never;

/** A store that makes no more than so many commits for now. */
function paced(inner: Store) {
  const state = { left: Number.POSITIVE_INFINITY };
  const waiting: (() => void)[] = [];
  const store = withTransactions(inner, async (work) => {
    while (state.left <= 0) await new Promise<void>((resolve) => waiting.push(resolve));
    state.left--;
    return inner.transaction(work);
  });
  const allow = (commits: number): void => {
    state.left = commits;
    for (const go of waiting.splice(0)) go();
  };
  return { store, allow };
}

/** Receives steps, and knows those that may come again. */
function createSender(mirror: Mirror) {
  const sent: Step[] = [];
  const receive = async (index: number, as: Step["as"]): Promise<void> => {
    const { contract, seconds, event } = sent[index] as Step;
    const { type, ...more } = event;
    const isTaken = (sent[index] as Step).as === "under a taken id";
    const shape = {
      id: isTaken ? "filler-1" : `step-${index}`,
      seconds,
      contractId: `CNT-${contract}`,
      ...more,
    };
    const headers: Record<string, string> = as === "spoilt" ? { "content-encoding": "gzip" } : {};
    await mirror.receive(delivery(type, shape, { headers, webhookId: `${shape.id} ${index}` }));
  };
  return {
    first: (each: Step) => receive(sent.push(each) - 1, each.as),
    again: (pick: number) => (sent.length === 0 ? undefined : receive(pick % sent.length, "plain")),
  };
}

/** Three handlers, and all that they hear. */
function register(mirror: Mirror, name: string) {
  const events: string[] = [];
  const anomalies: string[] = [];
  const moves = new Set<string>();
  const types = ["payment.completed", "contract.cancelled", "contract.disputed", "contract.released"];
  mirror.on(types, ({ webhookId }) => void events.push(webhookId), { name: `events-${name}`, since });
  mirror.on("anomaly", (anomaly) => void anomalies.push(nameOf(anomaly)), {
    name: `anomalies-${name}`,
    since,
  });
  const statuses = ["Escrow", "Cancelled", "Dispute", "Released"];
  mirror.onTransition(
    { entity: "contract", to: statuses },
    ({ contractId, to }) => void moves.add(`${contractId} ${to}`),
    {
      name: `moves-${name}`,
      since,
    },
  );
  return { events, anomalies, moves };
}

async function take(each: Act, { other, sender, allow }: Site): Promise<void> {
  if (each.do === "receive") await sender.first(each.step);
  else if (each.do === "receive again") await sender.again(each.pick);
  else if (each.do === "release") await releaseOne(other, each.pick);
  else {
    allow(each.commits);
    await setImmediate();
  }
}

interface Site {
  readonly other: Mirror;
  readonly sender: ReturnType<typeof createSender>;
  readonly allow: (commits: number) => void;
}

async function releaseOne(mirror: Mirror, pick: number): Promise<void> {
  const { items } = await mirror.quarantine.list();
  const item = items[pick % items.length];
  if (item !== undefined) await mirror.quarantine.release(item.id).catch(expectNotReleasable);
}

function expectNotReleasable(error: unknown): void {
  expect(error).toMatchObject({ code: "not-releasable" });
}

async function allApplied(mirror: Mirror): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await mirror.deliveries.list({ outcome: "applied", limit: 500, cursor });
    const steps = page.items.filter(({ event }) => event !== "contract.created");
    ids.push(...steps.map(({ webhookId }) => webhookId));
    if (page.nextCursor === null) return ids;
    cursor = page.nextCursor;
  }
}

async function allAnomalies(mirror: Mirror): Promise<string[]> {
  const { items } = await mirror.anomalies.list({ limit: 500 });
  return items.map(nameOf);
}

function nameOf({ contractId, kind, detail }: Anomaly): string {
  return JSON.stringify([contractId, kind, detail]);
}

law(
  "a handler that begins late gets each event and anomaly once, and every present status",
  0.03,
  story,
  check,
);

async function check({ before, after, acts }: Story): Promise<void> {
  const memory = createMemoryStore();
  const { store, allow } = paced(memory);
  const mirror = await openMirror({ store, jobs: { run: false } });
  const other = await openMirror({ store: memory, jobs: { run: false } });
  const sender = createSender(other);
  const early = register(other, "early");
  await other.idle();
  for (const each of before) await sender.first(each);
  await Promise.all(
    Array.from({ length: fillers }, (_, n) =>
      other.receive(delivery("contract.created", { id: `filler-${n}`, seconds: 0, contractId: `CNT-f${n}` })),
    ),
  );
  for (const each of after) await sender.first(each);
  allow(0);
  const late = register(mirror, "late");
  for (const each of acts) await take(each, { other, sender, allow });
  allow(Number.POSITIVE_INFINITY);
  await mirror.jobs.runOnce();
  await other.jobs.runOnce();
  const applied = (await allApplied(other)).sort();
  expect(late.events.sort()).toEqual(applied);
  expect(early.events.sort()).toEqual(applied);
  // Those that a later fold took back may be missing.
  expect(early.anomalies).toEqual(expect.arrayContaining(late.anomalies));
  expect(late.anomalies).toEqual(expect.arrayContaining(await allAnomalies(other)));
  expect(new Set(late.anomalies).size).toBe(late.anomalies.length);
  for (const contractId of ["CNT-0", "CNT-1", "CNT-2"]) {
    const status = (await other.contracts.get(contractId))?.status ?? null;
    if (status !== null) expect([...late.moves]).toContain(`${contractId} ${status}`);
  }
  await Promise.all([mirror.close(), other.close()]);
}
