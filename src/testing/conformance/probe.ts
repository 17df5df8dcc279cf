/** The access of the checks to a receiver: they send to it, and read its state. */
import { isDeepStrictEqual } from "node:util";
import { sleep } from "../../shared/timers.ts";
import { buildEvent, type EventData } from "../build-event.ts";
import { signDelivery, type Delivery, type SignOptions } from "../delivery.ts";
import { exchange, type Answer, type Sent } from "./exchange.ts";
import type { ConformanceOptions, Observation } from "./receiver-conformance.ts";

/** A receiver under test. */
export interface Probe {
  /** A contract id that no check has used. */
  freshContract(): string;
  /** An event of a contract, signed. All its ids are the contract's own. */
  event(type: string, contractId: string, data?: EventData, sign?: SignOptions): Delivery;
  sign(body: string | Uint8Array<ArrayBuffer>, sign?: SignOptions): Delivery;
  send(delivery: Omit<Sent, "method"> & { readonly method?: string }): Promise<Answer>;
  /** Sends one after the other. Gives the first answer that is not 2xx. */
  sendAll(deliveries: readonly Delivery[]): Promise<Answer | undefined>;
  /** The receiver's state without its contract's id, so that two contracts compare. */
  observe(contractId: string): Promise<Observation | undefined>;
  /** Looks until the observation holds, for two seconds at most. Gives the last one. */
  observeUntil(
    contractId: string,
    holds: (seen: Observation | undefined) => boolean,
  ): Promise<Observation | undefined>;
  /** Gives what has come the time to take effect. */
  settle(): Promise<void>;
  restart(): Promise<void>;
}

const lookEveryMs = 20;
const lookMs = 2000;
const settleMs = 100;

export function createProbe(url: string, options: ConformanceOptions, run: string): Probe {
  const { secret, signature, headerPrefix, timeoutMs = 30_000 } = options;
  let contracts = 0;
  // A scheme that signs the time has it checked.
  const signing: SignOptions = {
    secret,
    signature,
    headerPrefix,
    ...(signature === undefined || signature === "default" ? {} : { timestamp: Date.now() }),
  };
  const send: Probe["send"] = (sent) => exchange(url, { method: "POST", ...sent }, timeoutMs);
  const observe: Probe["observe"] = async (contractId) => {
    const seen = await options.observe?.(contractId);
    if (seen === undefined || seen === null) return undefined;
    return JSON.parse(JSON.stringify(seen).replaceAll(contractId, "CNT")) as Observation;
  };
  return {
    freshContract: () => `CNT-${run}-${++contracts}`,
    event: (type, contractId, data, sign) => {
      const own = type.includes("refund.") ? {} : { transactionId: `TXN-${contractId}` };
      const ids = type.endsWith("payment.completed")
        ? { ...own, paymentId: `PAY-${contractId}`, invoiceId: `INV-${contractId}` }
        : {};
      return signDelivery(buildEvent(type, { data: { contractId, ...ids, ...data } }), {
        ...signing,
        ...sign,
      });
    },
    sign: (body, sign) => signDelivery(body, { ...signing, webhookId: `wh-${run}-${++contracts}`, ...sign }),
    send,
    sendAll: async (deliveries) => {
      for (const delivery of deliveries) {
        const answer = await send(delivery);
        if (!isTaken(answer)) return answer;
      }
      return undefined;
    },
    observe,
    observeUntil: async (contractId, holds) => {
      const endMs = Date.now() + lookMs;
      for (;;) {
        const seen = await observe(contractId);
        if (holds(seen) || Date.now() > endMs) return seen;
        await sleep(lookEveryMs);
      }
    },
    settle: () => sleep(settleMs),
    restart: async () => options.restart?.(),
  };
}

/** 2xx. */
export function isTaken({ status }: Answer): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

export function tellAnswer({ status, problem }: Answer): string {
  return status === undefined ? `no answer (${problem})` : String(status);
}

export function isSame(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(a, b);
}

export function tellObserved(seen: unknown): string {
  return seen === undefined ? "nothing" : JSON.stringify(seen);
}
