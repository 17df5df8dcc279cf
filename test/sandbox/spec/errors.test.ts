import { describe, expect, it } from "vitest";

import type { Sandbox, SandboxOptions, UserChange } from "../../../src/sandbox.ts";
import {
  at,
  call,
  connect,
  contractBody,
  createContract,
  milestones,
  refund,
  startSandbox,
} from "../support.ts";
import type { Answered, Api } from "../support.ts";

/** §7 and §8: every row of the error tables and every limit, reached over HTTP. */
interface Row {
  row: string;
  status: number;
  message?: string;
  options?: SandboxOptions;
  run: (sandbox: Sandbox, api: Api) => Promise<Answered>;
}

const other = { clientId: "other", clientSecret: "other-secret" };

async function paid(sandbox: Sandbox, api: Api, change: Record<string, unknown> = {}): Promise<string> {
  const id = await createContract(api, change);
  await sandbox.act(id, "pay");
  return id;
}

const buyerLacks = (change: UserChange) => async (sandbox: Sandbox, api: Api) => {
  const id = await paid(sandbox, api);
  await sandbox.users.set((await sandbox.contracts.get(id))?.buyer ?? "", change);
  return refund(api, id);
};

const refundErrors: Row[] = [
  {
    row: "§7.1 buyer has not completed authorization",
    status: 400,
    message: "BuyerNotAuthorized",
    run: buyerLacks({ authorized: false }),
  },
  {
    row: "§7.1 buyer bank account not verified",
    status: 400,
    message: "BuyerBankAccountNotVerified",
    run: buyerLacks({ bankVerified: false }),
  },
  {
    row: "§7.1 buyer record not found for this business",
    status: 404,
    message: "ExternalUserNotFound",
    run: buyerLacks({ known: false }),
  },
  {
    row: "§7.1 IBAN could not be resolved",
    status: 500,
    message: "FailedToResolveIban",
    run: buyerLacks({ ibanResolves: false }),
  },
  {
    row: "200: refund initiated",
    status: 200,
    run: async (sandbox, api) => refund(api, await paid(sandbox, api)),
  },
  {
    row: "400: validation failed",
    status: 400,
    run: async (sandbox, api) => refund(api, await paid(sandbox, api), { reason: undefined }),
  },
  {
    row: "400: invalid status",
    status: 400,
    message: "InvalidContractStatus",
    run: async (_sandbox, api) => refund(api, await createContract(api)),
  },
  {
    row: "400: invalid status of the milestone",
    status: 400,
    message: "InvalidMilestoneStatus",
    run: async (sandbox, api) => {
      const id = await paid(sandbox, api, { Milestones: milestones });
      await sandbox.act(id, "dispute", { milestoneId: 1 });
      return refund(api, id, { milestoneId: 1 });
    },
  },
  {
    row: "400: invalid amount",
    status: 400,
    options: { edition: "earlier" },
    run: async (sandbox, api) => refund(api, await paid(sandbox, api), { type: "PARTIAL", amount: 2000 }),
  },
  {
    row: "400: active refund already exists",
    status: 400,
    message: "ActiveRefundAlreadyExists",
    run: async (sandbox, api) => {
      const id = await paid(sandbox, api);
      await refund(api, id);
      return refund(api, id);
    },
  },
  {
    row: "400: a second milestone while the first is being refunded",
    status: 400,
    message: "InvalidContractStatus",
    run: async (sandbox, api) => {
      const id = await paid(sandbox, api, { Milestones: milestones });
      await refund(api, id, { milestoneId: 1 });
      return refund(api, id, { milestoneId: 2 });
    },
  },
  {
    row: "401: unauthorized",
    status: 401,
    run: async (sandbox, api) =>
      call(`${sandbox.baseUrl}/apps/api/contracts/${await paid(sandbox, api)}/refund`, { method: "POST" }),
  },
  {
    row: "403: caller may not refund this contract",
    status: 403,
    options: { clients: [other] },
    run: async (sandbox, api) =>
      refund(await connect(sandbox, other.clientId, other.clientSecret), await paid(sandbox, api)),
  },
  {
    row: "404: contract not found",
    status: 404,
    message: "ContractNotFound",
    run: (_sandbox, api) => refund(api, "CNT-2601-99999999"),
  },
  {
    row: "404: milestone not found",
    status: 404,
    message: "MilestoneNotFound",
    run: async (sandbox, api) =>
      refund(api, await paid(sandbox, api, { Milestones: milestones }), { milestoneId: 77 }),
  },
  {
    row: "409: concurrent refund race",
    status: 409,
    options: { preflightMs: 30 },
    run: async (sandbox, api) => {
      const id = await paid(sandbox, api);
      const answers = await Promise.all([refund(api, id), refund(api, id)]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
      expect(await sandbox.refunds.list()).toHaveLength(1);
      return answers.find(({ status }) => status === 409) ?? failed;
    },
  },
];

const failed: Answered = { status: 0, headers: new Headers(), text: "", body: undefined };

const getErrors: Row[] = [
  {
    row: "200: retrieved",
    status: 200,
    run: async (_sandbox, api) => api.get(`/apps/api/contracts/${await createContract(api)}`),
  },
  {
    row: "400: invalid contract id",
    status: 400,
    message: "InvalidContractId",
    run: (_sandbox, api) => api.get("/apps/api/contracts/77"),
  },
  {
    row: "401: unauthorized",
    status: 401,
    run: (sandbox) => call(`${sandbox.baseUrl}/apps/api/contracts/CNT-2601-00100001`),
  },
  {
    row: "404: contract not found",
    status: 404,
    message: "ContractNotFound",
    run: (_sandbox, api) => api.get("/apps/api/contracts/CNT-2601-00999999"),
  },
  {
    row: "404: another business's contract",
    status: 404,
    options: { clients: [other] },
    run: async (sandbox, api) =>
      (await connect(sandbox, other.clientId, other.clientSecret)).get(
        `/apps/api/contracts/${await createContract(api)}`,
      ),
  },
  {
    row: "500: internal server error (by the fault apiErrors alone)",
    status: 500,
    run: async (sandbox, api) => {
      sandbox.faults.set({ apiErrors: 1 }, { seed: 3 });
      for (let tries = 0; tries < 50; tries++) {
        const answer = await api.get("/apps/api/contracts/CNT-2601-00100001");
        if (answer.status === 500) return answer;
      }
      return failed;
    },
  },
];

const limits: Row[] = [
  {
    row: "reason of 500 characters",
    status: 200,
    run: async (sandbox, api) => refund(api, await paid(sandbox, api), { reason: "x".repeat(500) }),
  },
  {
    row: "reason of 501 characters",
    status: 400,
    run: async (sandbox, api) => refund(api, await paid(sandbox, api), { reason: "x".repeat(501) }),
  },
  {
    row: "pageSize 100",
    status: 200,
    run: (_sandbox, api) => api.get("/apps/api/webhooks/logs?pageSize=100"),
  },
  {
    row: "pageSize 101",
    status: 400,
    run: (_sandbox, api) => api.get("/apps/api/webhooks/logs?pageSize=101"),
  },
  {
    row: "pageSize 101 where pageSizeAboveMax clamps",
    status: 200,
    options: { pageSizeAboveMax: "clamp" },
    run: (_sandbox, api) => api.get("/apps/api/webhooks/logs?pageSize=101"),
  },
  {
    row: "milestone sums exact to the halala",
    status: 200,
    run: (_sandbox, api) => api.post("/apps/api/contracts", contractBody(cents(0.3, [0.1, 0.2]))),
  },
  {
    row: "milestone sums off by a halala",
    status: 400,
    run: (_sandbox, api) => api.post("/apps/api/contracts", contractBody(cents(0.3, [0.1, 0.19]))),
  },
  {
    row: "checkout token just before ten minutes",
    status: 200,
    run: (sandbox, api) => checkoutAfter(sandbox, api, 599_999),
  },
  {
    row: "checkout token at ten minutes",
    status: 410,
    run: (sandbox, api) => checkoutAfter(sandbox, api, 600_000),
  },
];

function cents(amount: number, parts: number[]): Record<string, unknown> {
  return {
    amount,
    Milestones: parts.map((Amount) => ({ Name: "m", Amount, DueDate: "2026-03-01T00:00:00Z" })),
  };
}

async function checkoutAfter(sandbox: Sandbox, api: Api, ms: number): Promise<Answered> {
  const made = await api.post("/apps/api/contracts", contractBody());
  await sandbox.clock.advance(ms);
  return call(String(at(made.body, "data.checkoutUrl")));
}

async function check({ status, message, options, run }: Row): Promise<void> {
  const sandbox = await startSandbox(options);
  const answer = await run(sandbox, await connect(sandbox));
  expect(answer.status).toBe(status);
  if (status >= 400 && answer.body !== undefined) expect(at(answer.body, "status")).toBe(status);
  if (message !== undefined) expect(at(answer.body, "message")).toBe(message);
}

describe("§7.1, each refund error and status", () => {
  it.each(refundErrors)("$row", check);

  it("texts the buyer an onboarding link when authorization or bank account is missing", async () => {
    const sandbox = await startSandbox();
    await buyerLacks({ authorized: false })(sandbox, await connect(sandbox));
    const last = (await sandbox.sms.list()).at(-1);
    expect(last).toMatchObject({ kind: "onboarding", to: "+966500000001" });
    const link = /http\S+/.exec(last?.text ?? "")?.[0] ?? "";
    await call(link, { method: "POST" });
    const [id = ""] = (await sandbox.contracts.list()).map(({ contractId }) => contractId);
    expect((await refund(await connect(sandbox), id)).status).toBe(200);
  });
});

describe("§7.2, each status of get contract", () => {
  it.each(getErrors)("$row", check);
});

describe("§8, each limit", () => {
  it.each(limits)("$row", check);
});
