import type { Fields } from "../wire/fields.ts";
import type { UserRecord } from "../world/records.ts";

const phonePattern = /^\+?[1-9]\d{7,14}$/;
const nationalIdPattern = /^[12]\d{9}$/;
const ibanPattern = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/;

/** A party or user as a request names it, once its fields are known to be right. */
export interface Person extends Pick<UserRecord, PersonalField> {
  platformRefId: string | null;
}

type PersonalField = "phoneNumber" | "firstName" | "lastName" | "nationalId" | "iban" | "dateOfBirth";

/** §2.2, Party and KYC. */
export function readParty(fields: Fields, side: "buyer" | "seller"): Person {
  const platformRefId = fields.optionalText("platformRefId") || null;
  const required = platformRefId === null;
  const kyc = fields.object("KYC");
  kyc?.optionalText("bICCode");
  return {
    platformRefId,
    phoneNumber: required ? readPhone(fields, "phoneNumber") : (fields.optionalText("phoneNumber") ?? ""),
    firstName: required ? fields.text("firstName") : (fields.optionalText("firstName") ?? ""),
    lastName: required ? fields.textOrEmpty("lastName") : (fields.optionalText("lastName") ?? ""),
    nationalId: kyc === null ? null : readNationalId(kyc, "identity", true),
    iban: kyc === null ? null : readIban(kyc, "IBANNumber", side === "seller"),
    dateOfBirth: kyc?.optionalUtcTime("dateOfBirth") ?? null,
  };
}

/** `POST /apps/api/user` (supplement); names as in §2.2. */
export function readUser(fields: Fields): Person {
  fields.optionalText("bIC");
  return {
    platformRefId: null,
    phoneNumber: readPhone(fields, "phoneNumber"),
    firstName: fields.text("firstName"),
    lastName: fields.textOrEmpty("lastName"),
    nationalId: readNationalId(fields, "nationalId", false),
    iban: readIban(fields, "iBAN", false),
    dateOfBirth: fields.optionalUtcTime("dateOfBirth"),
  };
}

function readPhone(fields: Fields, name: string): string {
  const text = fields.text(name);
  const phoneNumber = text.replaceAll(/[\s()-]/g, "");
  if (text !== "" && !phonePattern.test(phoneNumber)) {
    fields.fail(name, "must be a phone number with its country code, such as +966500000001.");
  }
  return canonicalPhone(phoneNumber);
}

/** One phone is one user, however it is written: `+966 50 000 0001` and `966500000001`. */
export function canonicalPhone(text: string): string {
  const digits = text.replaceAll(/[\s()+-]/g, "");
  return digits === "" ? "" : `+${digits}`;
}

function readNationalId(fields: Fields, name: string, required: boolean): string | null {
  const value = required ? fields.text(name) : fields.optionalText(name);
  if (value && !nationalIdPattern.test(value)) {
    fields.fail(name, "must be a national id: ten digits, the first a 1 or a 2.");
  }
  return value || null;
}

function readIban(fields: Fields, name: string, required: boolean): string | null {
  const value = (required ? fields.text(name) : fields.optionalText(name))?.replaceAll(" ", "");
  if (value && !ibanPattern.test(value)) {
    fields.fail(name, "must be an IBAN: two letters, two check digits, then 11 to 30 letters or digits.");
  }
  return value || null;
}
