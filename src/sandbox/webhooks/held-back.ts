import type { DeliveryRecord } from "../world/records.ts";

/** Deliveries that the `reorder` fault keeps back until a later one of the same contract has gone ahead. */
export class HeldBack<T extends { delivery: DeliveryRecord }> {
  readonly #ofContract = new Map<string, T[]>();

  add(task: T): void {
    const key = task.delivery.contractId ?? "";
    this.#ofContract.set(key, [...(this.#ofContract.get(key) ?? []), task]);
  }

  /** `delivery` was sent: returns those that it has overtaken, which may go now. */
  overtakenBy(delivery: DeliveryRecord): T[] {
    const key = delivery.contractId ?? "";
    const waiting = (this.#ofContract.get(key) ?? []).filter((task) => task.delivery.tries === 0);
    const later = waiting.filter((task) => task.delivery.createdAt >= delivery.createdAt);
    if (later.length > 0) this.#ofContract.set(key, later);
    else this.#ofContract.delete(key);
    return waiting.filter((task) => task.delivery.createdAt < delivery.createdAt);
  }
}
