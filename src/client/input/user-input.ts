import { strictFields } from "../any-case.ts";
import { anyText, birthDate, iban, nationalId, phoneNumber, text } from "./fields.ts";

/** A new user. */
export interface UserInput {
  /** With its country code. */
  readonly phoneNumber: string;
  /** Not blank. */
  readonly firstName: string;
  /** May be `""`. */
  readonly lastName: string;
  /** Ten digits, the first a 1 or a 2. */
  readonly nationalId?: string | null | undefined;
  /** The user's bank account. */
  readonly iban?: string | null | undefined;
  /** The bank's BIC. */
  readonly bic?: string | null | undefined;
  /** A date, or a time in UTC with a `Z`. It is sent as a time. */
  readonly dateOfBirth?: string | null | undefined;
}

/** Checks a new user and gives the body that is sent. */
export const userSchema = strictFields({
  phoneNumber,
  firstName: text,
  lastName: anyText,
  nationalId: nationalId.nullish(),
  iban: iban.nullish(),
  bic: text.nullish(),
  dateOfBirth: birthDate.nullish(),
}).transform(({ iban: account, bic, ...user }) => ({ ...user, iBAN: account, bIC: bic }));

/** The user whose onboarding to read. */
export interface PhoneInput {
  /** With its country code. */
  readonly phoneNumber: string;
}

export const phoneSchema = strictFields({ phoneNumber });

/** The buyer for whom to renew the payment page. */
export interface CheckoutInput {
  /** The buyer's phone number, with its country code. */
  readonly buyerPhoneNumber: string;
}

export const checkoutSchema = strictFields({ buyerPhoneNumber: phoneNumber });
