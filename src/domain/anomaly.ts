import { parseFlags } from "../events/flags.ts";

/** The kinds of anomalies. An anomaly never refuses a delivery. */
export const anomalyKinds = [
  // The fold's: part of its result, so that a late event can take one away again.
  "gap",
  "after-terminal",
  "unexpected-transition",
  "status-mismatch",
  "stale-read",
  "milestone-missing",
  "milestone-unlinked",
  "refund-overlap",
  "refund-without-id",
  "payment-without-id",
  "unknown-event",
  ...parseFlags,
  // Between deliveries or contracts: kept for good.
  "payload-changed",
  "webhook-id-conflict",
  "payload-id-conflict",
  "refund-id-shared",
  "intent-open",
] as const;

/** The kinds of anomaly. The reference explains each. */
export type AnomalyKind = (typeof anomalyKinds)[number];
