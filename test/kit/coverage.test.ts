/** What the generators reach: every row of both machines, and every row of the response table. */
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { fetchWebhook } from "../../adapters/fetch.ts";
import {
  contractMachine,
  createMirror,
  EscrowMirrorError,
  milestoneMachine,
  type Machine,
  type Mirror,
  type ReceiveRequest,
  type ReceiveResult,
} from "../../src/index.ts";
import type { SnapshotFacts } from "../../src/events/snapshot.ts";
import { sqlite } from "../../src/sqlite.ts";
import {
  buildEvent,
  createTestMirror,
  livesFrom,
  recordedDeliveries,
  signDelivery,
  testSecret,
  type Delivery,
} from "../../src/testing.ts";
import { arbitraries } from "../../src/testing-fast-check.ts";
import { underFreshId } from "../../src/testing/laws/arrivals.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { openReceiving } from "../property/receiving.ts";
import { failing } from "../support/failing-store.ts";

type Row = Machine["transitions"][number];

const tell = ({ from, event, to }: Pick<Row, "from" | "to"> & { event: string | null }): string =>
  `${from ?? "nothing"} → ${to} by ${event ?? "an API read"}`;

it.each([contractMachine, milestoneMachine])(
  "every transition of the $entity's machine is reached in one run, those without a webhook by an API read",
  async (machine) => {
    const isOwn = (milestoneId: string | null): boolean =>
      (milestoneId === null) === (machine.entity === "contract");
    const lives = fc.sample(arbitraries.contractLife({ stepsMax: 16 }), { numRuns: 2500, seed: 15 });
    const told = lives.flatMap(({ events }) =>
      events.flatMap(({ event, moves }) =>
        moves.flatMap(({ milestoneId, ...move }) => (isOwn(milestoneId) ? [tell({ ...move, event })] : [])),
      ),
    );
    const silent = await Promise.all(
      machine.transitions.filter(({ event }) => event === null).map(readSilently),
    );
    const reached = new Set([...told, ...silent]);
    expect(machine.transitions.map(tell).filter((row) => !reached.has(row))).toEqual([]);

    async function readSilently(row: Row, index: number): Promise<string> {
      const { store, receiver } = await openReceiving(createMemoryStore());
      const statuses = row.from === null ? [row.to] : [row.from, row.to];
      for (const [minute, status] of statuses.entries())
        await receiver.takeSnapshot({
          kind: "snapshot",
          digest: `${index}-${minute}`,
          receivedAt: "2026-02-01T00:00:00.000Z",
          facts: shownAs(machine, status, minute),
        });
      const history = await store.read((reader) => reader.find("transitions"));
      const move = history.findLast(({ milestoneId, moved }) => moved && isOwn(milestoneId));
      return tell({ from: move?.from ?? null, to: move?.to ?? "", event: null });
    }
  },
);

function shownAs(machine: Machine, status: string, minute: number): SnapshotFacts {
  const takenAt = `2026-01-25T10:0${minute * 5}:00`;
  const ofMilestone = machine.entity === "milestone";
  return {
    origin: "read",
    contractId: "CNT-1",
    orderKey: `${takenAt}.000000000`,
    takenAt: `${takenAt}Z`,
    status: ofMilestone ? "Escrow" : status,
    updatedAt: null,
    createdAt: null,
    fields: {},
    milestones: ofMilestone
      ? [{ milestoneId: "13", status, name: "A", dueDate: "2026-03-01T00:00:00Z" }]
      : [],
  };
}

it("every row of the response table is reached by the generators, a store with faults, or a host", async () => {
  const reached = new Set<string>();
  const note = ({ status, outcome, reason }: ReceiveResult): void => {
    reached.add(`${status} ${outcome} ${reason ?? ""}`.trim());
  };
  await bringDeliveries(note);
  await bringHostile(note);
  await meetFaults(note);
  await meetHandlers(note);
  await bringEncoded(note);
  await meetHosts(note);
  const table = [
    "200 applied",
    "200 duplicate",
    "200 duplicate payload-changed",
    "200 quarantined not-json",
    "200 quarantined not-utf8",
    "200 quarantined too-deep",
    "200 quarantined invalid-payload",
    "200 quarantined ambiguous-field",
    "200 quarantined no-contract-id",
    "200 quarantined unknown-encoding",
    "200 quarantined corrupt-encoding",
    "200 quarantined inflated-too-large",
    "200 quarantined webhook-id-conflict",
    "200 quarantined payload-id-conflict",
    "200 quarantined outside-tolerance",
    "200 quarantined unstorable",
    "401 rejected signature-missing",
    "401 rejected signature-malformed",
    "401 rejected signature-mismatch",
    "401 rejected timestamp-missing",
    "401 rejected timestamp-unparseable",
    "405 rejected method-not-allowed",
    "413 rejected body-too-large",
    "500 failed raw-body-unavailable",
    "503 failed body-incomplete",
    "503 failed secret-unproven",
    "503 failed unstorable",
    "503 failed store-unavailable",
    "503 failed handler-failed",
    "503 failed inside-transaction",
    "503 failed internal-error",
    "503 failed intake-full",
    "503 failed no-secret",
    "503 failed starting",
    "503 failed closed",
  ];
  expect(table.filter((row) => !reached.has(row))).toEqual([]);
});

type Note = (result: ReceiveResult) => void;

async function bringDeliveries(note: Note): Promise<void> {
  const { mirror, deliver } = await createTestMirror();
  const created = signDelivery(buildEvent("contract.created"));
  note(
    await deliver(signDelivery(buildEvent("contract.created"), { secret: "whsec_another_0123456789abcdef" })),
  );
  for (const { deliveries } of livesFrom(1, 3))
    for (const each of [...deliveries, ...deliveries]) note(await deliver(each));
  for (const each of recordedDeliveries) note(await deliver(each));
  note(await deliver(created));
  const { id } = buildEvent("contract.created");
  note(
    await deliver(
      signDelivery(buildEvent("contract.created", { id, data: { amount: 1 } }), { webhookId: "x-1" }),
    ),
  );
  note(await deliver(signDelivery(buildEvent("contract.approved", { id }), { webhookId: "x-2" })));
  note(await deliver(signDelivery(buildEvent("contract.rejected"), { webhookId: `wh-${id}` })));
  note(await deliver(signDelivery(buildEvent("contract.created", { data: { contractId: undefined } }))));
  note(await deliver(signDelivery('{"data":[]}', { webhookId: "x-3" })));
  note(await mirror.receive({ ...created, method: "GET" }));
  note(await mirror.receive({ ...created, body: "x".repeat(1_048_577) }));
  note(await mirror.receive({ ...created, body: undefined }));
  note(await mirror.receive({ ...created, headers: {} }));
  await mirror.close();
  note(await deliver(created));
}

async function bringHostile(note: Note): Promise<void> {
  const { mirror, deliver } = await createTestMirror();
  await deliver(buildEvent("contract.created"));
  for (const { isAuthentic: _, ...request } of fc.sample(arbitraries.hostile(), { numRuns: 400, seed: 15 }))
    note(await mirror.receive(request));
  await mirror.close();
}

/** Its signature holds, over the bytes as they came. */
function zipped(body: Uint8Array<ArrayBuffer>, webhookId: string): ReceiveRequest {
  const { headers } = signDelivery(body, { webhookId });
  return { method: "POST", headers: { ...headers, "Content-Encoding": "gzip" }, body };
}

async function bringEncoded(note: Note): Promise<void> {
  const { mirror } = await createTestMirror();
  note(await mirror.receive(signDelivery(`${"[".repeat(600)}${"]".repeat(600)}`, { webhookId: "deep" })));
  note(await mirror.receive(zipped(Buffer.from("no gzip"), "corrupt")));
  note(await mirror.receive(zipped(Uint8Array.from(gzipSync(Buffer.alloc(2_000_000, "x"))), "bomb")));
  const { headers } = signDelivery(buildEvent("contract.created"));
  const broken = new Readable({ read: () => broken.destroy(new Error("aborted")) });
  note(await mirror.receive({ method: "POST", headers, body: broken }));
  await mirror.close();
}

async function meetHandlers(note: Note): Promise<void> {
  const { mirror, deliver } = await createTestMirror({ store: sqlite(":memory:") });
  mirror.inTransaction(
    "contract.created",
    async () => {
      note(await deliver(buildEvent("contract.approved")));
      throw new Error("this handler is broken");
    },
    { name: "broken" },
  );
  note(await deliver(buildEvent("contract.created")));
  await mirror.close();
  const state = failing(createMemoryStore(), () => true);
  const buggy = await createTestMirror({ store: state.store });
  await buggy.deliver(buildEvent("contract.created"));
  state.fault = new TypeError("a bug of ours");
  note(await buggy.deliver(buildEvent("contract.created", { data: { contractId: "CNT-2" } })));
  await buggy.mirror.close();
}

async function meetFaults(note: Note): Promise<void> {
  const state = failing(createMemoryStore(), (call) => call === "insert");
  const { mirror, deliver } = await createTestMirror({ store: state.store });
  await deliver(buildEvent("contract.created"));
  const poisoned = buildEvent("contract.created", { data: { contractId: "CNT-POISON" } });
  const upsert = failing(
    createMemoryStore(),
    (call, values) => call === "upsert" && JSON.stringify(values).includes("CNT-POISON"),
  );
  const other = await createTestMirror({ store: upsert.store });
  await other.deliver(buildEvent("contract.created"));
  upsert.fault = new Error("this row can't be written");
  note(await other.deliver(poisoned));
  note(await other.deliver(poisoned));
  await other.mirror.close();
  state.fault = new EscrowMirrorError("store-unavailable", "the disk is full");
  note(await deliver(poisoned));
  await mirror.close();
  const small = await createTestMirror({ intake: { itemsMax: 1 } });
  const many = livesFrom(1, 4).flatMap(({ deliveries }) => deliveries);
  for (const answer of await Promise.all(many.map(small.deliver))) note(answer);
  await small.mirror.close();
}

async function meetHosts(note: Note): Promise<void> {
  const blind = await createMirror({ store: createMemoryStore() });
  note(await blind.receive(signDelivery(buildEvent("contract.created"))));
  await blind.close();
  const starting = fetchWebhook(new Promise<Mirror>(() => {}));
  const { headers, body } = signDelivery(buildEvent("contract.created"));
  const answer = await starting(new Request("http://localhost/", { method: "POST", headers, body }));
  note({ status: answer.status, outcome: "failed", reason: "starting", headers: {}, body: "" });
  await meetTolerance(note);
}

/** Signed as Stripe signs: the time too. */
function signAt(timestamp: number | string): Delivery {
  return underFreshId(
    signDelivery(buildEvent("contract.created", { data: { reference: String(timestamp) } }), {
      signature: "stripe",
      timestamp,
    }),
    `wh-${timestamp}`,
  );
}

/** Only a scheme that signs the time has a tolerance. */
async function meetTolerance(note: Note): Promise<void> {
  const webhook = { secrets: testSecret, signature: "stripe" } as const;
  const mirror = await createMirror({ store: createMemoryStore(), webhook });
  note(await mirror.receive(signAt(Date.now())));
  note(await mirror.receive(signAt(Date.now() - 48 * 3_600_000)));
  note(await mirror.receive(signAt("soon")));
  const { "Stripe-Signature": right = "", ...rest } = signAt(Date.now()).headers;
  note(
    await mirror.receive({
      ...signAt(Date.now()),
      headers: { ...rest, "Stripe-Signature": right.replace(/t=\d+,/, "") },
    }),
  );
  await mirror.close();
}
