/** The tables of inputs that are not deliveries. */
import type { SnapshotFields } from "../../events/snapshot.ts";
import type { TableShape } from "./shape.ts";

/** An input of the fold that is not a delivery: an API read, a request of our own, or the answer to one. */
export interface InputRow {
  /** In order of arrival. */
  readonly seq: number;
  /** The contract. */
  readonly contractId: string;
  /** `snapshot` is an API read, `request` a call of our own, `answer` the answer to one, `redaction` a `mirror.redact()`. */
  readonly kind: "snapshot" | "request" | "answer" | "redaction";
  /** SHA-256, hex. Equal inputs have equal digests. */
  readonly digest: string;
  /** When it arrived. ISO 8601. */
  readonly receivedAt: string;
  /** Its content, as JSON. */
  readonly facts: unknown;
}

export const inputs: TableShape<InputRow> = {
  columns: {
    seq: "serial",
    contractId: "text",
    kind: "text",
    digest: "hex",
    receivedAt: "text",
    facts: "json",
  },
  key: ["contractId", "digest"],
  unique: [],
};

/** A call of ours that changes something at the service. It is stored before it is sent, and closed when its result is known. */
export interface IntentRow {
  /** The intent's id. */
  readonly intentId: string;
  /** The call. */
  readonly kind: "create" | "refund";
  /** The contract; `null` until a create has one. */
  readonly contractId: string | null;
  /** While it is open: its reference or its target. No two open intents have the same. */
  readonly openKey: string | null;
  /** The fields of a contract that was asked for. */
  readonly fields: SnapshotFields | null;
  /** When it was stored: ISO 8601. */
  readonly createdAt: string;
  /** When it was closed: ISO 8601. */
  readonly closedAt: string | null;
  /** When an anomaly reported that it is still open. ISO 8601. */
  readonly toldAt: string | null;
}

export const intents: TableShape<IntentRow> = {
  columns: {
    intentId: "text",
    kind: "text",
    contractId: "text",
    openKey: "text",
    fields: "json",
    createdAt: "text",
    closedAt: "text",
    toldAt: "text",
  },
  key: ["intentId"],
  unique: ["openKey"],
};
