import { ok } from "../../shared/result.ts";
import { refuse } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import type { ContractRecord, MilestoneRecord } from "../world/records.ts";
import type { Ground } from "../world/world.ts";

const contractIdPattern = /^CNT-\d{4}-\d{8,}$/;

/** §4.3: 400 for what can't be an id, 404 for one that names nothing (or another business's contract). */
export function findContract(
  { state }: Ground,
  contractId: string,
  business?: string,
): Granted<ContractRecord> {
  if (!contractIdPattern.test(contractId)) {
    return refuse(400, "InvalidContractId", "A contract id looks like CNT-2601-00100003.");
  }
  const contract = state.contracts.get(contractId);
  if (contract === undefined || (business !== undefined && contract.business !== business)) {
    return refuse(404, "ContractNotFound", `There is no contract ${contractId}.`);
  }
  return ok(contract);
}

export function findMilestone(contract: ContractRecord, milestoneId: number): Granted<MilestoneRecord> {
  const milestone = contract.milestones.find(({ id }) => id === milestoneId);
  if (milestone !== undefined) return ok(milestone);
  return refuse(404, "MilestoneNotFound", `${contract.contractId} has no milestone ${milestoneId}.`);
}
