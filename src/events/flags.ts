/** Oddities of a readable payload. They never refuse a delivery; each becomes an anomaly of that name. */
export const parseFlags = [
  /** The time names no zone and was read as UTC. */
  "no-zone",
  /** The time is missing, unparseable or year 1: the event sorts before all timed ones. */
  "no-time",
  /** More than two real decimals: rounded half away from zero. */
  "amount-precision",
  /** Beyond 2^53 − 1 halalas: not kept as a number. */
  "amount-range",
  /** A currency other than SAR. */
  "foreign-currency",
] as const;

export type ParseFlag = (typeof parseFlags)[number];
