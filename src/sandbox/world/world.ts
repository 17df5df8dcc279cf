import type { SandboxClock } from "./clock.ts";
import type { Faults } from "./faults.ts";
import type { Random } from "./random.ts";
import type { DeliveryRecord } from "./records.ts";
import type { Settings } from "./settings.ts";
import type { State } from "./state.ts";

/** The state before the first request. */
export interface Ground {
  readonly settings: Settings;
  readonly clock: SandboxClock;
  readonly random: Random;
  readonly state: State;
  readonly faults: Faults;
  /** The next timestamp: later than every one before it. */
  stamp(): string;
}

/** A new webhook, before it is known whether and when it is sent. */
export type DeliveryDraft = Pick<
  DeliveryRecord,
  | "webhookId"
  | "business"
  | "event"
  | "contractId"
  | "internalContractId"
  | "milestoneId"
  | "createdAt"
  | "body"
>;

/** The way out for webhooks; `webhooks/` sends them. */
export interface Deliveries {
  /** How many attempts are scheduled. */
  readonly pending: number;
  /** Takes a new webhook. */
  enqueue(draft: DeliveryDraft): void;
  /** Starts a new series of attempts with the same id and bytes, now. */
  resend(delivery: DeliveryRecord): void;
  /** See `Sandbox.deliveries.idle`. */
  idle(): Promise<void>;
  /** See `Sandbox.deliveries.drained`. */
  drained(): Promise<void>;
}

/** The state that every operation of the sandbox works on. */
export interface World extends Ground {
  readonly deliveries: Deliveries;
  /** The start of the links in an answer: the address of the request, or the configured one. No `/` at the end. */
  readonly baseUrl: string;
}

export function businessNameOf({ settings }: Ground, clientId: string): string {
  const other = settings.clients.find((client) => client.clientId === clientId);
  return other === undefined ? settings.businessName : (other.businessName ?? "Sandbox Business");
}
