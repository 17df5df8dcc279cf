import type { DeliveryRecord } from "../world/records.ts";
import type { Task } from "./agenda.ts";

/** A delivery that the `reorder` fault keeps back, and the task that sends it in the end. */
export interface Held {
  readonly delivery: DeliveryRecord;
  readonly task: Task;
}

/** Deliveries that the `reorder` fault keeps back until a later one of the same contract has gone ahead. */
export class HeldBack {
  readonly #ofContract = new Map<string, Held[]>();

  add(held: Held): void {
    const key = held.delivery.contractId ?? "";
    this.#ofContract.set(key, [...(this.#ofContract.get(key) ?? []), held]);
  }

  /** `delivery` was sent: returns those that it has overtaken, which may go now. */
  overtakenBy(delivery: DeliveryRecord): Held[] {
    const key = delivery.contractId ?? "";
    const waiting = (this.#ofContract.get(key) ?? []).filter((held) => held.delivery.tries === 0);
    const later = waiting.filter((held) => held.delivery.createdAt >= delivery.createdAt);
    if (later.length > 0) this.#ofContract.set(key, later);
    else this.#ofContract.delete(key);
    return waiting.filter((held) => held.delivery.createdAt < delivery.createdAt);
  }
}
