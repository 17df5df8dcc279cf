/** Finds the open points of a contract: what it waits for, since when, and what a person can do. */
import { contractMachine } from "../../domain/contract.ts";
import type { Job } from "../../queries/jobs.ts";
import type { Anomaly, MirroredContract, MirroredDelivery, MirroredRefund } from "../../queries/shapes.ts";
import { counted } from "../lib/counted.ts";
import { isStuck } from "./stuck.ts";

/** One open point. */
export interface Open {
  readonly kind: "refund" | "quarantine" | "job" | "lost-event" | "forgotten";
  /** `true`: it takes too long, and a person must act. */
  readonly stuck: boolean;
  /** ISO 8601. */
  readonly since: string | null;
  /** A sentence for a person. */
  readonly what: string;
  /** The steps to take, in order. Each is a command or a sentence. */
  readonly next: readonly string[];
}

interface Known {
  readonly contract: MirroredContract;
  readonly anomalies: readonly Anomaly[];
  readonly quarantined: readonly MirroredDelivery[];
  readonly failedJobs: readonly Job[];
}

/** Those that need a person come first. */
export function openOf({ contract, anomalies, quarantined, failedJobs }: Known, now: number): Open[] {
  const open = [
    ...refundsOf(contract, now),
    ...quarantined.map(fromQuarantine),
    ...failedJobs.map(fromJob),
    ...lostEventOf(contract, anomalies),
    ...forgottenOf(contract, now),
  ];
  return [...open.filter(({ stuck }) => stuck), ...open.filter(({ stuck }) => !stuck)];
}

function refundsOf(contract: MirroredContract, now: number): Open[] {
  const active = contract.refunds.filter(({ state }) => state !== "succeeded");
  if (active.length > 0) return active.map((refund) => fromRefund(refund, now));
  if (contract.status !== "RefundInProgress") return [];
  const { contractId, statusSince } = contract;
  return [
    {
      kind: "refund",
      stuck: true,
      since: statusSince,
      what: "The contract is in RefundInProgress, and the mirror has no open refund: a webhook was lost.",
      next: [refresh(contractId)],
    },
  ];
}

function fromRefund(refund: MirroredRefund, now: number): Open {
  const { contractId, refundId, state, milestoneId } = refund;
  const stuck = isStuck(refund, now);
  const target = milestoneId === null ? "" : ` of milestone ${milestoneId}`;
  const since = refund.initiatedAt ?? refund.requestedAt;
  const common = { kind: "refund", stuck, since } as const;
  if (state === "requested")
    return {
      ...common,
      what: `A refund${target} was requested, and no answer and no webhook has come for it.`,
      next: stuck
        ? [refresh(contractId), "If the service has no such refund, you can request it again."]
        : ["Wait: its webhook comes within minutes."],
    };
  const name = `Refund ${refundId ?? ""}${target}`;
  return {
    ...common,
    what: stuck
      ? `${name} was initiated, but no webhook has reported that it succeeded.`
      : `${name} was initiated. The bank can take some days.`,
    next: stuck
      ? [
          refresh(contractId),
          `If the service says RefundInProgress too, ask it about refund ${refundId ?? ""}: the bank has not paid yet.`,
        ]
      : ["Wait for its second webhook."],
  };
}

function fromQuarantine({ id, event, reason, receivedAt }: MirroredDelivery): Open {
  return {
    kind: "quarantine",
    stuck: true,
    since: receivedAt,
    what: `A delivery (${event ?? "unreadable"}) is stored and not applied: ${reason ?? "unknown"}.`,
    next: [
      `escrow-mirror quarantine show ${id}`,
      `escrow-mirror quarantine release ${id}`,
      `escrow-mirror quarantine dismiss ${id}`,
    ],
  };
}

function fromJob({ id, handler, state, attempts, nextAttemptAt, lastError }: Job): Open {
  const error = lastError ?? "unknown error";
  if (state === "dead")
    return {
      kind: "job",
      stuck: true,
      since: nextAttemptAt,
      what: `Your handler "${handler}" gave up after ${counted(attempts, "attempt")}: ${error}`,
      next: ["Fix the cause.", `escrow-mirror jobs retry ${id}`],
    };
  return {
    kind: "job",
    stuck: false,
    since: null,
    what: `Your handler "${handler}" fails, and is tried again (attempt ${attempts}): ${error}`,
    next: ["Fix the cause.", `escrow-mirror jobs retry ${id}`],
  };
}

/** A gap is open until the API was read after it. The read brings everything that it can. */
function lostEventOf({ contractId, syncedAt }: MirroredContract, anomalies: readonly Anomaly[]): Open[] {
  const gap = anomalies.find(({ kind, at }) => kind === "gap" && at > (syncedAt ?? ""));
  if (gap === undefined) return [];
  const what = "An event between two statuses was lost, or is late.";
  return [{ kind: "lost-event", stuck: false, since: gap.at, what, next: [refresh(contractId)] }];
}

const forgottenMs = 14 * 86_400_000;

function forgottenOf({ status, statusSince }: MirroredContract, now: number): Open[] {
  if (status !== "Escrow" || now - Date.parse(statusSince) < forgottenMs) return [];
  const what = "The buyer has paid, and the money is neither released nor refunded.";
  const next = ["Check whether the order was delivered. The buyer releases the money on the service's page."];
  return [{ kind: "forgotten", stuck: true, since: statusSince, what, next }];
}

function refresh(contractId: string): string {
  return `escrow-mirror contracts refresh ${contractId}`;
}

/** `true` if the contract's status is its last. */
export function hasEnded({ status }: MirroredContract): boolean {
  return contractMachine.terminal.includes(status);
}
