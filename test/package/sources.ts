/** What the consumers of the package write, as a user would. */

const secret = "whsec_test_0123456789abcdef0123456789abcdef";

/** One signed delivery through a handler on a real port, and what the mirror then says. */
const run = `
const secret = "${secret}";
const body = JSON.stringify({ id: "p-1", event: "contract.created", data: { contractId: "CNT-1", status: "Draft" } });
const signature = "sha256=" + createHmac("sha256", secret).update(body).digest("hex");

async function main(): Promise<void> {
  const mirror: Mirror = await createMirror({ store: sqlite(":memory:"), webhook: { secrets: secret } });
  const server = createServer(nodeWebhook(mirror));
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const headers = { "X-Service-Webhook-Id": "wh-1", "X-Service-Signature": signature };
  const answered = await fetch("http://127.0.0.1:" + port, { method: "POST", headers, body });
  const contract = await mirror.contracts.get("CNT-1");
  const client = createClient({ baseUrl: "https://service.test", getToken: async () => ({ accessToken: "token" }) });
  const refused = await client.contracts.get("..").catch((error: unknown) => isEscrowApiError(error, "invalid-argument"));
  const adapters = [expressWebhook(mirror), honoWebhook(mirror), fetchWebhook(mirror), fastifyWebhook];
  console.log(answered.status, contract?.contractId, refused, adapters.every((each) => typeof each === "function"));
  server.close();
  await mirror.close();
}

void main();
`;

export const esmSource = `import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createMirror, type Mirror } from "escrow-mirror";
import { createClient, isEscrowApiError } from "escrow-mirror/client";
import { expressWebhook } from "escrow-mirror/express";
import { fastifyWebhook } from "escrow-mirror/fastify";
import { fetchWebhook } from "escrow-mirror/fetch";
import { honoWebhook } from "escrow-mirror/hono";
import { nodeWebhook } from "escrow-mirror/node";
import { sqlite } from "escrow-mirror/sqlite";
${run}`;

/** `import … = require` compiles to a plain `require`. */
export const cjsSource = `import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import core = require("escrow-mirror");
import { createClient, isEscrowApiError } from "escrow-mirror/client";
import { expressWebhook } from "escrow-mirror/express";
import { fastifyWebhook } from "escrow-mirror/fastify";
import { fetchWebhook } from "escrow-mirror/fetch";
import { honoWebhook } from "escrow-mirror/hono";
import { nodeWebhook } from "escrow-mirror/node";
import { sqlite } from "escrow-mirror/sqlite";
const { createMirror } = core;
type Mirror = core.Mirror;
${run}`;

/** What every run of the two prints. */
export const printed = "200 CNT-1 true true";

/** The testing kit as a property test uses it, and what it prints. */
export const kitSource = `import * as fc from "fast-check";
import { buildEvent, createTestMirror, livesFrom, type Life, type TestMirror } from "escrow-mirror/testing";
import { arbitraries, assertConverges } from "escrow-mirror/testing/fast-check";

async function main(): Promise<void> {
  const { mirror, deliver }: TestMirror = await createTestMirror();
  const { outcome } = await deliver(buildEvent("contract.created", { data: { contractId: "CNT-1" } }));
  const lives: Life[] = livesFrom(1, 3);
  await fc.assert(
    fc.asyncProperty(arbitraries.schedule(), async (deliveries) => assertConverges(deliveries)),
    { numRuns: 3 },
  );
  console.log(outcome, lives.length);
  await mirror.close();
}

void main();
`;
export const kitPrinted = "applied 3";

/**
 * Every subpath loads without any optional peer, but for the one that is for fast-check alone; only opening an SQLite store asks
 * for better-sqlite3.
 */
export const withoutPeers = (subpaths: readonly string[]): string => `
for (const subpath of ${JSON.stringify(subpaths)}) {
  const missing = await import(subpath).then(() => "", (error) => error.message);
  const expected = subpath.endsWith("/fast-check") ? "Cannot find package 'fast-check'" : "";
  if (!missing.startsWith(expected) || (missing !== "" && expected === "")) throw new Error(subpath + ": " + missing);
}
const { createMirror } = await import("escrow-mirror");
const { sqlite } = await import("escrow-mirror/sqlite");
const opening = createMirror({ store: sqlite(":memory:"), webhook: { secrets: "${secret}" } });
console.log(await opening.catch((error) => error.code + ": " + error.message));
`;

/** The recipe for Jest: tests in ESM, no transform, Node's own modules. */
export const jestSource = `
import { createMirror } from "escrow-mirror";
import { sqlite } from "escrow-mirror/sqlite";

test("a mirror opens, and refuses what is not signed", async () => {
  const mirror = await createMirror({ store: sqlite(":memory:"), webhook: { secrets: "${secret}" } });
  const { status } = await mirror.receive({ method: "POST", headers: {}, body: "{}" });
  expect(status).toBe(401);
  await mirror.close();
});
`;
