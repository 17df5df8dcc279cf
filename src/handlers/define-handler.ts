import type { Anomaly, Transition } from "../queries/shapes.ts";
import type { Job } from "../queries/jobs.ts";
import type { KnownEvent, WebhookEvent, WebhookEventType } from "./event.ts";
import { nameTaken, toHandler, type Handler, type HandlerContext, type HandlerOptions } from "./handler.ts";
import type { TransactionContext } from "./transaction/call-in-transaction.ts";
import type { TransitionFilter } from "./subscription.ts";

/** The options beside the name. */
type Since = Pick<HandlerOptions, "since">;

/** A handler's result. A promise is awaited, and its value is ignored. */
type Ran = unknown;

/** The event that a handler of these types gets. */
export type EventOf<On> = On extends "anomaly"
  ? Anomaly
  : On extends "job-dead"
    ? Job
    : On extends WebhookEventType
      ? KnownEvent<On>
      : WebhookEvent;

/** An event type, `"*"` for every webhook event, `"anomaly"`, or `"job-dead"`. */
export type EventName = WebhookEventType | "*" | "anomaly" | "job-dead" | (string & {});

/** Called for each event after it is committed, at least once. */
export type EventHandler<On> = (event: EventOf<On>, context: HandlerContext) => Ran;

/** Called for each move after it is committed, at least once. */
export type TransitionHandler = (transition: Transition, context: HandlerContext) => Ran;

/** Called in the delivery's own transaction. */
export type TransactionHandler<On> = (event: EventOf<On>, context: TransactionContext) => Ran;

/** The moves that a handler listens to. */
export interface TransitionOn {
  /** Whose moves: a contract's or a milestone's. */
  readonly entity: TransitionFilter["entity"];
  /** The status before the move, or several. Absent: any. */
  readonly from?: string | readonly string[] | undefined;
  /** The status after the move, or several. Absent: any. */
  readonly to?: string | readonly string[] | undefined;
}

/** A handler for `createMirror({ handlers })`. The mirror registers it before the first delivery. */
export interface DefinedHandler extends HandlerOptions {
  /** Whether it gets events or moves. */
  readonly kind: Handler["kind"];
  /** The events or moves that it listens to. */
  readonly on: unknown;
  /** The function. */
  readonly run: unknown;
}

/**
 * Defines a handler for `createMirror({ handlers })` and `createTestMirror({ handlers })`.
 *
 * ```ts
 * const logDispute = defineHandler("log-dispute", "contract.disputed", (event) =>
 *   console.log("disputed:", event.contractId),
 * );
 * ```
 *
 * @param on an event type, a list of them, `"*"`, or `{ entity, from, to }` for moves
 * @param options `since`: a new handler starts with deliveries received at or after this time, and can also get
 *   some from the minute before. After `mirror.handlers.remove(name)` a handler is new again.
 */
export function defineHandler(
  name: string,
  on: TransitionOn,
  run: TransitionHandler,
  options?: Since,
): DefinedHandler;
export function defineHandler<On extends EventName>(
  name: string,
  on: On | readonly On[],
  run: EventHandler<On>,
  options?: Since,
): DefinedHandler;
export function defineHandler(
  name: string,
  on: unknown,
  run: unknown,
  { since }: Since = {},
): DefinedHandler {
  const isTransition = typeof on === "object" && on !== null && "entity" in on;
  return { name, kind: isTransition ? "transition" : "event", on, run, since };
}

/** @throws EscrowMirrorError `invalid-argument` */
export function toHandlers(defined: readonly DefinedHandler[]): readonly Handler[] {
  const handlers = defined.map(({ kind, on, run, ...given }) => toHandler(kind, on, run, given));
  const names = new Set<string>();
  for (const { name } of handlers) {
    if (names.has(name)) throw nameTaken(name);
    names.add(name);
  }
  return handlers;
}
