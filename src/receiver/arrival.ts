import type { EventInput, FoldInput } from "../domain/input.ts";
import type { ContractState } from "../domain/records.ts";
import type { EventFacts } from "../events/event.ts";
import type { SnapshotFacts } from "../events/snapshot.ts";
import { digestIn } from "./deliveries/content-key.ts";
import type { UnreadableReason, Verdict } from "./outcome.ts";

/** A piece of a commit: a delivery, or an API answer for the same fold. */
export type Arrival = DeliveryArrival | SnapshotArrival;

/** A delivery whose signature holds. */
export interface DeliveryArrival {
  readonly kind: "delivery";
  /** Header, else payload id, else digest (semantics §4). */
  readonly webhookId: string;
  /** SHA-256 of the body, hex. */
  readonly digest: string;
  /** The key of the content (`content-key.ts`). */
  readonly contentKey: string;
  readonly body: Uint8Array;
  /** Those that are kept (`kept-headers.ts`): never a signature. */
  readonly headers: Readonly<Record<string, string>>;
  readonly secretId: string;
  readonly fingerprint: string;
  readonly receivedAt: string;
  readonly reading: ReadBody;
}

/** The facts of a body, which may still be quarantined, or the reason why it can't be read. */
export type ReadBody =
  | { readonly facts: EventFacts; readonly reason: "outside-tolerance" | null }
  | { readonly facts: null; readonly reason: UnreadableReason | "unstorable" };

export interface SnapshotArrival {
  readonly kind: "snapshot";
  readonly digest: string;
  readonly receivedAt: string;
  readonly facts: SnapshotFacts;
}

export function isDelivery(arrival: Arrival): arrival is DeliveryArrival {
  return arrival.kind === "delivery";
}

export function webhookIdOf(arrival: Arrival): string | undefined {
  return isDelivery(arrival) ? arrival.webhookId : undefined;
}

/** A committed arrival and its verdict. */
export interface Committed extends Verdict {
  readonly arrival: Arrival;
  /** The input for the fold, if it is not made from this arrival alone: another copy gave its time of arrival or its facts. */
  readonly input?: FoldInput | undefined;
  /** The `seq` of its row, if that was stored before this commit. */
  readonly seq?: number | undefined;
}

/** The result of one transaction. */
export interface Commit {
  readonly committed: readonly Committed[];
  readonly changes: readonly ContractChange[];
}

/** One contract before and after a commit. */
export interface ContractChange {
  readonly before: ContractState;
  readonly after: ContractState;
}

/** The newly applied arrivals as inputs of the fold. */
export function inputsOf(committed: readonly Committed[]): FoldInput[] {
  return committed.flatMap(({ arrival, outcome, input }): FoldInput[] => {
    if (input !== undefined) return [input];
    if (outcome !== "applied") return [];
    if (!isDelivery(arrival)) return [arrival];
    return arrival.reading.facts === null ? [] : [toInput(arrival, arrival.reading.facts)];
  });
}

/** An event as the fold takes it in. */
export function toInput(
  { contentKey, webhookId, receivedAt }: Pick<DeliveryArrival, "contentKey" | "webhookId" | "receivedAt">,
  facts: EventFacts,
): EventInput {
  return { kind: "event", digest: digestIn(contentKey), webhookId, receivedAt, facts };
}
