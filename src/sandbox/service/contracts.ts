import { ok } from "../../shared/result.ts";
import { refuse, refuseFields } from "../wire/answer.ts";
import type { Outcome } from "../wire/answer.ts";
import { emitContractEvent } from "./events.ts";
import { Fields } from "../wire/fields.ts";
import type { ContractRecord, MetaDataRecord, MilestoneRecord, UserRecord } from "../world/records.ts";
import { canonicalPhone, findOrCreateUser, readParty, sendSms } from "./users.ts";
import type { World } from "../world/world.ts";

const contractsMax = 1_000_000;
const contractIdPattern = /^CNT-\d{4}-\d{8,}$/;

/** §4.1. The body is parsed JSON and nothing is known about it yet. */
export function createContract(world: World, business: string, body: unknown): Outcome<ContractRecord> {
  if (world.state.contracts.size >= contractsMax) {
    return refuse(503, "SandboxFull", `The sandbox holds ${contractsMax} contracts. Restart it.`);
  }
  const fields = new Fields(body);
  const draft = readContract(fields);
  const [buyerPerson, sellerPerson] = readParties(fields);
  if (fields.errors.length > 0) return refuseFields(...fields.errors);
  for (const [name, person] of [
    ["BuyerParty", buyerPerson] as const,
    ["SellerParty", sellerPerson] as const,
  ]) {
    if (person?.platformRefId && !world.state.users.has(person.platformRefId)) {
      return refuseFields({
        field: `${name}.platformRefId`,
        message: `${name}.platformRefId names no user.`,
      });
    }
  }
  const buyer = buyerPerson && findOrCreateUser(world, buyerPerson);
  const seller = sellerPerson && findOrCreateUser(world, sellerPerson);
  if (!buyer || !seller) return refuseFields({ field: "BuyerParty", message: "BuyerParty names no user." });
  const contract = buildContract(world, business, draft, buyer, seller);
  world.state.saveContract(contract);
  sendSms(world, seller, "kyc");
  emitContractEvent(world, contract, "contract.created", { previousStatus: null });
  return ok(contract);
}

type Draft = ReturnType<typeof readContract>;

function readContract(fields: Fields) {
  const amount = fields.amount("amount");
  return {
    title: fields.text("title"),
    serviceType: fields.oneOf("contractServiceType", ["Product", "Service"]),
    amount,
    description: fields.optionalText("description"),
    notes: fields.optionalText("notes"),
    reference: fields.optionalText("reference"),
    metaData: readMetaData(fields.object("metaData")),
    callbackUrl: fields.optionalUrl("callbackUrl"),
    milestones: readMilestones(fields, amount),
  };
}

function readParties(fields: Fields) {
  return (["BuyerParty", "SellerParty"] as const).map((name) => {
    const party = fields.object(name);
    if (party === null) return fields.fail(name, "is required.");
    return readParty(party, name === "SellerParty" ? "seller" : "buyer");
  });
}

function readMetaData(fields: Fields | null): MetaDataRecord | null {
  if (fields === null) return null;
  const metaData: MetaDataRecord = {};
  for (const name of ["metadata1", "metadata2", "metadata3", "metadata4"] as const) {
    const value = fields.optionalText(name);
    if (value !== null) metaData[name] = value;
  }
  return metaData;
}

/** §2.2: each above 0 and below the contract's amount, and together exactly that amount. */
function readMilestones(fields: Fields, contractAmount: number) {
  const items = fields.list("Milestones");
  const milestones = items.map((item) => {
    const amount = item.amount("Amount");
    if (amount > 0 && contractAmount > 0 && amount >= contractAmount) {
      item.fail("Amount", "must be lower than the contract amount.");
    }
    return {
      name: item.text("Name"),
      description: item.optionalText("Description"),
      amount,
      dueDate: item.utcTime("DueDate"),
    };
  });
  const sum = milestones.reduce((total, { amount }) => total + amount, 0);
  if (milestones.length > 0 && sum !== contractAmount && milestones.every(({ amount }) => amount > 0)) {
    fields.fail("Milestones", "must add up to the contract amount.");
  }
  return milestones;
}

function buildContract(
  world: World,
  business: string,
  draft: Draft,
  buyer: UserRecord,
  seller: UserRecord,
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
    milestones: draft.milestones.map((milestone): MilestoneRecord => ({
      ...milestone,
      id: world.state.count("milestone"),
      guid: world.random.guid(),
      status: "Pending",
      disputeId: null,
    })),
    payment: null,
    disputeId: null,
    checkout: newCheckout(world),
    createdDate,
    updatedDate: createdDate,
  };
}

function newCheckout(world: World): ContractRecord["checkout"] {
  return { token: world.random.hex(16), expiresAtMs: world.clock.now() + world.settings.checkoutTokenMs };
}

/** §2.3: the payment page's address, with a token that lives ten minutes (§8). */
export function checkoutUrl(world: World, contract: ContractRecord): string {
  return `${world.baseUrl}/checkout/${contract.contractId}?token=${contract.checkout.token}`;
}

/** §4.3: 400 for what can't be an id, 404 for one that names nothing (or another business's contract). */
export function findContract(world: World, contractId: string, business?: string): Outcome<ContractRecord> {
  if (!contractIdPattern.test(contractId)) {
    return refuse(400, "InvalidContractId", "A contract id looks like CNT-2601-00100003.");
  }
  const contract = world.state.contracts.get(contractId);
  if (contract === undefined || (business !== undefined && contract.business !== business)) {
    return refuse(404, "ContractNotFound", `There is no contract ${contractId}.`);
  }
  return ok(contract);
}

/** §4.2 and supplement. The token before stops at once. */
export function renewCheckout(world: World, business: string, body: unknown): Outcome<ContractRecord> {
  const fields = new Fields(body);
  const phoneNumber = canonicalPhone(fields.text("buyerPhoneNumber"));
  const contractId = fields.text("externalContractId");
  if (fields.errors.length > 0) return refuseFields(...fields.errors);
  const found = findContract(world, contractId, business);
  if (!found.ok) return found;
  const contract = found.value;
  if (world.state.users.get(contract.buyer)?.phoneNumber !== phoneNumber) {
    return refuseFields({
      field: "buyerPhoneNumber",
      message: "buyerPhoneNumber is not this contract's buyer's.",
    });
  }
  if (contract.status !== "Pending" && contract.status !== "Approved") {
    return refuse(
      400,
      "InvalidContractStatus",
      `The contract is ${contract.status}: there is nothing to pay.`,
    );
  }
  contract.checkout = newCheckout(world);
  world.state.saveContract(contract);
  return ok(contract);
}
