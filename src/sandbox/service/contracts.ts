import { ok } from "../../shared/result.ts";
import { refuse, refuseFields } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import type { ContractRecord, MilestoneRecord, UserRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";
import { newCheckout } from "./checkout.ts";
import { readContractRequest } from "./contract-request.ts";
import type { ContractDraft, MilestoneDraft } from "./contract-request.ts";
import { emitContractEvent } from "./events.ts";
import type { Person } from "./party.ts";
import { findOrCreateUser, isKnown, sendSms } from "./users.ts";

const contractsMax = 1_000_000;

/** §4.1. */
export function createContract(world: World, business: string, body: unknown): Granted<ContractRecord> {
  if (world.state.contracts.size >= contractsMax) {
    return refuse(503, "SandboxFull", `The sandbox holds ${contractsMax} contracts. Restart it.`);
  }
  const draft = readContractRequest(body);
  if (!draft.ok) return draft;
  const { buyer, seller } = draft.value;
  if (!isKnown(world, buyer)) return refuseParty("BuyerParty");
  if (!isKnown(world, seller)) return refuseParty("SellerParty");
  return ok(openContract(world, business, draft.value));
}

function refuseParty(name: string) {
  const field = `${name}.platformRefId`;
  return refuseFields({ field, message: `${field} names no user.` });
}

function openContract(world: World, business: string, draft: ContractDraft): ContractRecord {
  const parties = toUsers(world, draft.buyer, draft.seller);
  const contract = toRecord(world, business, draft, parties);
  world.state.saveContract(contract);
  sendSms(world, parties.seller, "kyc");
  emitContractEvent(world, contract, "contract.created", { previousStatus: null });
  return contract;
}

interface Parties {
  buyer: UserRecord;
  seller: UserRecord;
}

function toUsers(world: World, buyer: Person, seller: Person): Parties {
  return { buyer: findOrCreateUser(world, buyer), seller: findOrCreateUser(world, seller) };
}

function toRecord(
  world: World,
  business: string,
  draft: ContractDraft,
  { buyer, seller }: Parties,
): ContractRecord {
  const createdDate = world.stamp();
  const internalId = world.state.count("contract");
  const month = createdDate.slice(2, 7).replace("-", "");
  // Field by field: an object that begins with a spread costs several times as much, and a bench creates thousands.
  return {
    title: draft.title,
    serviceType: draft.serviceType,
    amount: draft.amount,
    description: draft.description,
    notes: draft.notes,
    reference: draft.reference,
    metaData: draft.metaData,
    callbackUrl: draft.callbackUrl,
    contractId: `CNT-${month}-${String(internalId).padStart(8, "0")}`,
    internalId,
    guid: world.random.guid(),
    business,
    status: "Pending",
    buyer: buyer.platformRefId,
    seller: seller.platformRefId,
    milestones: draft.milestones.map((milestone) => toMilestone(world, milestone)),
    payment: null,
    disputeId: null,
    checkout: newCheckout(world),
    createdDate,
    updatedDate: createdDate,
  };
}

function toMilestone({ state, random }: World, draft: MilestoneDraft): MilestoneRecord {
  return {
    ...draft,
    id: state.count("milestone"),
    guid: random.guid(),
    status: "Pending",
    disputeId: null,
  };
}
