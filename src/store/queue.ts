/**
 * The queue of what handlers are owed, a part of the port. Jobs of one handler and contract form a line: its head is `due`,
 * the rest `waiting`; when the head is done or dead the next one is promoted, in the same transaction.
 */
import type { JobRow } from "./tables/handlers.ts";

/** The jobs of handlers. */
export interface JobQueue {
  /**
   * Adds jobs in the given order, except those whose handler and key exist already. Resolves with those that were
   * added.
   */
  insert(jobs: readonly NewJob[]): Promise<boolean[]>;
  /** Takes due jobs for a worker, in order of arrival. They are running then, and the attempt is counted. */
  claim(claim: Claim): Promise<JobRow[]>;
  /**
   * Ends runs and makes the next job of each line due. Resolves with the runs that still held their job: only those
   * count.
   */
  end(endings: readonly Ending[]): Promise<boolean[]>;
  /** Marks a worker as alive until `leaseMs` from now. Resolves with `false` if others had given it up meanwhile. */
  beat(worker: WorkerBeat): Promise<boolean>;
  /** Ends a worker. Its running jobs go back to the queue, without counting the attempt. */
  retire(workerId: string): Promise<void>;
  /** Ends workers that are silent for too long. Their running jobs are due again, or dead. */
  reclaim(limits: { readonly attemptsMax: number }): Promise<JobRow[]>;
  /** Puts dead jobs back into their lines, with no attempts behind them. */
  revive(seqs: readonly number[]): Promise<void>;
  /** Ends the wait of due jobs for their next attempt. Their attempts count on. */
  hasten(seqs: readonly number[]): Promise<void>;
  /** Which of these contents a job is still owed for: its handler needs the body. */
  owedFor(contentKeys: readonly string[]): Promise<string[]>;
  /** Locks the subscriptions: shared by commits, or alone for one registration. */
  lockSubscriptions(how: "shared" | "exclusive"): Promise<void>;
  /** Takes a lease that nobody else holds, or holds on to it. Resolves with `false` if another holds it. */
  lease(lease: LeaseAsk): Promise<boolean>;
}

/** A job that is not stored yet. */
export type NewJob = Pick<
  JobRow,
  "handler" | "contractId" | "jobKey" | "contentKey" | "webhookId" | "payload"
>;

/** Asks for jobs to run. */
export interface Claim {
  /** Who asks. */
  readonly workerId: string;
  /** The handlers whose jobs to take; those of the first come first. */
  readonly handlers: readonly string[];
  /** How many jobs at most. */
  readonly limit: number;
  /** Take jobs of lost workers one by one: a job that kills its process takes no other job with it. */
  readonly lost: boolean;
}

/** How one run ended. Worker and attempt must still be the job's: a run that lost its lease ends nothing. */
export type Ending = {
  /** The job. */
  readonly seq: number;
  /** The worker that ran it. */
  readonly workerId: string;
  /** Which attempt it was. */
  readonly attempts: number;
} & (
  | { readonly end: "done" }
  | { readonly end: "dead"; readonly error: string }
  | { readonly end: "again"; readonly error: string; readonly afterMs: number }
  /** It did not run to its end for no fault of its own: the attempt is not counted. */
  | { readonly end: "given-back" }
);

/** A sign of life of a worker. */
export interface WorkerBeat {
  /** The worker. */
  readonly workerId: string;
  /** The handlers whose jobs it runs. */
  readonly handlers: readonly string[];
  /** How long it counts as alive. Milliseconds. */
  readonly leaseMs: number;
  /** Whether it hears of jobs: then whoever adds some tells of them. */
  readonly isListening: boolean;
}

/** Asks for work that one process at a time does for all. */
export interface LeaseAsk {
  /** The work. */
  readonly name: string;
  /** Who asks. */
  readonly holder: string;
  /** How long it holds, unless it is asked for again. Milliseconds. */
  readonly leaseMs: number;
}

/** The states of a job that is still owed. */
export const openStates = ["waiting", "due", "running"] as const;

/** The error of a job that ended its process again and again. */
export const lostForGood = "its process ended while this was the only job there";

export interface Fate {
  readonly state: "done" | "due" | "dead";
  readonly attemptsBack: 0 | 1;
  readonly error: string | null;
  readonly afterMs: number;
}

/** The job's state after a run. */
export function fateOf(ending: Ending): Fate {
  const { end } = ending;
  switch (end) {
    case "done":
      return { state: end, attemptsBack: 0, error: null, afterMs: 0 };
    case "dead":
      return { state: end, attemptsBack: 0, error: ending.error, afterMs: 0 };
    case "again":
      return { state: "due", attemptsBack: 0, error: ending.error, afterMs: ending.afterMs };
    case "given-back":
      return { state: "due", attemptsBack: 1, error: null, afterMs: 0 };
  }
}
