import { createHmac } from "node:crypto";

import { beforeAll, describe, expect, it } from "vitest";

import type { SandboxOptions } from "../../../src/sandbox.ts";
import {
  at,
  connect,
  createContract,
  isGuid,
  isUtc,
  milestones,
  openReceiver,
  openSandbox,
  refund,
  startReceiver,
  startSandbox,
} from "../support.ts";
import type { Received } from "../support.ts";

/** §6.1 to §6.4: each event, each header, each field of the payload, as a receiver sees them. */
const seen = new Map<string, Received>();

beforeAll(async () => {
  const receiver = await openReceiver();
  const sandbox = await openSandbox({
    webhookUrl: receiver.url,
    webhookSecret: "whsec_é",
  });
  const api = await connect(sandbox);
  const ids: string[] = [];
  for (let index = 0; index < 7; index++)
    ids.push(await createContract(api, index > 3 ? { Milestones: milestones } : {}));
  const [
    rejected = "",
    cancelled = "",
    refunded = "",
    completed = "",
    milestoneRefund = "",
    disputed = "",
    released = "",
  ] = ids;
  await sandbox.act(rejected, "reject");
  await sandbox.act(cancelled, "cancel");
  for (const id of [refunded, completed, milestoneRefund, disputed, released]) await sandbox.act(id, "pay");
  await sandbox.act(refunded, "dispute");
  await sandbox.settleRefund(Number(at((await refund(api, refunded)).body, "data.refundId")));
  await sandbox.act(completed, "release");
  await sandbox.act(completed, "complete");
  const made = await refund(api, milestoneRefund, { milestoneId: 1 });
  await sandbox.settleRefund(Number(at(made.body, "data.refundId")));
  await sandbox.act(disputed, "dispute", { milestoneId: 3 });
  await sandbox.act(released, "release");
  await sandbox.act(released, "complete");
  await api.post("/apps/api/webhooks/test");
  await sandbox.deliveries.idle();
  await sandbox.close();
  receiver.close();
  for (const one of receiver.received) seen.set(String(at(one.payload, "event")), one);
});

const statuses: [event: string, status: string | undefined][] = [
  ["contract.created", "Pending"],
  ["contract.approved", "Approved"],
  ["contract.rejected", "Rejected"],
  ["contract.cancelled", "Cancelled"],
  ["payment.completed", "Escrow"],
  ["contract.released", "Released"],
  ["contract.disputed", "Dispute"],
  ["contract.refunded", "Refunded"],
  ["refund.full-initiated", "RefundInProgress"],
  ["refund.full-succeeded", "Refunded"],
  ["contract.completed", "Completed"],
  ["milestone.payment.completed", "Escrow"],
  ["milestone.released", "Released"],
  ["milestone.disputed", "Disputed"],
  ["milestone.completed", "Completed"],
  ["milestone.refund.full-initiated", "RefundInProgress"],
  ["milestone.refund.full-succeeded", "Refunded"],
  ["webhook.test", undefined],
];

describe("§6.1, each event", () => {
  it.each(statuses)("%s with status %s", (event, status) => {
    expect(at(seen.get(event)?.payload, "data.status")).toBe(status);
  });
});

const field = (event: string, path: string): unknown => at(seen.get(event)?.payload, path);
const header = (event: string, name: string): unknown => seen.get(event)?.headers[name];

const rows: [row: string, seen: () => unknown, right: unknown][] = [
  ["§6.2 POST", () => seen.get("contract.created")?.method, "POST"],
  ["§6.2 Content-Type", () => header("contract.created", "content-type"), "application/json"],
  [
    "§6.2 X-Service-Signature: HMAC-SHA256 of the bytes received",
    () => header("payment.completed", "x-service-signature"),
    "the right one",
  ],
  ["§6.2 X-Service-Event", () => header("payment.completed", "x-service-event"), "payment.completed"],
  ["§6.2 X-Service-Webhook-Id", () => isGuid(header("payment.completed", "x-service-webhook-id")), true],
  [
    "§6.2 X-Service-Timestamp: creation",
    () => header("payment.completed", "x-service-timestamp") === field("payment.completed", "createdAt"),
    true,
  ],
  ["§6.3 id, a GUID", () => isGuid(field("contract.created", "id")), true],
  ["§6.3 event", () => field("contract.created", "event"), "contract.created"],
  ["§6.3 createdAt, seven digits", () => isUtc(field("contract.created", "createdAt")), true],
  ["§6.3 data.contractId", () => field("contract.created", "data.contractId"), "CNT-2601-00100007"],
  ["§6.3 data.milestoneId, milestone events", () => field("milestone.disputed", "data.milestoneId"), 3],
  ["§6.3 data.milestoneId, not elsewhere", () => field("payment.completed", "data.milestoneId"), undefined],
  ["§6.3 data.disputeId, contract", () => field("contract.disputed", "data.disputeId"), "DSP-701"],
  ["§6.3 data.disputeId, milestone", () => field("milestone.disputed", "data.disputeId"), "DSP-702"],
  ["§6.3 data.reference", () => field("contract.created", "data.reference"), "order-77"],
  [
    "§6.3 data.previousStatus, none at first",
    () => field("contract.created", "data.previousStatus"),
    undefined,
  ],
  ["§6.3 data.previousStatus", () => field("payment.completed", "data.previousStatus"), "Approved"],
  [
    "§6.3 data.amount, with two decimals",
    () => seen.get("payment.completed")?.bytes.includes('"amount":1000.00,'),
    true,
  ],
  ["§6.3 data.currency", () => field("payment.completed", "data.currency"), "SAR"],
  [
    "§6.3 data.paymentId, payment events",
    () => /^PAY-\d{6}$/.test(String(field("payment.completed", "data.paymentId"))),
    true,
  ],
  ["§6.3 data.paymentId, not elsewhere", () => field("contract.released", "data.paymentId"), undefined],
  [
    "§6.3 data.transactionId: the payment id",
    () => field("payment.completed", "data.transactionId") === field("payment.completed", "data.paymentId"),
    true,
  ],
  [
    "§6.3 data.transactionId: the refund id, a string",
    () => field("refund.full-initiated", "data.transactionId"),
    "4521",
  ],
  [
    "§6.3 data.invoiceId",
    () => /^INV-\d{6}$/.test(String(field("payment.completed", "data.invoiceId"))),
    true,
  ],
  ["§6.3 data.timestamp", () => isUtc(field("payment.completed", "data.timestamp")), true],
  [
    "§6.3 data.metadata",
    () => field("contract.created", "data.metadata"),
    { metadata1: "one", metadata2: "", reference: "order-77" },
  ],
  ["§6.4 the refund id correlates", () => field("refund.full-succeeded", "data.transactionId"), "4521"],
  [
    "§6.4 refund.full-initiated, previousStatus as it was",
    () => field("refund.full-initiated", "data.previousStatus"),
    "Dispute",
  ],
  [
    "§6.4 refund.full-succeeded, previousStatus",
    () => field("refund.full-succeeded", "data.previousStatus"),
    "RefundInProgress",
  ],
  ["§6.4 data.milestoneId", () => field("milestone.refund.full-initiated", "data.milestoneId"), 1],
  [
    "§6.4 data.metadata.milestoneId, a string",
    () => field("milestone.refund.full-initiated", "data.metadata.milestoneId"),
    "1",
  ],
  [
    "§6.4 milestone previousStatus",
    () => field("milestone.refund.full-initiated", "data.previousStatus"),
    "Escrow",
  ],
  ["§6.4 amount of a milestone refund", () => field("milestone.refund.full-succeeded", "data.amount"), 600],
];

describe("§6.2 to §6.4, each header and field", () => {
  it.each(rows)("%s", (_row, read, right) => {
    const bytes = seen.get("payment.completed")?.bytes ?? Buffer.alloc(0);
    const signature = `sha256=${createHmac("sha256", "whsec_é").update(bytes).digest("hex")}`;
    expect(read()).toEqual(right === "the right one" ? signature : right);
  });
});

const variants: [name: string, options: SandboxOptions, read: (one: Received) => unknown, right: unknown][] =
  [
    [
      "headerPrefix",
      { headerPrefix: "X-Escrow-" },
      (one) => one.headers["x-escrow-event"],
      "payment.completed",
    ],
    [
      "payloadId own",
      { payloadId: "own" },
      (one) => at(one.payload, "id") === one.headers["x-service-webhook-id"],
      false,
    ],
    ["payloadId same", {}, (one) => at(one.payload, "id") === one.headers["x-service-webhook-id"], true],
    [
      "paymentTransactionId own",
      { paymentTransactionId: "own" },
      (one) => at(one.payload, "data.transactionId"),
      "TXN-100001",
    ],
    [
      "amountStyle shortest",
      { amountStyle: "shortest" },
      (one) => one.bytes.includes('"amount":1000,'),
      true,
    ],
    [
      "sign",
      { sign: (body, secret) => `${body.length}:${secret.length}` },
      (one) => one.headers["x-service-signature"],
      "counted",
    ],
  ];

describe("options of the payload", () => {
  it.each(variants)("%s", async (_name, options, read, right) => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url, ...options });
    await sandbox.act(await createContract(await connect(sandbox)), "pay");
    await sandbox.deliveries.idle();
    const [one] = receiver.received.slice(-1);
    const counted = `${one?.bytes.length ?? 0}:${sandbox.webhookSecret.length}`;
    expect(one && read(one)).toBe(right === "counted" ? counted : right);
  });
});
