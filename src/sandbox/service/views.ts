import type { Json } from "../wire/json.ts";
import { Amount } from "../wire/money.ts";
import { createdPriceLines, grossOf, priceOf, priceOfContract, readPriceLines } from "./pricing.ts";
import type {
  ContractRecord,
  LogRecord,
  MilestoneRecord,
  RefundRecord,
  SubscriptionRecord,
  UserRecord,
} from "../world/records.ts";
import { checkoutUrl } from "./checkout.ts";
import type { LogPage } from "./delivery-log.ts";
import { identityUrl } from "./users.ts";
import { businessNameOf } from "../world/world.ts";
import type { World } from "../world/world.ts";

// How the service's answers look: each function is one table of §2.

/** §2.3 */
export function toCreatedContract(world: World, contract: ContractRecord): Json {
  const { settings } = world;
  return {
    contractId: contract.contractId,
    status: statusText(world, contract.status),
    contractServiceType: contract.serviceType.toLowerCase(),
    checkoutUrl: checkoutUrl(world, contract),
    buyerParty: party(world, contract.buyer),
    sellerParty: party(world, contract.seller),
    reference: contract.reference,
    metaData: metaData(contract),
    milestones: contract.milestones.map((milestone) => {
      const price = priceOf(milestone.amount, settings.fees);
      return recased(world, milestone.id, milestone, undefined, createdPriceLines(price, settings));
    }),
    pricingLineItems: createdPriceLines(priceOfContract(contract, settings.fees), settings),
    createdDate: contract.createdDate,
  };
}

/**
 * §2.7. The sample and the table differ; `getShape` chooses, and the default sends what either shows. What is undefined
 * is not written: an object that is put together from spreads costs more than all the rest of the request.
 */
export function toReadContract(world: World, contract: ContractRecord): Json {
  const { settings } = world;
  const table = settings.getShape !== "sample";
  const sample = settings.getShape !== "table";
  return {
    contractId: sample ? contract.contractId : undefined,
    id: sample ? undefined : contract.guid,
    reference: contract.reference,
    title: contract.title,
    description: contract.description,
    notes: contract.notes,
    amount: table ? new Amount(contract.amount) : undefined,
    status: statusText(world, contract.status),
    contractServiceType: contract.serviceType.toLowerCase(),
    buyerParty: party(world, contract.buyer),
    sellerParty: party(world, contract.seller),
    businessName: sample ? businessNameOf(world, contract.business) : undefined,
    createdDate: contract.createdDate,
    updatedDate: table ? contract.updatedDate : undefined,
    metaData: metaData(contract),
    milestones: contract.milestones.map((milestone) => toReadMilestone(world, milestone)),
    pricingLineItems: readPriceLines(priceOfContract(contract, settings.fees), contract.guid, settings),
    transactions: [],
  };
}

function toReadMilestone(world: World, milestone: MilestoneRecord): Json {
  const { fees, milestoneIdInGet } = world.settings;
  const id = milestoneIdInGet === "guid" ? milestone.guid : milestone.id;
  const priceLines = readPriceLines(priceOf(milestone.amount, fees), milestone.guid, world.settings);
  return recased(world, id, milestone, statusText(world, milestone.status), priceLines);
}

/** §2.5: camelCase in the tables, PascalCase in the samples; which one counts is not shown. */
function recased(
  world: World,
  id: number | string,
  milestone: MilestoneRecord,
  status: string | undefined,
  priceLines: Json,
): Json {
  const { name, description, dueDate } = milestone;
  const amount = new Amount(grossOf(priceOf(milestone.amount, world.settings.fees)));
  return world.settings.milestoneCasing === "pascal"
    ? {
        Id: id,
        Name: name,
        Description: description,
        DueDate: dueDate,
        Amount: amount,
        Status: status,
        PricingLineItems: priceLines,
      }
    : { id, name, description, amount, dueDate, status, pricingLineItems: priceLines };
}

/** §2.4 */
function party(world: World, platformRefId: string): Json {
  const user = world.state.users.get(platformRefId);
  return {
    platformRefId,
    firstName: user?.firstName ?? "",
    lastName: user?.lastName ?? "",
    phoneNumber: user?.phoneNumber ?? "",
  };
}

function metaData(contract: ContractRecord): Json {
  return contract.metaData === null ? null : { ...contract.metaData };
}

/** Supplement: lower case in the API, Pascal case in webhooks. */
function statusText(world: World, status: string): string {
  return world.settings.statusCasing === "pascal" ? status : status.toLowerCase();
}

/** §2.8 */
export function toRefund(refund: RefundRecord): Json {
  const { releasedToSellerAmount } = refund;
  return {
    refundId: refund.refundId,
    settlementId: refund.settlementId,
    milestoneId: refund.milestoneId,
    refundedAmount: new Amount(refund.refundedAmount),
    releasedToSellerAmount: releasedToSellerAmount === null ? null : new Amount(releasedToSellerAmount),
    type: refund.kind === "full" ? "FullRefund" : "PartialRefund",
    externalContractId: refund.contractId,
  };
}

/** Supplement. */
export function toSubscription(subscription: SubscriptionRecord): Json {
  const { business: _business, ...shown } = subscription;
  return shown;
}

/** §4.6 and §2.9 */
export function toLogPage({ logs, totalCount, page, pageSize }: LogPage): Json {
  return { logs: logs.map(toLogEntry), totalCount, page, pageSize };
}

function toLogEntry({ business: _business, ...shown }: LogRecord): Json {
  return shown;
}

/** Supplement. */
export function toCreatedUser(world: World, user: UserRecord): Json {
  return { platformRefId: user.platformRefId, kycUrl: identityUrl(world, user, "kyc") };
}

/** Supplement. */
export function toOnboarding(world: World, user: UserRecord): Json {
  return {
    platformRefId: user.platformRefId,
    onboardingUrl: identityUrl(world, user, "onboarding"),
    onboardingCompleted: user.authorized,
    isVerified: user.bankVerified,
    kycCompleted: user.nationalId !== null,
  };
}
