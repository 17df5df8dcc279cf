import { describe, expect, it } from "vitest";

import type { Sandbox } from "../../../src/sandbox.ts";
import {
  at,
  call,
  connect,
  contractBody,
  createContract,
  isGuid,
  milestones,
  refund,
  requestToken,
  startReceiver,
  startSandbox,
} from "../support.ts";

/** §4, §5 and the supplement's endpoints: requests, answers and messages. */
describe("§4.1 create contract", () => {
  it("answers 200 and tells the seller by text message to verify", async () => {
    const sandbox = await startSandbox();
    const made = await (await connect(sandbox)).post("/apps/api/contracts", contractBody());
    expect([made.status, at(made.body, "message")]).toEqual([200, "Contract created successfully."]);
    expect(await sandbox.sms.list()).toMatchObject([{ to: "+966500000002", kind: "kyc" }]);
  });
});

describe("§4.2 renew checkout", () => {
  it("gives a new link; the former stops", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const made = await api.post("/apps/api/contracts", contractBody());
    const externalContractId = at(made.body, "data.contractId");
    const renewed = await api.post("/apps/api/contracts/checkout", {
      buyerPhoneNumber: "966500000001",
      externalContractId,
    });
    expect(at(renewed.body, "message")).toBe("ContractCheckoutStartedSuccessfully");
    expect((await call(String(at(made.body, "data.checkoutUrl")))).status).toBe(410);
    expect((await call(String(at(renewed.body, "data.checkoutUrl")))).status).toBe(200);
  });

  it.each([
    ["no body fields", {}, 400],
    ["another buyer's phone", { buyerPhoneNumber: "+966500000099" }, 400],
    [
      "an unknown contract",
      { buyerPhoneNumber: "+966500000001", externalContractId: "CNT-2601-99999999" },
      404,
    ],
  ])("refuses %s", async (_what, body, status) => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const externalContractId = await createContract(api);
    const sent = "buyerPhoneNumber" in body ? { externalContractId, ...body } : body;
    expect((await api.post("/apps/api/contracts/checkout", sent)).status).toBe(status);
  });

  it("refuses once the contract is paid", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const externalContractId = await createContract(api);
    await sandbox.act(externalContractId, "pay");
    const body = { buyerPhoneNumber: "+966500000001", externalContractId };
    expect((await api.post("/apps/api/contracts/checkout", body)).status).toBe(400);
  });
});

describe("§4.3 get contract", () => {
  it("answers with the retrieval confirmation", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const answer = await api.get(`/apps/api/contracts/${await createContract(api)}`);
    expect([answer.status, at(answer.body, "message")]).toEqual([200, "ContractRetrievedSuccessfully"]);
  });

  it("needs no token where getRequiresToken is off", async () => {
    const sandbox = await startSandbox({ getRequiresToken: false });
    const id = await createContract(await connect(sandbox));
    expect((await call(`${sandbox.baseUrl}/apps/api/contracts/${id}`)).status).toBe(200);
  });
});

describe("§4.4 refund", () => {
  it("returns the principal and keeps the fees", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const id = await createContract(api);
    await sandbox.act(id, "pay");
    const made = await refund(api, id);
    expect([made.status, at(made.body, "message"), at(made.body, "data.refundedAmount")]).toEqual([
      200,
      "RefundCreatedSuccessfully",
      1000,
    ]);
  });

  it("needs milestoneId where the contract has milestones, as an integer", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const id = await createContract(api, { Milestones: milestones });
    await sandbox.act(id, "pay");
    const answers = [await refund(api, id), await refund(api, id, { milestoneId: "1" })];
    expect(answers.map(({ body }) => at(body, "validationErrors.0.field"))).toEqual([
      "milestoneId",
      "milestoneId",
    ]);
  });

  it("asks for no verified IBAN where requireVerifiedIban is off", async () => {
    const sandbox = await startSandbox({ requireVerifiedIban: false, newUsers: { bankVerified: false } });
    const api = await connect(sandbox);
    const id = await createContract(api);
    await sandbox.act(id, "pay");
    expect((await refund(api, id)).status).toBe(200);
  });

  it("refuses a partial refund in the present edition, and takes one in the earlier", async () => {
    const partial = { type: "PARTIAL", amount: 250.5 };
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const id = await createContract(api);
    await sandbox.act(id, "pay");
    expect(at((await refund(api, id, partial)).body, "validationErrors.0.field")).toBe("type");
    const receiver = await startReceiver();
    const earlier = await startSandbox({ edition: "earlier", webhookUrl: receiver.url });
    const earlierApi = await connect(earlier);
    const earlierId = await createContract(earlierApi);
    await earlier.act(earlierId, "pay");
    for (const amount of [0, 1000, 10.005, "5"]) {
      expect(
        at(
          (await refund(earlierApi, earlierId, { type: "PARTIAL", amount })).body,
          "validationErrors.0.field",
        ),
      ).toBe("amount");
    }
    expect(
      at((await refund(earlierApi, earlierId, { type: "FULL", amount: 5 })).body, "validationErrors.0.field"),
    ).toBe("amount");
    const made = await refund(earlierApi, earlierId, partial);
    expect(at(made.body, "message")).toBe("PartialRefundCreatedSuccessfully");
    await earlier.settleRefund(String(at(made.body, "data.refundId")));
    await earlier.deliveries.idle();
    expect(receiver.events().slice(-3)).toEqual([
      "refund.partial-initiated",
      "refund.partial-succeeded",
      "contract.refunded",
    ]);
    expect(at(receiver.received.at(-2)?.payload, "data.amount")).toBe(250.5);
    expect((await earlier.contracts.get(earlierId))?.status).toBe("Refunded");
  });
});

describe("§4.5 and §4.6 test webhook and logs", () => {
  it("queues webhook.test and says its id", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    const answer = await (await connect(sandbox)).post("/apps/api/webhooks/test");
    await sandbox.deliveries.idle();
    expect([answer.status, at(answer.body, "message")]).toEqual([200, "Test webhook sent."]);
    expect(at(answer.body, "data.message")).toContain("queued");
    expect(receiver.received[0]?.headers["x-service-webhook-id"]).toBe(at(answer.body, "data.webhookId"));
    expect(receiver.events()).toEqual(["webhook.test"]);
  });

  it("pages the log, newest first", async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url });
    const api = await connect(sandbox);
    for (let index = 0; index < 23; index++) await api.post("/apps/api/webhooks/test");
    await createContract(api);
    await sandbox.deliveries.idle();
    const first = await api.get("/apps/api/webhooks/logs");
    const second = await api.get("/apps/api/webhooks/logs?page=2");
    const beyond = await api.get("/apps/api/webhooks/logs?page=9&pageSize=100");
    expect([
      at(first.body, "message"),
      at(first.body, "data.totalCount"),
      at(first.body, "data.page"),
      at(first.body, "data.pageSize"),
    ]).toEqual(["", 24, 1, 20]);
    expect(at(first.body, "data.logs.0.eventType")).toBe("contract.created");
    expect([
      at(second.body, "data.logs.length"),
      at(second.body, "data.logs.3.eventType"),
      at(second.body, "data.logs.4"),
    ]).toEqual([undefined, "webhook.test", undefined]);
    expect(at(beyond.body, "data.logs")).toEqual([]);
  });

  it.each(["page=0", "page=x", "pageSize=0", "pageSize=101", "pageSize=-1", "pageSize=1.5"])(
    "refuses %s",
    async (query) => {
      const sandbox = await startSandbox();
      const answer = await (await connect(sandbox)).get(`/apps/api/webhooks/logs?${query}`);
      expect([answer.status, at(answer.body, "validationErrors.0.field")]).toEqual([
        400,
        query.split("=")[0],
      ]);
    },
  );
});

describe("§4.7 and the supplement: the subscription", () => {
  it("is created, read, updated, given a new secret and deleted", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/regenerate-secret"],
      ["POST", "/test"],
    ] as const) {
      expect((await api.send(method, `/apps/api/webhooks${path}`)).status).toBe(404);
    }
    const created = await api.post("/apps/api/webhooks", { webhookUrl: "http://127.0.0.1:9/a" });
    expect(at(created.body, "message")).toBe("Webhook created successfully.");
    const names = [
      "id",
      "webhookUrl",
      "secretKey",
      "isActive",
      "consecutiveFailures",
      "lastSuccessAt",
      "lastFailureAt",
      "createdAt",
    ];
    expect(Object.keys(at(created.body, "data") ?? {})).toEqual(names);
    expect(isGuid(at(created.body, "data.id"))).toBe(true);
    const updated = await api.post("/apps/api/webhooks", { webhookUrl: "http://127.0.0.1:9/b" });
    expect(at(updated.body, "message")).toBe("Webhook updated successfully.");
    const secret = await api.post("/apps/api/webhooks/regenerate-secret");
    expect(at(secret.body, "message")).toBe("Webhook secret regenerated successfully.");
    const read = await api.get("/apps/api/webhooks");
    expect([at(read.body, "data.webhookUrl"), at(read.body, "data.secretKey")]).toEqual([
      "http://127.0.0.1:9/b",
      at(secret.body, "data.secretKey"),
    ]);
    expect(at(secret.body, "data.secretKey")).not.toBe(at(created.body, "data.secretKey"));
    expect(sandbox.webhookSecret).toBe(at(secret.body, "data.secretKey"));
    expect(at((await api.send("DELETE", "/apps/api/webhooks")).body, "data")).toBe(true);
    expect((await api.get("/apps/api/webhooks")).status).toBe(404);
  });

  it.each([undefined, "", "nowhere", "/path", "ftp://x/", "http://user:pass@x/", 5])(
    "refuses the URL %s",
    async (webhookUrl) => {
      const sandbox = await startSandbox();
      const answer = await (await connect(sandbox)).post("/apps/api/webhooks", { webhookUrl });
      expect([answer.status, at(answer.body, "validationErrors.0.field")]).toEqual([400, "webhookUrl"]);
    },
  );
});

describe("§4.8 and the supplement: users", () => {
  it("creates a user, and finds it by phone number", async () => {
    const sandbox = await startSandbox();
    const api = await connect(sandbox);
    const body = {
      phoneNumber: "+966511111111",
      firstName: "Dana",
      lastName: "Omar",
      nationalId: "2012345678",
    };
    const made = await api.post("/apps/api/user", body);
    const platformRefId = at(made.body, "data.platformRefId");
    expect([made.status, isGuid(platformRefId), typeof at(made.body, "data.kycUrl")]).toEqual([
      200,
      true,
      "string",
    ]);
    const found = await api.get("/apps/api/user/onboarding?phoneNumber=%2B966511111111");
    expect(at(found.body, "data")).toMatchObject({
      platformRefId,
      onboardingCompleted: true,
      isVerified: true,
      kycCompleted: true,
    });
    expect((await call(String(at(found.body, "data.onboardingUrl")))).status).toBe(200);
    expect((await api.get("/apps/api/user/onboarding?phoneNumber=966599999999")).status).toBe(404);
    expect((await api.get("/apps/api/user/onboarding")).status).toBe(400);
    const id = await createContract(api, { BuyerParty: { platformRefId } });
    expect((await sandbox.contracts.get(id))?.buyer).toBe(platformRefId);
  });

  it.each([
    ["phoneNumber", { phoneNumber: "12" }],
    ["nationalId", { nationalId: "3012345678" }],
    ["iBAN", { iBAN: "??" }],
    ["dateOfBirth", { dateOfBirth: "then" }],
    ["lastName", { lastName: undefined }],
  ])("names a wrong %s", async (field, change) => {
    const sandbox = await startSandbox();
    const body = { phoneNumber: "+966511111111", firstName: "Dana", lastName: "Omar", ...change };
    const answer = await (await connect(sandbox)).post("/apps/api/user", body);
    expect([answer.status, at(answer.body, "validationErrors.0.field")]).toEqual([400, field]);
  });
});

describe("§5 authentication", () => {
  it("gives a token for form-encoded client credentials", async () => {
    const sandbox = await startSandbox();
    const answer = await requestToken(sandbox, sandbox.clientId, sandbox.clientSecret);
    expect(answer.body).toMatchObject({ token_type: "Bearer", expires_in: 1440 });
    expect((await requestToken(sandbox, sandbox.clientId, "wrong")).status).toBe(401);
    expect((await requestToken(sandbox, "other", sandbox.clientSecret)).status).toBe(401);
    expect((await requestToken(sandbox, "", "x")).status).toBe(400);
    expect(
      (await postForm(sandbox, { grant_type: "password", client_id: "a", client_secret: "b" })).status,
    ).toBe(400);
    const json = { method: "POST", body: "{}", headers: { "Content-Type": "application/json" } };
    expect((await call(`${sandbox.authUrl}/connect/token`, json)).status).toBe(400);
  });

  const endpoints = [
    ["POST", "/apps/api/contracts"],
    ["POST", "/apps/api/contracts/checkout"],
    ["GET", "/apps/api/contracts/CNT-2601-00100001"],
    ["POST", "/apps/api/contracts/CNT-2601-00100001/refund"],
    ["POST", "/apps/api/webhooks"],
    ["GET", "/apps/api/webhooks"],
    ["DELETE", "/apps/api/webhooks"],
    ["POST", "/apps/api/webhooks/regenerate-secret"],
    ["POST", "/apps/api/webhooks/test"],
    ["GET", "/apps/api/webhooks/logs"],
    ["POST", "/apps/api/user"],
    ["GET", "/apps/api/user/onboarding?phoneNumber=1"],
  ] as const;

  it.each(endpoints)("%s %s without a valid token is 401", async (method, path) => {
    const sandbox = await startSandbox();
    const { token } = await connect(sandbox);
    for (const authorization of [undefined, "Bearer", "Bearer x.y", `Basic ${token}`, `Bearer ${token}x`]) {
      const headers = authorization === undefined ? {} : { Authorization: authorization };
      const answer = await call(`${sandbox.baseUrl}${path}`, { method, headers });
      expect([answer.status, at(answer.body, "message"), at(answer.body, "succeeded")]).toEqual([
        401,
        "Unauthorized",
        false,
      ]);
    }
  });

  it("refuses an expired and a revoked token", async () => {
    const sandbox = await startSandbox({ tokenExpiresIn: 60, tokenUnit: "seconds" });
    const api = await connect(sandbox);
    expect((await api.get("/apps/api/webhooks/logs")).status).toBe(200);
    await sandbox.clock.advance(60_000);
    expect((await api.get("/apps/api/webhooks/logs")).status).toBe(401);
    const fresh = await connect(sandbox);
    sandbox.tokens.revoke();
    expect((await fresh.get("/apps/api/webhooks/logs")).status).toBe(401);
    expect((await (await connect(sandbox)).get("/apps/api/webhooks/logs")).status).toBe(200);
  });
});

function postForm(sandbox: Sandbox, fields: Record<string, string>) {
  return call(`${sandbox.authUrl}/connect/token`, { method: "POST", body: new URLSearchParams(fields) });
}
