import { ok } from "../../shared/result.ts";
import { refuse, refuseFields } from "../wire/answer.ts";
import type { Outcome } from "../wire/answer.ts";
import { Fields } from "../wire/fields.ts";
import type { Json } from "../wire/json.ts";
import type { SmsRecord, UserRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";

const phonePattern = /^\+?[1-9]\d{7,14}$/;
const nationalIdPattern = /^[12]\d{9}$/;
const ibanPattern = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/;

/** A party or user as a request names it, once its fields are known to be right. */
export interface Person {
  platformRefId: string | null;
  phoneNumber: string;
  firstName: string;
  lastName: string;
  nationalId: string | null;
  iban: string | null;
  dateOfBirth: string | null;
}

/** §2.2, Party and KYC. */
export function readParty(fields: Fields, side: "buyer" | "seller"): Person {
  const platformRefId = fields.optionalText("platformRefId") || null;
  const required = platformRefId === null;
  const kyc = fields.object("KYC");
  return {
    platformRefId,
    phoneNumber: required ? readPhone(fields, "phoneNumber") : (fields.optionalText("phoneNumber") ?? ""),
    firstName: required ? fields.text("firstName") : (fields.optionalText("firstName") ?? ""),
    lastName: required ? fields.textOrEmpty("lastName") : (fields.optionalText("lastName") ?? ""),
    nationalId: kyc === null ? null : readNationalId(kyc, "identity", true),
    iban: kyc === null ? null : readIban(kyc, "IBANNumber", side === "seller"),
    dateOfBirth: kyc?.optionalDate("dateOfBirth") ?? null,
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

/**
 * §1: a party named by phone is the user with that phone, or a new one with a new platformRefId. Undefined: the
 * platformRefId names nobody.
 */
export function findOrCreateUser(world: World, person: Person): UserRecord | undefined {
  const { state } = world;
  if (person.platformRefId !== null) {
    const known = state.users.get(person.platformRefId);
    return known === undefined ? undefined : addKyc(world, known, person);
  }
  const samePhone = state.userByPhone(person.phoneNumber);
  return samePhone === undefined ? createUser(world, person) : addKyc(world, samePhone, person);
}

function createUser(world: World, person: Person): UserRecord {
  const { authorized, bankVerified, ibanResolves } = world.settings.newUsers;
  const user: UserRecord = {
    platformRefId: world.random.guid(),
    phoneNumber: person.phoneNumber,
    firstName: person.firstName,
    lastName: person.lastName,
    nationalId: person.nationalId,
    iban: person.iban,
    dateOfBirth: person.dateOfBirth,
    authorized,
    bankVerified,
    ibanResolves: ibanResolves || person.iban !== null,
    known: true,
  };
  world.state.saveUser(user);
  return user;
}

function addKyc(world: World, user: UserRecord, person: Person): UserRecord {
  if (person.nationalId === null && person.iban === null && person.dateOfBirth === null) return user;
  user.nationalId = person.nationalId ?? user.nationalId;
  user.iban = person.iban ?? user.iban;
  user.dateOfBirth = person.dateOfBirth ?? user.dateOfBirth;
  world.state.saveUser(user);
  return user;
}

/** `POST /apps/api/user` (supplement). */
export function postUser(world: World, body: unknown): Outcome<Json> {
  const fields = new Fields(body);
  const person: Person = {
    platformRefId: null,
    phoneNumber: readPhone(fields, "phoneNumber"),
    firstName: fields.text("firstName"),
    lastName: fields.text("lastName"),
    nationalId: readNationalId(fields, "nationalId", false),
    iban: readIban(fields, "iBAN", false),
    dateOfBirth: fields.optionalDate("dateOfBirth"),
  };
  fields.optionalText("bIC");
  if (fields.errors.length > 0) return refuseFields(...fields.errors);
  const user = findOrCreateUser(world, person) ?? createUser(world, person);
  return ok({ platformRefId: user.platformRefId, kycUrl: onboardingUrl(world, user, "kyc") });
}

/** `GET /apps/api/user/onboarding?phoneNumber=…` (supplement). */
export function getOnboarding(world: World, query: URLSearchParams): Outcome<Json> {
  const given = query.get("phoneNumber");
  if (given === null || given.trim() === "") {
    return refuseFields({ field: "phoneNumber", message: "phoneNumber is required." });
  }
  const user = world.state.userByPhone(canonicalPhone(given));
  if (user === undefined) return refuse(404, "UserNotFound", "No user has this phone number.");
  return ok({
    platformRefId: user.platformRefId,
    onboardingUrl: onboardingUrl(world, user, "onboarding"),
    onboardingCompleted: user.authorized,
    isVerified: user.bankVerified,
    kycCompleted: user.nationalId !== null,
  });
}

function onboardingUrl(world: World, user: UserRecord, kind: "kyc" | "onboarding"): string {
  return `${world.baseUrl}/${kind}/${user.platformRefId}`;
}

/** The sandbox sends no text messages: it keeps them for you to read. */
export function sendSms(world: World, user: UserRecord, kind: SmsRecord["kind"]): void {
  const what = kind === "kyc" ? "Verify your identity" : "Complete your onboarding";
  const text = `${what}: ${onboardingUrl(world, user, kind)}`;
  world.state.addSms({ to: user.phoneNumber, kind, text, at: world.stamp() }, world.random.guid());
}
