/** Deliveries as a story that a person can read. */
import { AssertionError } from "node:assert/strict";
import { parseEvent } from "../../events/parse.ts";
import type { Delivery } from "../delivery.ts";
import { contentOf } from "./arrivals.ts";

/** One line for each delivery, in the order in which it came; batches in one line are apart by `|`. */
export function timelineOf(batches: readonly (readonly Delivery[])[]): string {
  const seen = new Set<string>();
  const lines = batches.map((batch, index) => {
    const told = batch.map((delivery) => {
      const content = contentOf(delivery);
      const again = seen.has(content) ? " (again)" : "";
      seen.add(content);
      return tellDelivery(delivery) + again;
    });
    return `  ${String(index + 1).padStart(2)}. ${told.join(" | ")}`;
  });
  return lines.join("\n");
}

/** `10:29:10 contract.approved CNT-1: pending → Approved, as wh-1` */
export function tellDelivery(delivery: Delivery): string {
  const id = Object.entries(delivery.headers).find(([name]) => /webhook-id$/i.test(name))?.[1] ?? "no id";
  const parsed = parseEvent(Buffer.from(delivery.body));
  if (!parsed.ok) return `a body that is not an event (${parsed.error.reason}), as ${id}`;
  const { event, contractId, milestoneId, status, previousStatus, occurredAt } = parsed.value.facts;
  const subject = milestoneId === null ? contractId : `${contractId} milestone ${milestoneId}`;
  const moves = status === null ? "no status" : `${previousStatus ?? "·"} → ${status}`;
  return `${occurredAt ?? "no time"} ${event} ${subject}: ${moves}, as ${id}`;
}

/**
 * Runs a check, and adds the story to what it finds.
 *
 * @throws AssertionError
 */
export async function telling(
  batches: readonly (readonly Delivery[])[],
  title: string,
  check: () => Promise<void> | void,
  more = "",
): Promise<void> {
  try {
    await check();
  } catch (cause) {
    const { message, actual, expected } = cause as Partial<AssertionError>;
    const story = `what arrived (one line is one batch)\n${timelineOf(batches)}\n${more}`;
    const told = new AssertionError({ message: `${title}\n${message}\n\n${story}`, actual, expected });
    throw Object.assign(told, { cause });
  }
}
