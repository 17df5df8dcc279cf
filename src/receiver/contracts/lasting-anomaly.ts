import type { AnomalyKind } from "../../domain/anomaly.ts";
import type { NewRow } from "../../store/store.ts";

/** The place of an anomaly, as far as it is known. */
export interface AnomalyPlace {
  readonly contractId?: string | null;
  readonly milestoneId?: string | null;
  readonly webhookId?: string | null;
}

/** An anomaly between deliveries or contracts: no fold makes it, so it has no position and no refold takes it away. */
export function lastingAnomaly(
  kind: AnomalyKind,
  detail: string,
  at: string,
  { contractId, milestoneId = null, webhookId = null }: AnomalyPlace,
): NewRow<"anomalies"> {
  return {
    // A `webhook.test` may name no contract.
    contractId: contractId || null,
    position: null,
    kind,
    milestoneId,
    webhookId,
    detail,
    at,
  };
}
