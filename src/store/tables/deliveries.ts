/** The tables of received deliveries. */
import type { FactColumns } from "../fact-columns.ts";
import type { TableShape } from "./shape.ts";

/** The outcomes of stored deliveries. */
export const storedOutcomes = ["applied", "duplicate", "quarantined", "dismissed"] as const;

/** One received delivery. Its ids and facts stay when the raw bytes are pruned, so a rebuild gives the same result. */
export interface DeliveryRow extends FactColumns {
  /** In order of arrival; given by the database. */
  readonly seq: number;
  /**
   * The webhook id. If the delivery is not applied, or if another one has this webhook id: `sha256:` and the digest of its
   * body.
   */
  readonly id: string;
  /** As received: the header, else the payload's id, else the digest of the body. */
  readonly webhookId: string;
  /** The first time in the body, to the minute, then the body's SHA-256 in hex. Each content has its own key. Keys sort by time. */
  readonly contentKey: string;
  /** The result: `applied`, `quarantined` and so on. */
  readonly outcome: (typeof storedOutcomes)[number];
  /** Why it was not applied; `null` if it was. */
  readonly reason: string | null;
  /** How many times it arrived. */
  readonly attempts: number;
  /** When it first arrived. ISO 8601. */
  readonly receivedAt: string;
  /** When its newest copy arrived. ISO 8601. */
  readonly lastReceivedAt: string;
  /** The id of the secret that verified it. */
  readonly secretId: string;
  /** The other delivery's id, if both have the same ids and contradict each other; else `null`. */
  readonly contradicts: string | null;
}

export const deliveries: TableShape<DeliveryRow> = {
  columns: {
    seq: "serial",
    id: "text",
    webhookId: "text",
    payloadId: "text",
    contentKey: "hex",
    event: "text",
    contractId: "text",
    milestoneId: "text",
    occurredAt: "text",
    outcome: "text",
    reason: "text",
    attempts: "integer",
    receivedAt: "text",
    lastReceivedAt: "text",
    secretId: "text",
    contradicts: "text",
    facts: "json",
  },
  key: ["id"],
  unique: ["contentKey", "payloadId"],
};

/** The large field of a delivery. Lists and comparisons don't need it. */
export const heavyFields = ["facts"] as const;

/** The raw bytes of a delivery. They have a row of their own, so they can be deleted while the delivery stays. */
export interface PayloadRow {
  /** The delivery whose body this is. */
  readonly contentKey: string;
  /** The delivery's time. Pruning deletes by it. */
  readonly receivedAt: string;
  /** Without the signature. */
  readonly headers: Readonly<Record<string, string>>;
  /** The raw bytes as received. */
  readonly body: Uint8Array;
}

export const payloads: TableShape<PayloadRow> = {
  columns: { contentKey: "hex", receivedAt: "text", headers: "json", body: "bytes" },
  key: ["contentKey", "receivedAt"],
  unique: [],
};

/** A signing secret that has verified a delivery, by its fingerprint. */
export interface SecretRow {
  /** A one-way mark of the secret. The secret itself is never stored. */
  readonly fingerprint: string;
  /** The secret's id in the options. */
  readonly secretId: string;
  /** When it first verified a delivery. ISO 8601. */
  readonly verifiedAt: string;
}

export const secrets: TableShape<SecretRow> = {
  columns: { fingerprint: "text", secretId: "text", verifiedAt: "text" },
  key: ["fingerprint"],
  unique: [],
};
