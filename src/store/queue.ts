/**
 * The queue of the handlers' jobs, a part of the port. The jobs of one handler and contract form a line: the first is
 * `due`, the others are `waiting`. When the first is done or dead, the same transaction makes the next one due.
 */
import type { JobRow } from "./tables/handlers.ts";

/** The jobs of handlers. */
export interface JobQueue {
  /**
   * Adds jobs in the given order, except those whose handler and key exist already. Resolves with whether
   * each was added.
   */
  insert(jobs: readonly NewJob[]): Promise<boolean[]>;
  /** Takes due jobs for a worker, in order of arrival. They are running then, and the attempt is counted. */
  claim(claim: Claim): Promise<JobRow[]>;
  /**
   * Ends runs and makes the next job of each line due. Resolves with whether each run still held its job: only such runs
   * count.
   */
  end(endings: readonly Ending[]): Promise<boolean[]>;
  /** Marks a worker as alive until `leaseMs` from now. Resolves with `false` if others have taken its jobs meanwhile. */
  beat(worker: WorkerBeat): Promise<boolean>;
  /** Ends a worker. Its running jobs go back to the queue, without counting the attempt. */
  retire(workerId: string): Promise<void>;
  /** Ends workers that are silent for too long. Running jobs without a living worker are due again, or dead. */
  reclaim(limits: { readonly attemptsMax: number }): Promise<JobRow[]>;
  /** Puts dead jobs back into their lines. Their attempts start again from 0. */
  revive(seqs: readonly number[]): Promise<void>;
  /** Makes due jobs run now, before the time of their next attempt. The count of attempts goes on. */
  hasten(seqs: readonly number[]): Promise<void>;
  /** Deletes the given jobs that are in one of these states, and makes the next job of each line due. */
  remove(seqs: readonly number[], states: readonly JobRow["state"][]): Promise<void>;
  /** Resolves with the given content keys whose body an open job still needs. */
  owedFor(contentKeys: readonly string[]): Promise<string[]>;
  /** Locks the subscriptions: `shared` for a commit, `exclusive` for a registration. */
  lockSubscriptions(how: "shared" | "exclusive"): Promise<void>;
  /** Takes a free lease, or renews one that this holder has. Resolves with `false` if another holds it. */
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
  /**
   * `true`: jobs of lost workers. `false`: all others. Take lost ones one by one: then a job that kills its process takes no
   * other job with it.
   */
  readonly lost: boolean;
}

/** One run of a job: `claims` is the job's count once it was claimed for this run. */
export type Run = Pick<JobRow, "seq" | "claims">;

/** How one run ended. It counts only if nobody has claimed the job since: a run that lost its lease ends nothing. */
export type Ending = Run &
  (
    | { readonly end: "done" }
    | { readonly end: "dead"; readonly error: string }
    | { readonly end: "again"; readonly error: string; readonly afterMs: number }
    /** The run was stopped from outside, or never began: the attempt is not counted. */
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
  /** Whether it listens for notifications. If so, a process that adds jobs sends one. */
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
