import { Written } from "../wire/json.ts";
import { formatHalalas, shareOf } from "../wire/money.ts";
import type { FeeOptions } from "../world/options.ts";
import type { ContractRecord, MilestoneRecord } from "../world/records.ts";
import type { Settings } from "../world/settings.ts";

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

/** The buyer's price of a base amount, in halalas. */
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
export function createdPriceLines(price: Price, settings: Settings): Written {
  const heads = headsOf[settings.lineDescriptionCasing];
  return writeLines((index) => heads[index] ?? "", price, settings);
}

/** The lines as the get response prints them: with ids, which stay the same for one contract or milestone. */
export function readPriceLines(price: Price, ownerGuid: string, settings: Settings): Written {
  const stem = ownerGuid.slice(0, -1);
  return writeLines((index) => `{"id":"${stem}${index + 1}",${plainHeads[index] ?? ""}`, price, settings);
}

/** Each line ends alike; only what stands before its amount differs. */
function writeLines(headOf: (index: number) => string, price: Price, { amountStyle }: Settings): Written {
  const written = lines.map(
    ({ part }, index) =>
      `${headOf(index)}"amount":${formatHalalas(price[part], amountStyle)},"description":null,"order":${index + 1}}`,
  );
  return new Written(`[${written.join(",")}]`);
}

const plainHeads = lines.map(({ lineType, role }) => `"lineType":"${lineType}","role":"${role}",`);

const headsOf = {
  pascal: lines.map((line) => headWith(line, "LineTypeDescription", "RoleDescription")),
  camel: lines.map((line) => headWith(line, "lineTypeDescription", "roleDescription")),
  none: plainHeads.map((head) => `{${head}`),
};

function headWith(
  { lineType, role, text }: (typeof lines)[number],
  lineName: string,
  roleName: string,
): string {
  return `{"lineType":"${lineType}","${lineName}":"${text}","role":"${role}","${roleName}":"${roleTexts[role]}",`;
}
