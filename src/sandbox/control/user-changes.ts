import { ok } from "../../shared/result.ts";
import { refuse, refuseFields } from "../wire/answer.ts";
import type { Outcome } from "../wire/answer.ts";
import type { UserRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";

const flags = ["authorized", "bankVerified", "ibanResolves", "known"] as const satisfies (keyof UserRecord)[];

/** Sets what the buyer checks of §4.4 see. */
export function changeUser(world: World, platformRefId: string, change: object): Outcome<UserRecord> {
  const user = world.state.users.get(platformRefId);
  if (user === undefined)
    return refuse(404, "UserNotFound", `No user has the platformRefId ${platformRefId}.`);
  for (const [name, value] of Object.entries(change)) {
    const flag = flags.find((known) => known === name);
    if (flag === undefined)
      return refuseFields({ field: name, message: `${name} is none of ${flags.join(", ")}.` });
    if (typeof value !== "boolean")
      return refuseFields({ field: name, message: `${name} must be true or false.` });
  }
  Object.assign(user, change);
  world.state.saveUser(user);
  return ok(user);
}
