import { ok } from "../../shared/result.ts";
import { refuse, refuseFields } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import { Fields } from "../wire/fields.ts";
import type { SmsRecord, UserRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";
import { canonicalPhone, readUser } from "./party.ts";
import type { Person } from "./party.ts";

/** §1: a party named by phone is the user with that phone, or a new one with a new platformRefId. */
export function findOrCreateUser(world: World, person: Person): UserRecord {
  const known =
    person.platformRefId === null
      ? world.state.userByPhone(person.phoneNumber)
      : world.state.users.get(person.platformRefId);
  return known === undefined ? createUser(world, person) : addKyc(world, known, person);
}

/** False for a platformRefId that names nobody. */
export function isKnown({ state }: World, { platformRefId }: Person): boolean {
  return platformRefId === null || state.users.has(platformRefId);
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
export function postUser(world: World, body: unknown): Granted<UserRecord> {
  const fields = new Fields(body);
  const person = readUser(fields);
  return fields.errors.length > 0 ? refuseFields(...fields.errors) : ok(findOrCreateUser(world, person));
}

/** `GET /apps/api/user/onboarding?phoneNumber=…` (supplement). */
export function findUserByPhone({ state }: World, given: string | null): Granted<UserRecord> {
  if (given === null || given.trim() === "") {
    return refuseFields({ field: "phoneNumber", message: "phoneNumber is required." });
  }
  const user = state.userByPhone(canonicalPhone(given));
  return user === undefined ? refuse(404, "UserNotFound", "No user has this phone number.") : ok(user);
}

export function findUser({ state }: World, platformRefId: string): Granted<UserRecord> {
  const user = state.users.get(platformRefId);
  if (user !== undefined) return ok(user);
  return refuse(404, "UserNotFound", `No user has the platformRefId ${platformRefId}.`);
}

/** The page where a user verifies the identity. */
export function identityUrl({ baseUrl }: World, user: UserRecord, kind: SmsRecord["kind"]): string {
  return `${baseUrl}/${kind}/${user.platformRefId}`;
}

/** The sandbox sends no text messages: it keeps them for you to read. */
export function sendSms(world: World, user: UserRecord, kind: SmsRecord["kind"]): void {
  const what = kind === "kyc" ? "Verify your identity" : "Complete your onboarding";
  const text = `${what}: ${identityUrl(world, user, kind)}`;
  world.state.addSms({ to: user.phoneNumber, kind, text, at: world.stamp() }, world.random.guid());
}
