import * as fc from "fast-check";

/** How one event is written: the same fact in the many forms that come over the wire. */
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
  /** `600.00`, `600`, `6e2`, `"600.00"`, digits below a halala, out of range. */
  readonly amount: "decimals" | "short" | "exponent" | "text" | "too-precise" | "too-large";
  readonly reference: "data" | "metadata" | "missing";
  readonly currency: "SAR" | "sar" | "USD" | "missing";
}

/** What an event that nobody dressed looks like: the samples' own form. */
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

/** Forms that leave nothing unsaid: whoever reads them learns the whole event. */
export function completeDressing(): fc.Arbitrary<Dressing> {
  return dressing({
    status: ["sent"],
    time: ["zulu", "offset", "no-zone", "created-only"],
    amount: ["decimals", "short", "exponent", "text"],
    reference: ["data", "metadata"],
    currency: ["SAR", "sar", "missing"],
    milestone: ["both", "data", "metadata"],
  });
}

/** Any form, those included that leave out or contradict. */
export function wildDressing(): fc.Arbitrary<Dressing> {
  return dressing({
    status: ["sent", "sent", "sent", "missing"],
    time: ["zulu", "zulu", "offset", "no-zone", "created-only", "none"],
    amount: ["decimals", "short", "exponent", "text", "too-precise", "too-large"],
    reference: ["data", "metadata", "missing"],
    currency: ["SAR", "SAR", "sar", "USD", "missing"],
    milestone: ["both", "data", "metadata", "both", "data", "missing"],
  });
}

type Varying = "status" | "time" | "amount" | "reference" | "currency" | "milestone";

function dressing(varying: { readonly [Part in Varying]: Dressing[Part][] }): fc.Arbitrary<Dressing> {
  return fc.record({
    casing: fc.constantFrom("camel", "pascal"),
    statusCase: fc.constantFrom("own", "own", "lower", "upper"),
    status: fc.constantFrom(...varying.status),
    previousStatus: fc.constantFrom("sent", "sent", "missing"),
    time: fc.constantFrom(...varying.time),
    ids: fc.constantFrom("text", "number"),
    milestone: fc.constantFrom(...varying.milestone),
    amount: fc.constantFrom(...varying.amount),
    reference: fc.constantFrom(...varying.reference),
    currency: fc.constantFrom(...varying.currency),
  });
}
