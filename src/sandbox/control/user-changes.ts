import { ok } from "../../shared/result.ts";
import { findUser } from "../service/users.ts";
import { refuseFields } from "../wire/refusal.ts";
import type { Granted, ValidationError } from "../wire/refusal.ts";
import type { UserRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";

/** The fields of a user that can change. */
const flags = ["authorized", "bankVerified", "ibanResolves", "known"] as const satisfies (keyof UserRecord)[];

/** Changes to a user, for the checks before a refund. Absent fields stay as they are. */
export type UserChange = Partial<Pick<UserRecord, (typeof flags)[number]>>;

/** Sets what the buyer checks of §4.4 see. */
export function changeUser(world: World, platformRefId: string, change: object): Granted<UserRecord> {
  const user = findUser(world, platformRefId);
  if (!user.ok) return user;
  const errors = Object.entries(change).flatMap(([name, value]) => whatIsWrong(name, value));
  if (errors.length > 0) return refuseFields(...errors);
  Object.assign(user.value, change);
  world.state.saveUser(user.value);
  return ok({ ...user.value });
}

function whatIsWrong(field: string, value: unknown): ValidationError[] {
  if (!flags.some((flag) => flag === field))
    return [{ field, message: `${field} is not one of ${flags.join(", ")}.` }];
  return typeof value === "boolean" ? [] : [{ field, message: `${field} must be true or false.` }];
}
