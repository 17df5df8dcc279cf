/** How one event is written: the same facts can have many forms on the wire. */
export interface Dressing {
  readonly casing: "camel" | "pascal";
  /** Statuses as the machines spell them, in lower case (the API's way) or in capitals. */
  readonly statusCase: "own" | "lower" | "upper";
  readonly status: "sent" | "missing";
  readonly previousStatus: "sent" | "missing";
  /** `offset` is the same instant elsewhere; `created-only` leaves `data.timestamp` out; `none` has no time at all. */
  readonly time: "zulu" | "offset" | "no-zone" | "created-only" | "none";
  readonly ids: "text" | "number";
  readonly milestone: "data" | "metadata" | "both" | "missing";
  /** `600.00`, `600`, `6e2`, `"600.00"`, digits below a halala, out of range, no number at all. */
  readonly amount: "decimals" | "short" | "exponent" | "text" | "too-precise" | "too-large" | "unreadable";
  readonly reference: "data" | "metadata" | "missing";
  readonly currency: "SAR" | "sar" | "USD" | "missing";
}

/** The default form of an event: that of the service's samples. */
export const plainDressing: Dressing = {
  casing: "camel",
  statusCase: "own",
  status: "sent",
  previousStatus: "sent",
  time: "zulu",
  ids: "text",
  milestone: "both",
  amount: "decimals",
  reference: "data",
  currency: "SAR",
};
