import { systemClock } from "../shared/clock.ts";
import type { StoreReader, View } from "../store/store.ts";
import { createContractQueries } from "./contracts.ts";
import { createAnomalyQueries, createDeliveryQueries, createQuarantineQueries } from "./deliveries.ts";
import { createJobQueries } from "./jobs.ts";
import { createDisputeQueries, createPaymentQueries, createRefundQueries } from "./refunds.ts";

/** The reads of a mirror, all on one consistent view. They end with it, the `body` of a delivery too. */
export type Reads = ReturnType<typeof readsIn>;

export function readsIn(reader: StoreReader) {
  const view: View = { read: (work) => work(reader) };
  return {
    contracts: createContractQueries(view),
    refunds: createRefundQueries(view, systemClock),
    payments: createPaymentQueries(view),
    disputes: createDisputeQueries(view),
    deliveries: createDeliveryQueries(view),
    quarantine: createQuarantineQueries(view),
    anomalies: createAnomalyQueries(view),
    jobs: createJobQueries(view),
  };
}
