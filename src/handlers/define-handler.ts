import type { Anomaly, Transition } from "../queries/shapes.ts";
import type { Job } from "../queries/jobs.ts";
import type { KnownEvent, WebhookEvent, WebhookEventType } from "./event.ts";
import type { Handler, HandlerContext, HandlerOptions } from "./handler.ts";
import type { TransactionContext } from "./in-transaction.ts";
import type { TransitionFilter } from "./subscription.ts";

type Ran = unknown;

/** What a handler of these events is given. */
export type EventOf<On> = On extends "anomaly"
  ? Anomaly
  : On extends "job-dead"
    ? Job
    : On extends WebhookEventType
      ? KnownEvent<On>
      : WebhookEvent;

/** An event type, `"*"` for every webhook event, `"anomaly"`, or `"job-dead"`. */
export type EventName = WebhookEventType | "*" | "anomaly" | "job-dead" | (string & {});

/** Called for each event, at least once, after it is committed. */
export type EventHandler<On> = (event: EventOf<On>, context: HandlerContext) => Ran;

/** Called for each move, at least once, after it is committed. */
export type TransitionHandler = (transition: Transition, context: HandlerContext) => Ran;

/** Called in the delivery's own transaction. */
export type TransactionHandler<On> = (event: EventOf<On>, context: TransactionContext) => Ran;

/** Moves that a handler listens to: of contracts or milestones, from and to these statuses; absent: any. */
export interface TransitionOn {
  readonly entity: TransitionFilter["entity"];
  readonly from?: string | readonly string[] | undefined;
  readonly to?: string | readonly string[] | undefined;
}

/** A handler for `createMirror({ handlers })`, which registers it before the first delivery is taken in. */
export interface DefinedHandler extends HandlerOptions {
  readonly kind: Handler["kind"];
  readonly on: unknown;
  readonly run: unknown;
}

/**
 * Defines a handler for `createMirror({ handlers })`.
 *
 * ```ts
 * const emailBuyer = defineHandler("email-buyer", "refund.full-succeeded", async (event, ctx) => {
 *   await mail.send({ to: buyerOf(event.contractId), idempotencyKey: ctx.idempotencyKey });
 * });
 * ```
 *
 * @param on an event type, a list of them, `"*"`, or `{ entity, from, to }` for moves
 */
export function defineHandler(name: string, on: TransitionOn, run: TransitionHandler): DefinedHandler;
export function defineHandler<On extends EventName>(
  name: string,
  on: On | readonly On[],
  run: EventHandler<On>,
): DefinedHandler;
export function defineHandler(name: string, on: unknown, run: unknown): DefinedHandler {
  const isTransition = typeof on === "object" && on !== null && "entity" in on;
  return { name, kind: isTransition ? "transition" : "event", on, run };
}
