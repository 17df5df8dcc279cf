import { createServer } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { createSandbox, manualClock } from "../../../src/sandbox.ts";
import { listen } from "../support.ts";
import { startCampaign } from "./campaign.ts";
import type { Campaign, Tamper } from "./campaign.ts";
import type { Answer } from "./check.ts";
import { document, faultOf } from "./document.ts";

/** The sandbox against openapi.json: what it answers, and what it sends. */

const seed = Number(process.env["SEED"] ?? Date.now() % 2 ** 31);
const rounds = 300;

interface Started {
  readonly campaign: Campaign;
  /** Events that came, and what is wrong with each by the document. */
  readonly delivered: { readonly event: string; readonly fault: string | undefined }[];
}

async function start(): Promise<Started> {
  console.log(`SEED=${seed}`);
  const delivered: Started["delivered"] = [];
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { event: string };
      delivered.push({ event: body.event, fault: faultOfEvent(body) });
      response.end();
    });
  });
  const origin = await listen(receiver);
  const sandbox = await createSandbox({ clock: manualClock(), seed: 1 });
  onTestFinished(() => sandbox.close());
  return { campaign: startCampaign(sandbox, origin, seed), delivered };
}

function faultOfEvent(body: { readonly event: string }): string | undefined {
  const content = document.webhooks[body.event]?.post.requestBody?.content["application/json"];
  return content === undefined ? "the document has no such event" : faultOf(content.schema, body);
}

it("no answer and no webhook of the sandbox leaves the document, and each operation succeeds", async () => {
  const { campaign, delivered } = await start();
  await campaign.run(rounds);
  const counts = [...campaign.counts.values()];
  expect(counts.map(({ sent }) => sent)).toEqual(counts.map(() => rounds));
  expect([...campaign.counts].filter(([, { succeeded }]) => succeeded === 0)).toEqual([]);
  expect(delivered.filter(({ fault }) => fault !== undefined)).toEqual([]);
  expect(new Set(delivered.map(({ event }) => event)).size).toBeGreaterThan(5);
}, 60_000);

/** Changes successes of one operation. */
const inData =
  (id: string, change: (data: Record<string, unknown>) => void): Tamper =>
  (operation, answer) =>
    operation === id && answer.status === 200
      ? edit(answer, ({ data }) => {
          // A request whose method was changed got the answer of another operation.
          if (typeof data === "object" && data !== null) change(data as Record<string, unknown>);
        })
      : answer;

const inProblems =
  (change: (problem: Record<string, unknown>) => void): Tamper =>
  (_, answer) =>
    answer.status >= 400 ? edit(answer, change) : answer;

function edit(answer: Answer, change: (body: Record<string, unknown>) => void): Answer {
  const body = JSON.parse(answer.text) as Record<string, unknown>;
  change(body);
  return { ...answer, text: JSON.stringify(body) };
}

function first(list: unknown): Record<string, unknown> {
  return (list as Record<string, unknown>[])[0] ?? {};
}

const deviations: readonly (readonly [string, Tamper])[] = [
  ["a field that is not documented", inData("createContract", (data) => void (data["riskScore"] = 1))],
  ["a field that is missing", inData("getContract", (data) => void delete data["status"])],
  ["a status that is not documented", inData("getContract", (data) => void (data["status"] = "onhold"))],
  ["an amount that is text", inData("getContract", (data) => void (data["amount"] = String(data["amount"])))],
  [
    "a line in another casing",
    inData("createContract", (data) => void (first(data["pricingLineItems"])["Order"] = 1)),
  ],
  [
    "an id that is text",
    inData("createRefund", (data) => void (data["refundId"] = String(data["refundId"]))),
  ],
  ["a time without a zone", inData("getWebhook", (data) => void (data["createdAt"] = "2026-01-25T10:00:00"))],
  ["a null that is not documented", inData("saveWebhook", (data) => void (data["secretKey"] = null))],
  [
    "data in a list",
    inData("getOnboarding", (data) => void Object.assign(data, { platformRefId: [data["platformRefId"]] })),
  ],
  ["an envelope of another status than HTTP's", inProblems((problem) => void (problem["status"] = 418))],
  ["validation errors that are an object", inProblems((problem) => void (problem["validationErrors"] = {}))],
  ["an error that says it succeeded", inProblems((problem) => void (problem["succeeded"] = true))],
  ["a 201", (_, answer) => (answer.status === 200 ? { ...answer, status: 201 } : answer)],
  [
    "HTML for JSON",
    (_, answer) => (answer.status === 400 ? { ...answer, contentType: "text/html" } : answer),
  ],
  ["half an answer", (_, answer) => ({ ...answer, text: answer.text.slice(0, -1) })],
  [
    "a valid request that fails",
    (id, answer) => (id === "getWebhookLogs" && answer.status === 200 ? failure : answer),
  ],
  ["a wrong request that succeeds", acceptsAll()],
];

const failure: Answer = {
  status: 500,
  contentType: "application/json",
  text: '{"data":null,"message":"InternalServerError","status":500,"validationErrors":[]}',
};

/** Answers every request for a new user as the last that was right. */
function acceptsAll(): Tamper {
  let good: Answer | undefined;
  return (id, answer) => {
    if (id !== "createUser") return answer;
    if (answer.status === 200) good = answer;
    return good ?? answer;
  };
}

it.each(deviations)("%s is noticed", async (_, tamper) => {
  const { campaign } = await start();
  await expect(campaign.run(rounds, tamper)).rejects.toThrow(/^\w+: \d{3}/);
});
