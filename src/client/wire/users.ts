import { z } from "zod";
import { answerOf } from "./envelope.ts";
import { iban, named, nationalId, orEmpty, phoneNumber, text, url, utcTime } from "./schemas.ts";

/** Users and the token: §4.8, §5 and the supplement. */

export const newUser = named(
  "NewUser",
  "A new user.",
  z.object({
    phoneNumber,
    firstName: text,
    lastName: z.string().describe("May be empty."),
    nationalId: orEmpty(nationalId).nullish(),
    iBAN: orEmpty(iban).nullish(),
    bIC: z.string().nullish(),
    dateOfBirth: utcTime.nullish(),
  }),
);

export const userCreated = answerOf(
  "UserCreated",
  "The user, new or known before.",
  z.strictObject({ platformRefId: z.string().min(1), kycUrl: url }),
);

export const onboardingRetrieved = answerOf(
  "OnboardingRetrieved",
  "How far the user has come.",
  z.strictObject({
    platformRefId: z.string().min(1),
    onboardingUrl: url,
    onboardingCompleted: z.boolean(),
    isVerified: z.boolean(),
    kycCompleted: z.boolean(),
  }),
);

export const tokenRequest = named(
  "TokenRequest",
  "Client credentials.",
  z.object({
    grant_type: z.literal("client_credentials"),
    client_id: text,
    client_secret: text,
    scope: z.string().optional(),
  }),
);

export const token = named(
  "Token",
  "An access token. No envelope: this is OAuth's own shape.",
  z.strictObject({
    access_token: z.string().min(1),
    token_type: z.literal("Bearer"),
    expires_in: z.number().gt(0).describe("Seconds, as OAuth says; the service's guide says minutes."),
  }),
);
