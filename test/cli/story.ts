/** A mirror with something of everything, whose times are known: for tests that compare text. */
import { PermanentError, createMirror } from "../../src/index.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { secret, signed } from "../support/delivery.ts";

/** The time at which the commands of the session are typed. */
export const sessionAt = new Date("2026-03-20T09:00:00Z");

/** A buyer's phone number and name: an API read would bring them, and no page of text may show them. */
export const person = { firstName: "Reem-Sentinel", phoneNumber: "+966500000077" };

interface Sent {
  readonly at: string;
  readonly event: string;
  readonly contract: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

const refund = { transactionId: 5077, amount: 600 };
const paid = { paymentId: "PAY-1", transactionId: 5001, amount: 600 };

const deliveries: readonly Sent[] = [
  {
    at: "2026-03-01T08:00:00Z",
    event: "contract.created",
    contract: "CNT-1",
    data: { reference: "order-1", amount: 600 },
  },
  { at: "2026-03-01T08:20:00Z", event: "contract.approved", contract: "CNT-1" },
  { at: "2026-03-01T08:30:00Z", event: "payment.completed", contract: "CNT-1", data: paid },
  { at: "2026-03-08T10:00:00Z", event: "refund.full-initiated", contract: "CNT-1", data: refund },
  {
    at: "2026-03-19T08:00:00Z",
    event: "contract.created",
    contract: "CNT-2",
    data: { reference: "order-2", amount: 1250.5 },
  },
  { at: "2026-03-19T08:05:00Z", event: "contract.approved", contract: "CNT-2" },
  {
    at: "2026-03-19T08:30:00Z",
    event: "contract.released",
    contract: "CNT-2",
    data: { previousStatus: "Escrow" },
  },
  {
    at: "2026-03-19T09:00:00Z",
    event: "contract.created",
    contract: "CNT-3",
    data: { reference: "order-3", amount: 90 },
  },
  { at: "2026-03-19T09:10:00Z", event: "contract.approved", contract: "CNT-3" },
  {
    at: "2026-03-19T09:20:00Z",
    event: "payment.completed",
    contract: "CNT-3",
    data: { ...paid, amount: 90 },
  },
  {
    at: "2026-03-20T07:00:00Z",
    event: "refund.full-initiated",
    contract: "CNT-3",
    data: { ...refund, transactionId: 5078, amount: 90 },
  },
];

/** Fills a new store. */
export async function fillStory(path: string): Promise<void> {
  const clock = { now: () => nowMs };
  let nowMs = Date.parse("2026-03-01T00:00:00Z");
  const mirror = await createMirror({
    store: sqlite(path),
    webhook: { secrets: secret },
    logger: silentLogger,
    clock,
  });
  mirror.on(
    "contract.released",
    () => Promise.reject(new PermanentError("the shop's mail server refused the mail")),
    {
      name: "email-seller",
    },
  );
  for (const [index, { at, event, contract, data }] of deliveries.entries()) {
    nowMs = Date.parse(at) + 1000;
    const payload = {
      id: `e-${index + 1}`,
      event,
      createdAt: at,
      data: { contractId: contract, timestamp: at, ...data },
    };
    await mirror.receive(signed(JSON.stringify(payload), { webhookId: `WH-${index + 1}` }));
    await mirror.idle();
  }
  nowMs = Date.parse("2026-03-19T10:00:00Z");
  await mirror.receive(
    signed(JSON.stringify({ id: "e-90", event: "contract.released", data: {} }), { webhookId: "WH-90" }),
  );
  await mirror.close();
}
