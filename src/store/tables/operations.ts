/** The tables of what takes longer than one call, or is done by one process for all. */
import type { TableShape } from "./shape.ts";

/** A reconciliation that has begun and not ended. */
export interface ProgressRow {
  /** The run's id. */
  readonly runId: string;
  /** Its option: a run with another is another run. */
  readonly since: string | null;
  /** When it began: ISO 8601. */
  readonly startedAt: string;
  /** The contract up to which it has gone through the mirror; `null` before that. */
  readonly place: string | null;
  /** When the row was last written. ISO 8601. */
  readonly updatedAt: string;
}

export const progress: TableShape<ProgressRow> = {
  columns: { runId: "text", since: "text", startedAt: "text", place: "text", updatedAt: "text" },
  key: ["runId"],
  unique: [],
};

/** A change of the signing secret. The secrets themselves are never stored. */
export interface RotationRow {
  /** Always `webhook`: there is one row. */
  readonly name: string;
  /** When it was opened, before anything was sent. ISO 8601. */
  readonly openedAt: string;
  /** The secret before it; `null` if the service did not tell. */
  readonly oldFingerprint: string | null;
  /** The new secret; `null` until the service has told it. */
  readonly fingerprint: string | null;
  /** When the app's `save` had stored the new secret. ISO 8601. */
  readonly savedAt: string | null;
  /** When the new secret was saved and had verified a delivery. ISO 8601. */
  readonly closedAt: string | null;
}

export const rotations: TableShape<RotationRow> = {
  columns: {
    name: "text",
    openedAt: "text",
    oldFingerprint: "text",
    fingerprint: "text",
    savedAt: "text",
    closedAt: "text",
  },
  key: ["name"],
  unique: [],
};

/** Work that one process at a time does for all. */
export interface LeaseRow {
  /** The work. */
  readonly name: string;
  /** Who does it. */
  readonly holder: string;
  /** Until when, unless it says so again before. ISO 8601. */
  readonly heldUntil: string;
  /** Notes of its holders, for each other and for `health()`. JSON. */
  readonly state: unknown;
}

export const leases: TableShape<LeaseRow> = {
  columns: { name: "text", holder: "text", heldUntil: "text", state: "json" },
  key: ["name"],
  unique: [],
};
