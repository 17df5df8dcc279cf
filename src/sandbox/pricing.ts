import type { Json } from "./json.ts";
import { Amount, shareOf } from "./money.ts";
import type { FeeOptions } from "./options.ts";
import type { ContractRecord, MilestoneRecord } from "./records.ts";
import type { Settings } from "./settings.ts";

/** §2.6: the six lines, in their order. */
const lines = [
  { lineType: "contractAmount", role: "buyer", part: "amount", text: "Contract amount" },
  { lineType: "escrowFee", role: "thirdParty", part: "escrowFee", text: "Escrow fee" },
  { lineType: "escrowFeeTax", role: "thirdParty", part: "escrowFeeTax", text: "VAT on the escrow fee" },
  { lineType: "externalPlatformFee", role: "buyer", part: "platformFee", text: "Platform fee" },
  {
    lineType: "externalPlatformFeeTax",
    role: "buyer",
    part: "platformFeeTax",
    text: "VAT on the platform fee",
  },
  { lineType: "netEscrowAmountToSeller", role: "seller", part: "amount", text: "Net amount to the seller" },
] as const;

const roleTexts = { buyer: "Buyer", seller: "Seller", thirdParty: "Third party" } as const;

/** What a base amount costs the buyer, in halalas. */
export interface Price {
  amount: number;
  escrowFee: number;
  escrowFeeTax: number;
  platformFee: number;
  platformFeeTax: number;
}

export function priceOf(amount: number, fees: FeeOptions): Price {
  const escrowFee = shareOf(amount, fees.escrowBasisPoints);
  const platformFee = shareOf(amount, fees.platformBasisPoints);
  return {
    amount,
    escrowFee,
    escrowFeeTax: shareOf(escrowFee, fees.vatBasisPoints),
    platformFee,
    platformFeeTax: shareOf(platformFee, fees.vatBasisPoints),
  };
}

/** A contract with milestones costs what its milestones cost, so that the two never differ by a rounded halala. */
export function priceOfContract(contract: ContractRecord, fees: FeeOptions): Price {
  const parts: Pick<MilestoneRecord, "amount">[] =
    contract.milestones.length > 0 ? contract.milestones : [contract];
  return parts.map(({ amount }) => priceOf(amount, fees)).reduce(addPrices);
}

function addPrices(one: Price, other: Price): Price {
  return {
    amount: one.amount + other.amount,
    escrowFee: one.escrowFee + other.escrowFee,
    escrowFeeTax: one.escrowFeeTax + other.escrowFeeTax,
    platformFee: one.platformFee + other.platformFee,
    platformFeeTax: one.platformFeeTax + other.platformFeeTax,
  };
}

/** Base and all fees and taxes: 600.00 → 686.25 (§2.5). */
export function grossOf(price: Price): number {
  return price.amount + price.escrowFee + price.escrowFeeTax + price.platformFee + price.platformFeeTax;
}

/** The lines as the creation response prints them. */
export function createdPriceLines(price: Price, settings: Settings): Json {
  const casing = settings.lineDescriptionCasing;
  return lines.map(({ lineType, role, part, text }, index) => ({
    lineType,
    ...(casing === "pascal" ? { LineTypeDescription: text } : {}),
    ...(casing === "camel" ? { lineTypeDescription: text } : {}),
    role,
    ...(casing === "pascal" ? { RoleDescription: roleTexts[role] } : {}),
    ...(casing === "camel" ? { roleDescription: roleTexts[role] } : {}),
    amount: new Amount(price[part]),
    description: null,
    order: index + 1,
  }));
}

/** The lines as the get response prints them: with ids, which stay the same for one contract or milestone. */
export function readPriceLines(price: Price, ownerGuid: string): Json {
  return lines.map(({ lineType, role, part }, index) => ({
    id: `${ownerGuid.slice(0, -1)}${index + 1}`,
    lineType,
    role,
    amount: new Amount(price[part]),
    description: null,
    order: index + 1,
  }));
}
