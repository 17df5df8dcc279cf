import type { Api } from "./api.ts";
import { createdUser, onboarding } from "./answer/read.ts";
import type { CreatedUser, Onboarding } from "./answer/user.ts";
import type { CallOptions } from "./http/call.ts";
import { checkInput } from "./input/check.ts";
import { phoneSchema, userSchema } from "./input/user-input.ts";
import type { PhoneInput, UserInput } from "./input/user-input.ts";

/** Calls about users. Each rejects with an `EscrowApiError`. */
export interface UserCalls {
  /** Reads the onboarding of the user with this phone number. Rejects with `error-response` and status 404 if there is none. */
  onboarding(input: PhoneInput, options?: CallOptions): Promise<Onboarding>;
  /** Creates a user, or returns the user who has this phone number. */
  create(input: UserInput, options?: CallOptions): Promise<CreatedUser>;
}

export function userCalls(api: Api): UserCalls {
  return {
    onboarding: async (input, options) => {
      const query = checkInput("users.onboarding", phoneSchema, input);
      const name = "users.onboarding";
      return api.send({ name, method: "GET", path: "/user/onboarding", query, read: onboarding }, options);
    },
    create: async (input, options) => {
      const body = checkInput("users.create", userSchema, input);
      const findOut = "Look the user up with users.onboarding and the phone number.";
      return api.send(
        { name: "users.create", method: "POST", path: "/user", body, read: createdUser, findOut },
        options,
      );
    },
  };
}
