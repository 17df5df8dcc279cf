import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { contract, created, envelope, listen, openClient, read, rejection, startScript } from "./support.ts";
import type { Reply } from "./support.ts";

/** What comes back is read with as much latitude as can still be understood; the rest is a typed error. */

const get = async (...replies: readonly Reply[]) =>
  openClient((await startScript(...replies)).url).contracts.get("CNT-1");
const create = async (...replies: readonly Reply[]) =>
  openClient((await startScript(...replies)).url).contracts.create(contract);

describe("an answer in another casing", () => {
  const pascal = {
    ContractId: "CNT-9",
    Status: "ESCROW",
    Milestones: [
      {
        Id: 13,
        Name: "Design",
        Amount: 686.25,
        Status: "Escrow",
        PricingLineItems: [{ LineType: "escrowFee", LineTypeDescription: "Fee" }],
      },
    ],
    BuyerParty: { PlatformRefId: "p-1", PHONENUMBER: "+966500000001" },
  };

  it("is read by the same names", async () => {
    const answer = { Data: pascal, Message: "Done", Status: 200, Succeeded: true };
    expect(await get({ body: answer })).toEqual({
      contractId: "CNT-9",
      status: "ESCROW",
      milestones: [
        {
          id: 13,
          name: "Design",
          amount: 686.25,
          status: "Escrow",
          pricingLineItems: [{ lineType: "escrowFee", lineTypeDescription: "Fee" }],
        },
      ],
      buyerParty: { platformRefId: "p-1", phoneNumber: "+966500000001" },
    });
  });

  it("with one field in two casings and one value is one truth, and with two it is unreadable", async () => {
    expect(await get(envelope({ ...read, Status: "escrow" }))).toEqual(read);
    expect(await rejection(get(envelope({ ...read, Status: "released" })))).toMatchObject({
      code: "invalid-response",
    });
  });
});

describe("what this release does not know", () => {
  it("stays in the answer, as sent", async () => {
    const strange = {
      ...read,
      status: "onhold",
      riskScore: 7,
      nested: { Deep: [1, null] },
      milestones: [{ id: "a-b", Colour: "red" }],
    };
    expect(await get(envelope(strange))).toEqual(strange);
  });

  it("keeps its digits", async () => {
    const text =
      '{"data":{"contractId":"CNT-1","status":"escrow","amount":90071992547409.93,"big":12345678901234567890,"milestones":[{"id":9007199254740993,"amount":600.00}]}}';
    expect(await get({ body: text })).toEqual({
      contractId: "CNT-1",
      status: "escrow",
      amount: "90071992547409.93",
      big: "12345678901234567890",
      milestones: [{ id: "9007199254740993", amount: 600 }],
    });
  });

  it("of a field that only describes costs no answer", async () => {
    const odd = {
      ...read,
      title: 7,
      description: {},
      buyerParty: "nobody",
      pricingLineItems: "none",
      amount: [],
    };
    expect(await get(envelope(odd))).toEqual({ ...read, title: "7" });
  });

  it("cannot reach the prototype", async () => {
    const answer = await get({
      body: '{"data":{"contractId":"CNT-1","status":"escrow","__proto__":{"polluted":true}}}',
    });
    expect([Object.getPrototypeOf(answer), "polluted" in answer]).toEqual([Object.prototype, false]);
  });
});

it("fields that are absent stay absent, and null stays null", async () => {
  const answer = await get(envelope({ contractId: "CNT-1", status: "escrow", reference: null }));
  expect(Object.keys(answer).sort()).toEqual(["contractId", "reference", "status"]);
  expect(answer.reference).toBeNull();
});

it("an answer that names no contract id is about the contract that was asked for", async () => {
  const guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
  expect(await get(envelope({ id: guid, status: "escrow" }))).toEqual({
    contractId: "CNT-1",
    id: guid,
    status: "escrow",
  });
});

it("JSON under any content type is read: the body decides", async () => {
  expect(await get({ ...envelope(read), headers: { "content-type": "text/html" } })).toEqual(read);
});

/** Successes that can't be read. */
const unreadable: readonly (readonly [string, Reply])[] = [
  ["HTML", { headers: { "content-type": "text/html" }, body: "<html><body>Login</body></html>" }],
  ["nothing", { body: "" }],
  ["nothing, as 204", { status: 204 }],
  ["half an object", { body: '{"data":{"contractId":"CNT-1","sta' }],
  ["text that is no JSON", { body: "OK" }],
  ["bytes of another kind", { headers: { "content-type": "image/png" }, body: "\u0089PNG\r\n" }],
  ["a list", { body: [] }],
  ["null", { body: null }],
  ["a number", { body: 5 }],
  ["no data", { body: { message: "Done." } }],
  ["data that is null", envelope(null)],
  ["data that is a list", envelope([read])],
  ["data without what it must have", envelope({ contractId: "" })],
  ["ids that are objects", envelope({ contractId: {}, status: {}, checkoutUrl: {} })],
  ["milestones without ids", envelope({ ...read, ...created, milestones: [{ name: "Design" }] })],
  [
    "a key that stands twice",
    { body: '{"data":{"contractId":"CNT-1","status":"escrow","status":"released"}}' },
  ],
  ["objects nested 10,000 deep", { body: `{"data":${'{"x":'.repeat(10_000)}1${"}".repeat(10_000)}}` }],
];

describe("a success that holds", () => {
  it.each(unreadable)("%s is an invalid response to a read, and is not asked for again", async (_, reply) => {
    const script = await startScript(reply);
    const error = await rejection(openClient(script.url).contracts.get("CNT-1"));
    expect(error).toMatchObject({ code: "invalid-response", status: reply.status ?? 200, retryable: false });
    expect(script.heard).toHaveLength(1);
  });

  it.each(unreadable)("%s leaves a create outcome-unknown, and it is not sent again", async (_, reply) => {
    const script = await startScript(reply);
    const error = await rejection(openClient(script.url).contracts.create(contract));
    expect(error).toMatchObject({ code: "outcome-unknown", status: reply.status ?? 200, retryable: false });
    expect(script.heard).toHaveLength(1);
  });
});

/** A service that never stops writing, or nearly. */
async function startFlood(headers: Record<string, string>) {
  const sent = { bytes: 0 };
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json", ...headers });
    const chunk = Buffer.alloc(65_536, " ");
    const push = (): void => {
      while (sent.bytes < 100 * 1_048_576 && !response.destroyed) {
        sent.bytes += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", push);
      }
    };
    push();
  });
  return { url: await listen(server), sent };
}

describe("an answer of 100 MB", () => {
  it.each([
    ["that says so", { "content-length": String(100 * 1_048_576) }],
    ["that does not", {}],
  ])("%s is read up to a limit", async (_, headers) => {
    const { url, sent } = await startFlood(headers);
    const error = await rejection(openClient(url).contracts.get("CNT-1"));
    expect(error).toMatchObject({ code: "invalid-response" });
    expect(error.message).toContain("larger than 8388608 bytes");
    expect(sent.bytes).toBeLessThan(50 * 1_048_576);
  });
});

describe("a redirect", () => {
  it.each([301, 302, 303, 307, 308])(
    "of status %i is not followed: the token goes nowhere else",
    async (status) => {
      const other = await startScript(envelope(read));
      const script = await startScript({
        status,
        headers: { location: `${other.url}/apps/api/contracts/CNT-1?t=secret` },
      });
      const client = openClient(script.url);
      const error = await rejection(client.contracts.get("CNT-1"));
      expect(error).toMatchObject({ code: "invalid-response", status, retryable: false });
      expect(error.message).toContain(new URL(other.url).host);
      expect(error.message).not.toContain("secret");
      expect(await rejection(client.contracts.create(contract))).toMatchObject({
        code: "outcome-unknown",
        status,
      });
      expect([other.heard.length, script.heard.length]).toEqual([0, 2]);
    },
  );
});

describe("an error of the service", () => {
  const validation = {
    data: null,
    message: "ValidationFailed",
    status: 400,
    validationErrors: [
      { field: "amount", message: "amount is required." },
      "title is required.",
      { Field: "x" },
      null,
    ],
    succeeded: false,
    errors: ["First.", 5, "Second."],
  };

  it("comes with its key, its fields and its texts", async () => {
    const error = await rejection(create({ status: 400, body: validation }));
    expect(error).toMatchObject({
      name: "EscrowApiError",
      code: "error-response",
      status: 400,
      messageKey: "ValidationFailed",
      validationErrors: [
        { field: "amount", message: "amount is required." },
        { field: null, message: "title is required." },
        { field: "x", message: "" },
        { field: null, message: "" },
      ],
      errors: ["First.", "Second."],
      retryable: false,
    });
    expect(error.message).toBe(
      "contracts.create: the service answered 400 ValidationFailed: amount is required. title is required.",
    );
  });

  it.each([400, 401, 403, 404, 405, 409, 413, 415, 422])(
    "of status %i is one, whatever its body",
    async (status) => {
      for (const body of [
        "<html>no</html>",
        "",
        '{"data',
        [],
        { errors: "x", validationErrors: {}, message: 5 },
      ]) {
        expect(await rejection(create({ status, body }))).toMatchObject({
          code: "error-response",
          status,
          messageKey: null,
        });
      }
    },
  );

  it("in an envelope under HTTP 200 counts as what the envelope says", async () => {
    const error = await rejection(create({ status: 200, body: validation }));
    expect(error).toMatchObject({ code: "error-response", status: 400, messageKey: "ValidationFailed" });
    const vague = { ...validation, status: 200 };
    expect(await rejection(create({ body: vague }))).toMatchObject({ code: "outcome-unknown" });
    expect(await rejection(get({ body: vague }))).toMatchObject({
      code: "error-response",
      messageKey: "ValidationFailed",
    });
  });

  it("with ten thousand entries is cut", async () => {
    const errors = Array.from({ length: 10_000 }, () => "x".repeat(10_000));
    const error = await rejection(create({ status: 400, body: { message: "y".repeat(1e6), errors } }));
    expect(JSON.stringify(error).length + error.message.length).toBeLessThan(100_000);
  });
});
