/** The tables of long work, and of work that one process does for all. */
import type { TableShape } from "./shape.ts";

/** A reconciliation that has begun and not ended. */
export interface ProgressRow {
  /** The run's id. */
  readonly runId: string;
  /** The option `since`. A call with another value is another run. */
  readonly since: string | null;
  /** When it began: ISO 8601. */
  readonly startedAt: string;
  /** The last of the mirror's contracts that it has checked. `null` before the first. */
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
  /** The fingerprint of the old secret. `null` if the service did not show it. */
  readonly oldFingerprint: string | null;
  /** The fingerprint of the new secret. `null` until the service has made it. */
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
  /** When the lease ends, if it is not renewed. ISO 8601. */
  readonly heldUntil: string;
  /** Notes of its holders, for each other and for `health()`. JSON. */
  readonly state: unknown;
}

export const leases: TableShape<LeaseRow> = {
  columns: { name: "text", holder: "text", heldUntil: "text", state: "json" },
  key: ["name"],
  unique: [],
};
