import type { z } from "zod";
import { strictFields } from "../any-case.ts";
import { anyText, birthDate, iban, nationalId, phoneNumber, text } from "./fields.ts";

/**
 * A buyer or a seller. Give the `platformRefId` of a known user, or a phone number and a name. The service looks for a user
 * with this number. If there is none, it creates one.
 */
export interface PartyInput {
  /** The id of a user that the service knows. */
  readonly platformRefId?: string | null | undefined;
  /** With its country code. Required without `platformRefId`. */
  readonly phoneNumber?: string | null | undefined;
  /** Required without `platformRefId`; not blank. */
  readonly firstName?: string | null | undefined;
  /** Required without `platformRefId`; may be `""`. */
  readonly lastName?: string | null | undefined;
  /** Proof of identity. Without it the service asks the buyer or seller for it. */
  readonly kyc?: KycInput | null | undefined;
}

/** Proof of identity and where to pay to. */
export interface KycInput {
  /** The national id: ten digits, the first a 1 or a 2. */
  readonly identity: string;
  /** The bank account. Required for the seller. */
  readonly ibanNumber?: string | null | undefined;
  /** The bank's BIC. */
  readonly bicCode?: string | null | undefined;
  /** A date, or a time in UTC with a `Z`. It is sent as a time. */
  readonly dateOfBirth?: string | null | undefined;
}

/** Checks a party and gives it as it is sent (§2.2). */
export function partySchema(side: "buyer" | "seller") {
  return strictFields({
    platformRefId: text.nullish(),
    phoneNumber: phoneNumber.nullish(),
    firstName: anyText.nullish(),
    lastName: anyText.nullish(),
    kyc: kycSchema(side).nullish(),
  })
    .superRefine(checkNames)
    .transform(({ kyc, ...party }) => ({ ...party, KYC: kyc }));
}

function kycSchema(side: "buyer" | "seller") {
  return strictFields({
    identity: nationalId,
    ibanNumber: side === "seller" ? iban : iban.nullish(),
    bicCode: text.nullish(),
    dateOfBirth: birthDate.nullish(),
  }).transform(({ ibanNumber, bicCode, ...kyc }) => ({ ...kyc, IBANNumber: ibanNumber, bICCode: bicCode }));
}

type Named = Pick<PartyInput, "platformRefId" | "phoneNumber" | "firstName" | "lastName">;

function checkNames(party: Named, context: z.RefinementCtx): void {
  if (typeof party.platformRefId === "string") return;
  for (const name of ["phoneNumber", "firstName", "lastName"] as const) {
    const value = party[name];
    if (typeof value === "string" && (name === "lastName" || value.trim() !== "")) continue;
    context.addIssue({ code: "custom", path: [name], message: "required without platformRefId" });
  }
}
