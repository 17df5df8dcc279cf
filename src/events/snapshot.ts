/** The facts of one API answer about a contract. A key that is absent erases nothing; `null` clears the field. */
export interface SnapshotFacts {
  /** `read`: the answer to a GET. `created`: the answer to the request that created the contract. */
  readonly origin: "read" | "created";
  /** The contract. */
  readonly contractId: string;
  /**
   * The time of the answer as text that sorts exactly, rounded down to the second: it never outranks a later event.
   * `""` if the answer has no time; it then only fills fields.
   */
  readonly orderKey: string;
  /** The same time as ISO 8601. */
  readonly takenAt: string | null;
  /** The status as sent. */
  readonly status: string | null;
  /** When the service last changed the contract. ISO 8601. */
  readonly updatedAt: string | null;
  /** When the service created the contract. ISO 8601. */
  readonly createdAt: string | null;
  /** The descriptive fields. */
  readonly fields: SnapshotFields;
  /** The milestones. */
  readonly milestones: readonly SnapshotMilestone[];
}

/** The descriptive fields of an API answer. */
export interface SnapshotFields {
  /** The app's own id. */
  readonly reference?: string | null;
  /** The title. */
  readonly title?: string | null;
  /** The description. */
  readonly description?: string | null;
  /** The notes. */
  readonly notes?: string | null;
  /** The business of the app. */
  readonly businessName?: string | null;
  /** `product` or `service`. */
  readonly serviceType?: string | null;
  /** The base amount without fees. Halalas. */
  readonly amountMinor?: number | null;
  /** The app's own text. */
  readonly metadata1?: string | null;
  /** The app's own text. */
  readonly metadata2?: string | null;
  /** The app's own text. */
  readonly metadata3?: string | null;
  /** The app's own text. */
  readonly metadata4?: string | null;
  /** The buyer. */
  readonly buyer?: Party | null;
  /** The seller. */
  readonly seller?: Party | null;
}

/** One milestone of an API answer. */
export interface SnapshotMilestone {
  /** The milestone's id, as text. */
  readonly milestoneId: string;
  /** The status as sent. */
  readonly status: string | null;
  /** The name. */
  readonly name?: string | null;
  /** The description. */
  readonly description?: string | null;
  /** Fees and taxes included. Halalas. */
  readonly amountMinor?: number | null;
  /** As the service sent it. */
  readonly dueDate?: string | null;
}

/** A party of a contract: the buyer or the seller. */
export interface Party {
  /** The app's own id of the person. */
  readonly platformRefId: string | null;
  /** The first name. */
  readonly firstName: string | null;
  /** The last name. */
  readonly lastName: string | null;
  /** The phone number, with its country code. */
  readonly phoneNumber: string | null;
}
