import { randomUUID } from "node:crypto";
import type { Mirror } from "../../src/index.ts";
import { signBody } from "../../src/signature/sign.ts";

/** One delivery ready to be handed to `mirror.receive`. */
export interface BenchDelivery {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export const secret = "whsec_bench_0123456789abcdef0123456789abcdef";

/** What a contract goes through in the stream: five deliveries a contract, half of them refunded, half completed. */
const paid = [
  ["contract.created", "pending", ""],
  ["contract.approved", "Approved", "pending"],
  ["payment.completed", "Escrow", "Approved"],
] as const;
const endings = [
  [
    ["contract.released", "Released", "Escrow"],
    ["contract.completed", "Completed", "Released"],
  ],
  [
    ["refund.full-initiated", "RefundInProgress", "Escrow"],
    ["refund.full-succeeded", "Refunded", "RefundInProgress"],
  ],
] as const;

export const deliveriesPerContract = 5;

/** `count` deliveries of whole contract lives, as many lives side by side as a busy service has, from contract `first` on. */
export function* makeDeliveries(count: number, first = 0, sideBySide = 500): Generator<BenchDelivery> {
  let made = 0;
  for (let base = first; made < count; base += sideBySide) {
    for (let step = 0; step < deliveriesPerContract; step++) {
      for (let contract = base; contract < base + sideBySide && made < count; contract++, made++)
        yield makeDelivery(contract, step);
    }
  }
}

function makeDelivery(contract: number, step: number): BenchDelivery {
  const life = [...paid, ...(endings[contract % 2] ?? [])];
  const [event, status, previousStatus] = life[step] ?? paid[0];
  const time = new Date(1_767_225_600_000 + contract * 1000 + step * 60_000).toISOString();
  const timestamp = `${time.slice(0, -1)}4015Z`;
  const body = Buffer.from(toJson(contract, event, status, previousStatus, timestamp));
  const headers = signBody({ secret, body, webhookId: randomUUID(), event, timestamp });
  return { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
}

function toJson(contract: number, event: string, status: string, previous: string, time: string): string {
  const prev = previous === "" ? "" : `"previousStatus":"${previous}",`;
  const ids = event.startsWith("payment")
    ? `"paymentId":"PAY-${contract}","transactionId":"TXN-${contract}","invoiceId":"INV-${contract}",`
    : event.startsWith("refund")
      ? `"transactionId":"${500_000 + contract}",`
      : "";
  return `{"id":"${randomUUID()}","event":"${event}","createdAt":"${time}","data":{"contractId":"CNT-2601-${String(contract).padStart(8, "0")}","reference":"order-${contract}","status":"${status}",${prev}"amount":600.00,"currency":"SAR",${ids}"timestamp":"${time}","metadata":{"metadata1":"your-custom-data-${contract}","reference":"order-${contract}"}}}`;
}

const inFlight = 64;

/** @throws Error when one is not applied */
export async function receiveAll(mirror: Mirror, deliveries: Iterable<BenchDelivery>): Promise<void> {
  const queue = deliveries[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const { status, outcome } = await mirror.receive(next.value);
      if (status !== 200 || outcome !== "applied") throw new Error(`a bench delivery was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}
