import { canonicalStatus } from "../domain/status.ts";
import { contractMachine } from "../domain/contract.ts";
import { milestoneMachine } from "../domain/milestone.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { timeOf } from "../queries/arguments.ts";
import type { MirroredContract } from "../queries/shapes.ts";
import type { SubscriptionRow } from "../store/tables/handlers.ts";
import type { Filter, TransitionFilter } from "./subscription.ts";

/** The second argument of a handler. */
export interface HandlerContext {
  /** The same for each attempt of one job, and different for each job. Pass it to services that accept such a key. */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the handler's time is over, when another process takes the job, or when the mirror closes. */
  readonly signal: AbortSignal;
  /** The contract as it was at most 20 ms before this run. `undefined` if the event has none. */
  readonly contract: MirroredContract | undefined;
  /** The mirror's logger. */
  readonly logger: Logger;
}

/** How a handler is registered. */
export interface HandlerOptions {
  /** Required. Choose it for good: jobs belong to this name. A handler with a new name is a new handler. */
  readonly name: string;
  /**
   * A new handler starts with deliveries received at or after this time, and can also get some from the minute before. A
   * time in the future counts as now. Default: with deliveries after the call of `createMirror`.
   */
  readonly since?: string | Date | undefined;
}

/** A handler and its events or moves. */
export interface Handler {
  /** The name that jobs belong to. */
  readonly name: string;
  /** Whether it gets events or moves, after the commit or inside the transaction. */
  readonly kind: SubscriptionRow["kind"];
  /** The events or moves that it listens to. */
  readonly filter: Filter;
  /** The time from which a new handler gets deliveries: ISO 8601. Absent: from now on. */
  readonly since: string | undefined;
  /** The function. */
  readonly run: (subject: never, context: never) => unknown;
}

/** @throws EscrowMirrorError `invalid-argument` */
export function toHandler(kind: Handler["kind"], on: unknown, run: unknown, given: HandlerOptions): Handler {
  const name = checkName((given as Partial<HandlerOptions> | undefined)?.name);
  const filter = kind === "transition" ? toTransitionFilter(on, name) : toEventFilter(on, name);
  return { name, kind, filter, since: toSince(given.since, name), run: checkFunction(run, name) };
}

const nameLengthMax = 200;

/** @throws EscrowMirrorError `invalid-argument` */
function checkName(name: unknown): string {
  if (typeof name === "string" && /\S/.test(name) && name.length <= nameLengthMax) return name;
  throw invalid(`a handler needs a name of 1 to ${nameLengthMax} characters: { name: "email-buyer" }`);
}

/** @throws EscrowMirrorError `invalid-argument` */
function checkFunction(run: unknown, name: string): Handler["run"] {
  if (typeof run === "function") return run as Handler["run"];
  throw invalid(`handler ${name}: a function is expected, ${typeof run} was given`);
}

/** @throws EscrowMirrorError `invalid-argument` */
function toSince(since: unknown, name: string): string | undefined {
  return since === undefined ? undefined : timeOf(since as string | Date, `handler ${name}: since`);
}

/** @throws EscrowMirrorError `invalid-argument` */
function toEventFilter(event: unknown, name: string): Filter {
  const events = [...new Set(Array.isArray(event) ? event : [event])] as unknown[];
  if (events.length > 0 && events.every((each) => typeof each === "string" && /\S/.test(each)))
    return { events: (events as string[]).sort() };
  throw invalid(`handler ${name}: an event type, a list of them, or "*" is expected`);
}

/** @throws EscrowMirrorError `invalid-argument` */
function toTransitionFilter(filter: unknown, name: string): TransitionFilter {
  const { entity, from, to, ...rest } = (filter ?? {}) as Record<string, unknown>;
  if (entity !== "contract" && entity !== "milestone")
    throw invalid(`handler ${name}: entity must be "contract" or "milestone"`);
  const [odd] = Object.keys(rest);
  if (odd !== undefined)
    throw invalid(`handler ${name}: ${odd} is not a field here: the fields are entity, from and to`);
  const machine = entity === "contract" ? contractMachine : milestoneMachine;
  const statuses = (value: unknown, field: string): string[] => {
    const list = Array.isArray(value) ? (value as unknown[]) : [value];
    if (list.length === 0 || !list.every((each) => typeof each === "string" && /\S/.test(each)))
      throw invalid(`handler ${name}: ${field} must be a status or a list of them`);
    return (list as string[]).map((each) => canonicalStatus(machine, each)).sort();
  };
  return {
    entity,
    ...(from === undefined ? {} : { from: statuses(from, "from") }),
    ...(to === undefined ? {} : { to: statuses(to, "to") }),
  };
}

function invalid(message: string): EscrowMirrorError {
  return new EscrowMirrorError("invalid-argument", message);
}

export function nameTaken(name: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "invalid-argument",
    `a handler named ${name} is registered in this process already: names are unique`,
  );
}
