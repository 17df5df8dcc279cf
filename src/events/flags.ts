/** Oddities of a readable payload. They never refuse a delivery; each becomes an anomaly of that name. */
export const parseFlags = [
  /** The time names no zone and was read as UTC. */
  "no-zone",
  /** No time can be read, of the event or of its creation: the event sorts before all timed ones. */
  "no-time",
  /** More than two real decimals: rounded half away from zero. */
  "amount-precision",
  /** Beyond 2^53 − 1 halalas: not kept as a number. */
  "amount-range",
  /** Text or a value that is no number: no amount is kept. */
  "amount-unreadable",
  /** A currency other than SAR. One that can't be read is `XXX`: ISO 4217's code for no currency. */
  "foreign-currency",
  /** A `previousStatus` that is no name: it counts as absent. */
  "previous-status-unreadable",
] as const;

/** An oddity of a value in a webhook body. */
export type ParseFlag = (typeof parseFlags)[number];
