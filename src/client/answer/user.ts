import type { UnknownFields } from "./contract.ts";

/** The state of a user's onboarding. */
export interface Onboarding extends UnknownFields {
  /** The user's id at the service. Pass it as a party's `platformRefId`. */
  readonly platformRefId: string;
  /** Where the user completes the onboarding. */
  readonly onboardingUrl?: string | null | undefined;
  /** Whether the user has authorized the service. A refund needs it. */
  readonly onboardingCompleted?: boolean | null | undefined;
  /** Whether the user's bank account is verified. */
  readonly isVerified?: boolean | null | undefined;
  /** Whether the user's identity is known. */
  readonly kycCompleted?: boolean | null | undefined;
}

/** The answer to `users.create`. */
export interface CreatedUser extends UnknownFields {
  /** The user's id at the service. Pass it as a party's `platformRefId`. */
  readonly platformRefId: string;
  /** Where the user proves their identity. */
  readonly kycUrl?: string | null | undefined;
}
