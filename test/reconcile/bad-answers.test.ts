/** Answers of the API that no service should give, as the mirror meets them. */
import { inspect } from "node:util";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { Sandbox } from "../../src/sandbox.ts";
import { recordingLogger } from "../support/mirror.ts";
import { startScript } from "../client/support.ts";
import { openGate, passOn, type Gate, type Spoil } from "./gate.ts";
import { contractInput, openService, type Service } from "./support.ts";

const checkoutToken = "0c35a1a507536ddfa65b5a9903ec8a91";
const dayMs = 86_400_000;

interface Case {
  readonly what: string;
  readonly code: string;
  readonly spoil: (quote: () => string, elsewhere: string) => Spoil;
}

const html = (status: number) => (quote: () => string) => (response: ServerResponse) =>
  response
    .writeHead(status, { "content-type": "text/html" })
    .end(`<!doctype html><title>Sign in</title><p>${quote()}</p>`);

const cases: readonly Case[] = [
  { what: "200 with HTML", code: "invalid-response", spoil: html(200) },
  { what: "500 with HTML", code: "error-response", spoil: html(500) },
  {
    what: "half a body",
    code: "unreachable",
    spoil: (quote) => (response) => {
      const text = JSON.stringify({ data: { title: quote() } });
      response.writeHead(200, { "content-type": "application/json", "content-length": text.length * 2 });
      response.write(text, () => response.destroy());
    },
  },
  {
    what: "100 MB",
    code: "invalid-response",
    spoil: () => (response) => {
      const chunk = Buffer.alloc(1_048_576, " ");
      let left = 100;
      const more = (): void => {
        if (left-- > 0 && !response.destroyed) response.write(chunk, more);
        else response.end();
      };
      response.writeHead(200, { "content-type": "application/json" });
      more();
    },
  },
  {
    what: "a redirect to another host",
    code: "invalid-response",
    spoil: (quote, elsewhere) => (response) =>
      response
        .writeHead(307, { location: `${elsewhere}/apps/api/contracts?was=${encodeURIComponent(quote())}` })
        .end(),
  },
];

interface Spoilt extends Service {
  readonly gate: Gate;
  readonly ids: readonly [string, string, string];
  /** Secrets that stand in `shown`. */
  readonly leaks: (shown: unknown) => string[];
  /** What a spoilt answer quotes. */
  readonly quote: () => string;
}

async function openSpoilt(): Promise<Spoilt> {
  const gate = await openGate();
  const logger = recordingLogger();
  const service = await openService({
    mirror: { logger },
    toClient: (_, sandbox) => gate.clientOf(sandbox),
  });
  const { sandbox, client, pass } = service;
  const made = [];
  for (const index of [1, 2, 4]) made.push((await client.contracts.create(contractInput(index))).contractId);
  await pass();
  const secrets = (): string[] => [
    sandbox.clientSecret,
    sandbox.webhookSecret,
    checkoutToken,
    ...[...gate.tokens].flatMap((token) => token.split(" ").slice(1)),
  ];
  const leaks = (shown: unknown): string[] => {
    const text = inspect([shown, logger.lines], { depth: 15, showHidden: true, maxStringLength: null });
    return secrets().filter((secret) => text.includes(secret));
  };
  const quote = (): string => `${secrets().join(" | ")} /checkout?token=${checkoutToken}`;
  return { ...service, gate, ids: made as unknown as Spoilt["ids"], leaks, quote };
}

/** All that the mirror holds of the contracts, but for when it was last read. */
async function stateOf(mirror: Mirror, ids: readonly string[]): Promise<unknown> {
  const contracts = await Promise.all(ids.map((id) => mirror.contracts.get(id)));
  const histories = await Promise.all(ids.map((id) => mirror.contracts.history(id)));
  return { contracts, histories, anomalies: (await mirror.anomalies.list()).items };
}

/** Creates a contract and a refund, where nobody knows whether the service did it. Resolves with the errors. */
async function callInDoubt(mirror: Mirror, contractId: string): Promise<unknown[]> {
  const errors: unknown[] = [];
  const note = (error: unknown): void => void errors.push(error);
  await mirror.contracts.create(contractInput(5)).catch(note);
  await mirror.refunds.create(contractId, { reason: "Broken" }).catch(note);
  expect(errors).toMatchObject([{ code: "outcome-unknown" }, { code: "outcome-unknown" }]);
  return errors;
}

describe.each(cases)("an answer of $what", ({ code, spoil }) => {
  it("to refresh rejects with a typed error, and the mirror stays as it is", async () => {
    const { mirror, gate, ids, leaks, quote } = await openSpoilt();
    const elsewhere = await startScript();
    const before = await stateOf(mirror, ids);
    gate.spoil = (request) => (request.startsWith("GET") ? spoil(quote, elsewhere.url) : undefined);
    const error: unknown = await mirror.contracts.refresh(ids[0]).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: "EscrowApiError", code });
    expect(leaks(error)).toEqual([]);
    expect(await stateOf(mirror, ids)).toEqual(before);
    expect(elsewhere.heard).toEqual([]);
  });

  it("to import and reconcile fails that contract alone, and the others are read", async () => {
    const { mirror, sandbox, gate, ids, leaks, quote, pass } = await openSpoilt();
    const elsewhere = await startScript();
    sandbox.faults.set({ drop: 1 });
    for (const id of ids) await sandbox.act(id, "approve");
    await pass();
    sandbox.faults.clear();
    const before = await stateOf(mirror, [ids[1]]);
    gate.spoil = (request) =>
      request === `GET /apps/api/contracts/${ids[1]}` ? spoil(quote, elsewhere.url) : undefined;
    const failures = [{ contractId: ids[1], code }];
    const imported = await mirror.contracts.import([ids[0], ids[1]]);
    expect(imported).toMatchObject({ imported: 1, failed: 1, failures });
    await pass();
    const reconciled = await mirror.reconcile();
    expect(reconciled).toMatchObject({ failed: 1, failures });
    expect(leaks([imported, reconciled])).toEqual([]);
    expect(await stateOf(mirror, [ids[1]])).toEqual(before);
    for (const id of [ids[0], ids[2]])
      expect(await mirror.contracts.get(id)).toMatchObject({ status: "Approved" });
    gate.spoil = () => undefined;
    await mirror.reconcile();
    expect(await mirror.contracts.get(ids[1])).toMatchObject({ status: "Approved" });
    expect(elsewhere.heard).toEqual([]);
  });

  it("to create and refund leaves their outcome unknown until one webhook, and neither is sent twice", async () => {
    const { mirror, sandbox, gate, ids, leaks, quote, pass } = await openSpoilt();
    const elsewhere = await startScript();
    for (const action of ["approve", "pay"] as const) {
      await sandbox.act(ids[0], action);
      await pass();
    }
    gate.heard.length = 0;
    const spoilAfter: Spoil = async (response, forward) => {
      await forward();
      await spoil(quote, elsewhere.url)(response, forward);
    };
    gate.spoil = (request) => (request.startsWith("POST") ? spoilAfter : undefined);
    expect(leaks(await callInDoubt(mirror, ids[0]))).toEqual([]);
    expect(gate.heard.filter((request) => request.startsWith("POST"))).toHaveLength(2);
    await pass();
    expect((await mirror.contracts.list({ reference: "order-5" })).items).toHaveLength(1);
    const [truth] = await sandbox.refunds.list();
    expect((await mirror.refunds.list()).items).toMatchObject([
      { refundId: truth?.refundId, state: "initiated", requestedAt: expect.any(String) },
    ]);
    expect(await sandbox.contracts.list()).toHaveLength(4);
    expect(gate.heard.filter((request) => request.startsWith("POST"))).toHaveLength(2);
    expect(elsewhere.heard).toEqual([]);
  });

  it("to checkoutUrl rejects with a typed error without a secret", async () => {
    const { mirror, gate, ids, leaks, quote } = await openSpoilt();
    const elsewhere = await startScript();
    gate.spoil = () => spoil(quote, elsewhere.url);
    const error: unknown = await mirror.contracts.checkoutUrl(ids[0]).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: "EscrowApiError" });
    expect(leaks(error)).toEqual([]);
    expect(elsewhere.heard).toEqual([]);
  });
});

describe.each([
  ["ahead", dayMs],
  ["behind", -dayMs],
])("a service whose clock is a day %s", (_, offMs) => {
  it("loses nothing: a read fills the contract, and the webhook after it still moves it", async () => {
    const { mirror, sandbox, gate, ids, pass } = await openSpoilt();
    gate.spoil = () => (response, forward) =>
      passOn(response, forward, { date: new Date(sandbox.clock.now() + offMs).toUTCString() });
    expect(await mirror.contracts.refresh(ids[0])).toMatchObject({ status: "pending", title: "Contract 1" });
    for (const [action, status] of [
      ["approve", "Approved"],
      ["pay", "Escrow"],
      ["release", "Released"],
    ] as const) {
      await sandbox.act(ids[0], action);
      await pass();
      expect(await mirror.contracts.get(ids[0])).toMatchObject({ status });
    }
    expect(await mirror.contracts.refresh(ids[0])).toMatchObject({ status: "Released" });
  });
});

it("a read that is on its way while ten events pass loses to all of them", async () => {
  const { mirror, sandbox, client, gate, pass } = await openSpoilt();
  const { contractId } = await client.contracts.create(contractInput(3));
  await pass();
  const before = (await mirror.deliveries.list({ contractId })).items.length;
  let letGo!: () => void;
  const isOver = new Promise<void>((resolve) => (letGo = resolve));
  gate.spoil = () => async (response, forward) => {
    const answer = await forward();
    await isOver;
    await passOn(response, async () => answer);
  };
  const reading = mirror.contracts.refresh(contractId);
  await expect.poll(() => gate.heard.at(-1)).toBe(`GET /apps/api/contracts/${contractId}`);
  await actToTheEnd(sandbox, contractId, pass);
  const after = (await mirror.deliveries.list({ contractId })).items.length;
  expect(after - before).toBeGreaterThanOrEqual(10);
  const state = await stateOf(mirror, [contractId]);
  const { status, milestones } = (await mirror.contracts.get(contractId)) ?? {};
  letGo();
  await reading;
  expect(await mirror.contracts.get(contractId)).toMatchObject({ status });
  const statuses = (list: typeof milestones) => list?.map((each) => each.status);
  expect(statuses((await mirror.contracts.get(contractId))?.milestones)).toEqual(statuses(milestones));
  expect(state).toMatchObject({ contracts: [{ status: "Completed" }] });
});

describe.each(["before", "within", "after"] as const)("a connection that is cut %s the answer", (when) => {
  const cut: Spoil = async (response, forward) => {
    const answer = when === "before" ? undefined : await forward();
    if (answer === undefined) return response.destroy();
    response.writeHead(answer.status, { ...answer.headers });
    // All of it but its end is sent: the answer is as good as there, and can't be believed.
    const sent = answer.body.subarray(0, when === "within" ? answer.body.length / 2 : answer.body.length - 1);
    return response.write(sent, () => response.destroy());
  };

  it("makes one contract and one refund at most, which one webhook tells, and nothing is sent twice", async () => {
    const { mirror, sandbox, gate, ids, leaks, pass } = await openSpoilt();
    for (const action of ["approve", "pay"] as const) {
      await sandbox.act(ids[0], action);
      await pass();
    }
    gate.heard.length = 0;
    gate.spoil = (request) => (request.startsWith("POST") ? cut : undefined);
    expect(leaks(await callInDoubt(mirror, ids[0]))).toEqual([]);
    await pass();
    expect(gate.heard.filter((request) => request.startsWith("POST"))).toHaveLength(2);
    const arrived = when === "before" ? 0 : 1;
    expect((await mirror.contracts.list({ reference: "order-5" })).items).toHaveLength(arrived);
    expect(await sandbox.contracts.list()).toHaveLength(3 + arrived);
    expect(await sandbox.refunds.list()).toHaveLength(arrived);
    const state = when === "before" ? "requested" : "initiated";
    expect((await mirror.refunds.list()).items).toMatchObject([{ state }]);
  });
});

/** Pays it, releases each of its milestones, and completes it: each act in a minute of its own. */
async function actToTheEnd(sandbox: Sandbox, contractId: string, pass: Service["pass"]): Promise<void> {
  for (;;) {
    const contract = await sandbox.contracts.get(contractId);
    const milestone = contract?.milestones.find(({ actions }) => wanted(actions) !== undefined);
    const action = wanted(milestone?.actions ?? contract?.actions ?? []);
    if (action === undefined) return;
    const target = milestone === undefined ? {} : { milestoneId: milestone.milestoneId };
    await sandbox.act(contractId, action, target);
    await pass();
  }
}

function wanted(actions: readonly string[]) {
  return (["approve", "pay", "release", "complete"] as const).find((action) => actions.includes(action));
}
