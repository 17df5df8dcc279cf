import * as fc from "fast-check";
import type { Dressing } from "../story/dressing.ts";

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
    amount: ["decimals", "short", "exponent", "text", "too-precise", "too-large", "unreadable"],
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
