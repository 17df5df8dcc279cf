import type { Mirror, MirroredContract } from "escrow-mirror";
import type { Sandbox, SandboxContract } from "escrow-mirror/sandbox";

/** Both sides of one contract. */
export interface Side {
  readonly contractId: string;
  readonly service: string;
  readonly mirror: string;
  readonly equal: boolean;
  /** The events whose webhooks were dropped on the way. */
  readonly dropped: readonly string[];
}

export interface Comparison {
  readonly sides: readonly Side[];
  /** Contracts that differ although every webhook arrived: there must be none. */
  readonly unexplained: readonly Side[];
}

/** Compares every contract, milestone and refund of the mirror with the service's own state. */
export async function compare(sandbox: Sandbox, mirror: Mirror): Promise<Comparison> {
  const dropped = await sandbox.deliveries.list({ state: "dropped" });
  const sides = await Promise.all(
    (await sandbox.contracts.list()).map(async (contract): Promise<Side> => {
      const service = tellService(contract);
      const ours = tellMirror(await mirror.contracts.get(contract.contractId));
      const lost = dropped.filter(({ contractId }) => contractId === contract.contractId);
      const { contractId } = contract;
      return {
        contractId,
        service,
        mirror: ours,
        equal: service === ours,
        dropped: lost.map(({ event }) => event),
      };
    }),
  );
  return { sides, unexplained: sides.filter((side) => !side.equal && side.dropped.length === 0) };
}

/** The service sends no event of a milestone before it is paid. So only paid milestones are compared. */
function tellService({ status, milestones, refunds }: SandboxContract): string {
  const told = milestones.filter((milestone) => milestone.status !== "Pending");
  return tell(status, told, refunds);
}

function tellMirror(contract: MirroredContract | undefined): string {
  return contract === undefined
    ? "not in the mirror"
    : tell(contract.status, contract.milestones.filter(isTold), contract.refunds);
}

/** An API read also shows milestones that are not paid yet. */
function isTold({ status }: { status: string | null }): boolean {
  return status !== null && status.toLowerCase() !== "pending";
}

function tell(
  status: string,
  milestones: readonly { milestoneId: string; status: string | null }[],
  refunds: readonly { refundId: string | null; state: string }[],
): string {
  const parts = [
    status,
    ...milestones.map((milestone) => `milestone ${milestone.milestoneId} ${milestone.status ?? "unknown"}`),
    ...refunds.map((refund) => `refund ${refund.refundId ?? "without an id"} ${refund.state}`),
  ];
  return parts.join("\n");
}
