import { describe, expect, it } from "vitest";
import type { Mirror } from "../../../src/mirror/create-mirror.ts";
import type { ReceiveResult } from "../../../src/receiver/outcome.ts";
import type { ReceiveRequest } from "../../../src/receiver/request.ts";
import { delivery, eventBody, noonMs, secret, sha256, signed } from "../../support/delivery.ts";
import { openMirror } from "../../support/mirror.ts";

const post = (headers: Record<string, string>, body: ReceiveRequest["body"]): ReceiveRequest => ({
  method: "POST",
  headers,
  body,
});
/** Looks like a signature. */
const wellFormed = { "X-Service-Signature": "0".repeat(64) };

async function storedRows(mirror: Mirror): Promise<number> {
  return (await mirror.deliveries.list({ limit: 500 })).items.length;
}

async function anomalyKinds(mirror: Mirror): Promise<string[]> {
  return (await mirror.anomalies.list({ limit: 500 })).items.map(({ kind }) => kind);
}

const answerOf = ({ status, outcome, reason }: ReceiveResult) => [status, outcome, reason];

/** A wrong signature is 401 only once the secret has proved itself. */
async function openProven(options: Parameters<typeof openMirror>[0] = {}): Promise<Mirror> {
  const mirror = await openMirror(options);
  expect(
    (await mirror.receive(delivery("webhook.test", { id: "proof", contractId: undefined }))).status,
  ).toBe(200);
  return mirror;
}

describe("the response table", () => {
  it("answers a new delivery that is understood 200 applied, and stores it with what it made of the contract", async () => {
    const mirror = await openMirror();
    const answer = await mirror.receive(
      delivery("contract.created", { id: "e-1", seconds: 0 }, { webhookId: "wh-1" }),
    );
    expect(answerOf(answer)).toEqual([200, "applied", undefined]);
    expect(await mirror.deliveries.get("wh-1")).toMatchObject({
      id: "wh-1",
      outcome: "applied",
      attempts: 1,
    });
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "pending" });
  });

  it("answers a delivery seen before 200 duplicate, and counts the attempt", async () => {
    const clock = { now: () => noonMs };
    const mirror = await openMirror({ clock });
    const first = delivery("contract.created", { seconds: 0 }, { webhookId: "wh-1" });
    await mirror.receive(first);
    clock.now = () => noonMs + 5000;
    expect(answerOf(await mirror.receive(first))).toEqual([200, "duplicate", undefined]);
    expect(await mirror.deliveries.get("wh-1")).toMatchObject({
      attempts: 2,
      receivedAt: new Date(noonMs).toISOString(),
      lastReceivedAt: new Date(noonMs + 5000).toISOString(),
    });
    expect(await mirror.contracts.history("CNT-1")).toHaveLength(1);
  });

  it.each(["contract.teleported", "invoice.paid"])(
    "answers the unknown event type %s 200 applied, and stores it with the anomaly unknown-event",
    async (type) => {
      const mirror = await openMirror();
      expect(answerOf(await mirror.receive(delivery(type, { id: "e-1", seconds: 0 })))).toEqual([
        200,
        "applied",
        undefined,
      ]);
      expect(await storedRows(mirror)).toBe(1);
      expect(await anomalyKinds(mirror)).toEqual(["unknown-event"]);
      await mirror.receive(delivery(type, { id: "e-1", seconds: 0 }));
      expect(await anomalyKinds(mirror)).toEqual(["unknown-event"]);
    },
  );

  it("stores an event of another family without making a contract of it", async () => {
    const mirror = await openMirror();
    await mirror.receive(delivery("invoice.paid", { seconds: 0, status: "Escrow" }));
    expect(await mirror.contracts.get("CNT-1")).toBeUndefined();
  });

  it.each([
    ["not JSON", "not json", "not-json"],
    ["empty", "", "not-json"],
    ["not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), "not-utf8"],
    ["an array", "[1]", "invalid-payload"],
    ["not the payload's shape", '{"event":"contract.created","data":[]}', "invalid-payload"],
    ["nested without end", `{"event":${"[".repeat(5000)}${"]".repeat(5000)}}`, "too-deep"],
    ["without a contract id", eventBody("contract.created", { contractId: undefined }), "no-contract-id"],
    [
      "one field with two values",
      '{"event":"contract.created","data":{"contractId":"A","ContractId":"B"}}',
      "ambiguous-field",
    ],
    [
      "one key twice",
      '{"event":"contract.created","data":{"contractId":"A","contractId":"B"}}',
      "ambiguous-field",
    ],
  ])(
    "answers a signed body that is %s 200 quarantined, and stores body, headers and reason",
    async (_, body, reason) => {
      const mirror = await openMirror();
      const answer = await mirror.receive(signed(body, { webhookId: "wh-1" }));
      expect(answerOf(answer)).toEqual([200, "quarantined", reason]);
      const { items } = await mirror.quarantine.list();
      expect(items).toMatchObject([
        { id: `sha256:${sha256(body)}`, webhookId: "wh-1", outcome: "quarantined", reason },
      ]);
      expect(Buffer.from((await items[0]?.body()) ?? "absent")).toEqual(Buffer.from(body));
      expect(Object.keys(items[0]?.headers ?? {}).sort()).toEqual([
        "x-service-timestamp",
        "x-service-webhook-id",
      ]);
    },
  );

  it("answers webhook.test 200 applied without a contract id, and lets it touch nothing even when it names one", async () => {
    const mirror = await openMirror();
    expect((await mirror.receive(delivery("webhook.test", { contractId: undefined }))).outcome).toBe(
      "applied",
    );
    const real = { id: "e-2", seconds: 0, status: "Escrow", milestoneId: 1, transactionId: "T" };
    expect((await mirror.receive(delivery("webhook.test", real))).outcome).toBe("applied");
    expect(await mirror.contracts.count()).toEqual({ total: 0, byStatus: {} });
    expect(await anomalyKinds(mirror)).toEqual([]);
  });

  it("answers a quarantined delivery that comes again 200 duplicate", async () => {
    const mirror = await openMirror();
    const unreadable = signed("not json");
    await mirror.receive(unreadable);
    expect(answerOf(await mirror.receive(unreadable))).toEqual([200, "duplicate", undefined]);
    expect((await mirror.quarantine.list()).items).toMatchObject([{ attempts: 2 }]);
  });

  it("answers ids known from another subject 200 quarantined", async () => {
    const mirror = await openMirror();
    await mirror.receive(delivery("contract.created", { id: "e-1", seconds: 0 }, { webhookId: "wh-1" }));
    const sameHeader = delivery("contract.approved", { id: "e-2", seconds: 1 }, { webhookId: "wh-1" });
    const samePayload = delivery("contract.approved", { id: "e-1", seconds: 2 }, { webhookId: "wh-3" });
    expect(answerOf(await mirror.receive(sameHeader))).toEqual([200, "quarantined", "webhook-id-conflict"]);
    expect(answerOf(await mirror.receive(samePayload))).toEqual([200, "quarantined", "payload-id-conflict"]);
  });

  it("answers a signed timestamp outside the tolerance 200 quarantined", async () => {
    const mirror = await openMirror({ webhook: { signature: { content: "timestamp.body" } } });
    const late = signed(eventBody("contract.created", { seconds: 0 }), {
      scheme: { content: "timestamp.body" },
      timestamp: noonMs - 25 * 60 * 60 * 1000,
    });
    expect(answerOf(await mirror.receive(late))).toEqual([200, "quarantined", "outside-tolerance"]);
    expect(await mirror.contracts.get("CNT-1")).toBeUndefined();
  });

  it("answers a missing or wrong signature 401 rejected, and stores nothing", async () => {
    const mirror = await openProven();
    const { headers, body } = delivery("contract.created", { seconds: 0 });
    const forged = signed(Buffer.from(body as Uint8Array), { secret: "whsec_a_secret_of_somebody_else" });
    expect(answerOf(await mirror.receive(forged))).toEqual([401, "rejected", "signature-mismatch"]);
    const { "X-Service-Signature": signature, ...unsigned } = headers as Record<string, string>;
    expect(answerOf(await mirror.receive(post(unsigned, body)))).toEqual([
      401,
      "rejected",
      "signature-missing",
    ]);
    for (const wrong of ["", " "])
      expect(
        answerOf(await mirror.receive(post({ ...unsigned, "x-service-signature": wrong }, body))),
      ).toEqual([401, "rejected", "signature-missing"]);
    expect(
      answerOf(await mirror.receive(post({ ...unsigned, "x-service-signature": `${signature}x` }, body))),
    ).toEqual([401, "rejected", "signature-malformed"]);
    expect(await storedRows(mirror)).toBe(1);
  });

  it("answers a signed timestamp that is missing or unparseable 401 rejected", async () => {
    const scheme = { content: "timestamp.body" } as const;
    const mirror = await openMirror({ webhook: { signature: scheme } });
    const body = eventBody("contract.created");
    const { "X-Service-Timestamp": _, ...without } = signed(body, { scheme }).headers as Record<
      string,
      string
    >;
    expect(answerOf(await mirror.receive(post(without, body)))).toEqual([
      401,
      "rejected",
      "timestamp-missing",
    ]);
    const odd = signed(body, { scheme, timestamp: "half past two" });
    expect(answerOf(await mirror.receive(odd))).toEqual([401, "rejected", "timestamp-unparseable"]);
    expect(await storedRows(mirror)).toBe(0);
  });

  it("answers a body over the limit 413 rejected, before its signature is computed", async () => {
    const mirror = await openMirror({ webhook: { maxBodyBytes: 1000 } });
    for (const body of ["x".repeat(1001), "é".repeat(501), Buffer.alloc(1001)]) {
      const answer = await mirror.receive(post(wellFormed, body));
      expect(answerOf(answer)).toEqual([413, "rejected", "body-too-large"]);
      expect(answer.headers["connection"]).toBe("close");
    }
    const fits = JSON.stringify({ event: "webhook.test", data: { pad: "" } });
    const padded = fits.replace('""', `"${"x".repeat(1000 - fits.length)}"`);
    expect((await mirror.receive(signed(padded))).status).toBe(200);
    expect(
      (
        await mirror.receive({
          ...post(wellFormed, Buffer.alloc(1001).toString("base64")),
          isBase64Encoded: true,
        })
      ).status,
    ).toBe(413);
  });

  it("answers a body without a signature 401, whatever its size", async () => {
    const mirror = await openMirror({ webhook: { maxBodyBytes: 1000 } });
    expect((await mirror.receive(post({}, Buffer.alloc(1001)))).status).toBe(401);
  });

  it("has a limit of 1 MiB unless told", async () => {
    const mirror = await openMirror();
    expect((await mirror.receive(post(wellFormed, Buffer.alloc(1_048_577)))).status).toBe(413);
    expect((await mirror.receive(post(wellFormed, Buffer.alloc(1_048_576)))).status).toBe(503);
  });

  it.each(["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "", "POSTER"])(
    "answers the method %j 405 with Allow: POST",
    async (method) => {
      const mirror = await openMirror();
      const answer = await mirror.receive({ ...delivery("contract.created"), method });
      expect(answerOf(answer)).toEqual([405, "rejected", "method-not-allowed"]);
      expect(answer.headers["allow"]).toBe("POST");
      expect(await storedRows(mirror)).toBe(0);
    },
  );

  it("takes the method in any case", async () => {
    const mirror = await openMirror();
    expect((await mirror.receive({ ...delivery("contract.created"), method: "post" })).status).toBe(200);
  });

  it.each([undefined, null, { parsed: true }, ["parsed"], 7])(
    "answers a body that a parser turned into %j 500 failed",
    async (body) => {
      const mirror = await openMirror();
      const { headers } = delivery("contract.created");
      const answer = await mirror.receive({ method: "POST", headers, body: body as unknown as undefined });
      expect(answerOf(answer)).toEqual([500, "failed", "raw-body-unavailable"]);
      expect(await storedRows(mirror)).toBe(0);
    },
  );

  it("answers 503 with Retry-After once it is closed", async () => {
    const mirror = await openMirror();
    await mirror.close();
    const answer = await mirror.receive(delivery("contract.created"));
    expect(answerOf(answer)).toEqual([503, "failed", "closed"]);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  });
});

describe("the answer", () => {
  it("is a small JSON object with the outcome and the webhook id, and nothing else", async () => {
    const mirror = await openMirror();
    const answer = await mirror.receive(
      delivery("contract.created", { buyerEmail: "a@b.example" }, { webhookId: "wh-1" }),
    );
    expect(JSON.parse(answer.body)).toEqual({ outcome: "applied", webhookId: "wh-1" });
    expect(answer.headers["content-type"]).toContain("application/json");
    const refused = await mirror.receive(signed("x", { secret: "whsec_a_secret_of_somebody_else" }));
    expect(JSON.parse(refused.body)).toEqual({ outcome: "rejected" });
  });
});

describe("a body", () => {
  it("may begin with a byte order mark, which the signature is over", async () => {
    const mirror = await openMirror();
    expect(
      (await mirror.receive(signed(`\uFEFF${eventBody("contract.created", { seconds: 0 })}`))).outcome,
    ).toBe("applied");
  });

  it("may be of any content type, or of none", async () => {
    const mirror = await openMirror();
    for (const [index, type] of ["text/plain", "application/x-www-form-urlencoded", "nonsense"].entries()) {
      const sent = delivery("contract.created", { id: `e-${index}` }, { headers: { "content-type": type } });
      expect((await mirror.receive(sent)).outcome).toBe("applied");
    }
  });

  it("is stored byte for byte", async () => {
    const mirror = await openMirror();
    const body =
      '{ "event":"payment.completed",\n"data":{"contractId":"CNT-1","amount":1e2,"paymentId":"P","x":136.0}}\n';
    await mirror.receive(signed(body, { webhookId: "wh-1" }));
    expect(Buffer.from((await (await mirror.deliveries.get("wh-1"))?.body()) ?? "")).toEqual(
      Buffer.from(body),
    );
  });
});

describe("an authentic delivery", () => {
  it.each([
    ["a control character in the id", { "X-Service-Webhook-Id": "a\u0000b" }],
    ["an absurd id", { "X-Service-Webhook-Id": "x".repeat(10_000) }],
    ["an unknown encoding", { "content-encoding": "zstd" }],
    ["an event header that lies", { "X-Service-Event": "contract.cancelled" }],
    ["a timestamp header that is none", { "X-Service-Timestamp": "never" }],
  ])("is never answered 4xx: %s", async (_, headers) => {
    const mirror = await openMirror();
    expect((await mirror.receive(delivery("contract.created", { seconds: 0 }, { headers }))).status).toBe(
      200,
    );
  });

  it("has its unsigned headers believed in nothing", async () => {
    const mirror = await openMirror();
    const headers = {
      "X-Service-Event": "contract.cancelled",
      "X-Service-Timestamp": "2030-01-01T00:00:00Z",
    };
    await mirror.receive(delivery("contract.created", { seconds: 0 }, { headers, webhookId: "wh-1" }));
    expect(await mirror.deliveries.get("wh-1")).toMatchObject({
      event: "contract.created",
      occurredAt: "2026-04-14T14:30:00.000Z",
    });
  });
});

describe("receive", () => {
  it("never rejects, whatever it is given", async () => {
    const mirror = await openMirror();
    const odd = [
      { method: "POST", headers: null, body: Buffer.from("{}") },
      { method: undefined, headers: {}, body: "" },
      { method: "POST", headers: { "x-service-signature": 7 }, body: "" },
      {},
    ];
    for (const request of odd) {
      const answer = await mirror.receive(request as unknown as Parameters<Mirror["receive"]>[0]);
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
  });
});

it("the tests' secret is the fixture's", () => {
  expect(secret).toContain("whsec_");
});
