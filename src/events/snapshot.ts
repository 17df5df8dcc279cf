/**
 * What one API answer about a contract says (§2.3, §2.7), read once. A key that is absent was not in the answer
 * and erases nothing; `null` was sent and clears (semantics §5.8).
 */
export interface SnapshotFacts {
  /** `read`: GET of a contract. `created`: the answer to our own create request. */
  readonly origin: "read" | "created";
  readonly contractId: string;
  /**
   * When the service can have read it, as an order key floored to the second, so that a snapshot never outranks
   * an event that it did not see; `""` when the answer carries no time at all: it then only fills fields.
   */
  readonly orderKey: string;
  /** The same instant as ISO 8601. */
  readonly takenAt: string | null;
  readonly status: string | null;
  readonly updatedAt: string | null;
  readonly createdAt: string | null;
  readonly fields: SnapshotFields;
  readonly milestones: readonly SnapshotMilestone[];
}

export interface SnapshotFields {
  readonly reference?: string | null;
  readonly title?: string | null;
  readonly description?: string | null;
  readonly notes?: string | null;
  readonly businessName?: string | null;
  readonly serviceType?: string | null;
  readonly amountMinor?: number | null;
  readonly metadata1?: string | null;
  readonly metadata2?: string | null;
  readonly metadata3?: string | null;
  readonly metadata4?: string | null;
  readonly buyer?: Party | null;
  readonly seller?: Party | null;
}

export interface SnapshotMilestone {
  readonly milestoneId: string;
  readonly status: string | null;
  readonly name?: string | null;
  readonly description?: string | null;
  /** Halalas, fees and taxes included (§2.5). */
  readonly amountMinor?: number | null;
  /** As sent. */
  readonly dueDate?: string | null;
}

/** A party of a contract (§2.4). */
export interface Party {
  readonly platformRefId: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** With its country code. */
  readonly phoneNumber: string | null;
}
