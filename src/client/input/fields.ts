import { z } from "zod";
import { NumberText } from "../../events/json.ts";
import { idLengthMax, isBlank } from "../../shared/ids.ts";
import { plainDecimal, toMinorUnits } from "../../shared/money.ts";
import { parseWireTime } from "../../shared/wire-time.ts";

/** An amount that was checked. */
export interface CheckedAmount {
  /** Whole halalas. */
  readonly minor: number;
  /** The JSON number that is sent: the caller's own digits. */
  readonly json: NumberText;
}

/** SAR as a number or a decimal string: above zero, at most two decimals, exact. */
export const amount = z
  .union([z.number(), z.string()], { error: "expected a number or a decimal string" })
  .transform((value, context): CheckedAmount => {
    const read = toMinorUnits(String(value));
    const minor = read.ok && read.value.flags.length === 0 ? read.value.minor : null;
    if (minor !== null && minor > 0) {
      return { minor, json: new NumberText(plainDecimal(String(value), decimalLengthMax)) };
    }
    context.addIssue({
      code: "custom",
      message: explainAmount(read.ok ? read.value.flags[0] : "no-decimal"),
    });
    return z.NEVER;
  });

/** `2^53 - 1` halalas have 17 characters; leading and trailing zeros are gone by then. */
const decimalLengthMax = 32;

function explainAmount(fault: "amount-precision" | "amount-range" | "no-decimal" | undefined): string {
  if (fault === "amount-precision") return "expected at most two decimals; round before you send";
  if (fault === "amount-range") return "expected at most 90071992547409.91";
  if (fault === "no-decimal") return 'expected a number or a decimal string, such as 600 or "600.00"';
  return "expected an amount greater than 0";
}

/** A text that is not blank. */
export const text = z
  .string({ error: "expected a string" })
  .refine((value) => !isBlank(value), { error: "expected text that is not blank" });

/** A text that may be empty. */
export const anyText = z.string({ error: "expected a string" });

/** With its country code. Spaces, hyphens and brackets are left out of what is sent. */
export const phoneNumber = anyText
  .transform((value) => value.replaceAll(/[\s()-]/g, ""))
  .refine((value) => /^\+?[1-9]\d{7,14}$/.test(value), {
    error: "expected a phone number with its country code, such as +966500000001",
  });

/** Ten digits, the first a 1 or a 2. */
export const nationalId = anyText.refine((value) => /^[12]\d{9}$/.test(value), {
  error: "expected a national id: ten digits, the first a 1 or a 2",
});

export const iban = anyText
  .transform((value) => value.replaceAll(" ", "").toUpperCase())
  .refine((value) => /^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(value), {
    error: "expected an IBAN: two letters, two digits, then 11 to 30 letters or digits",
  });

/** UTC with a Z: the service takes no other zone (§1). */
export const utcTime = anyText.transform((value, context) => {
  const time = /^\d{4}-\d\d-\d\dT.*Z$/.test(value) ? parseWireTime(value) : undefined;
  if (time !== undefined) return time.text;
  context.addIssue({
    code: "custom",
    message: "expected a time in UTC with a Z, such as 2026-03-01T00:00:00Z",
  });
  return z.NEVER;
});

/** A date of birth: a date, or a time in UTC with a Z. */
export const birthDate = anyText.transform((value, context) => {
  const time = /^\d{4}-\d\d-\d\d(?:T.*Z)?$/.test(value) ? parseWireTime(value) : undefined;
  if (time !== undefined) return time.text;
  context.addIssue({ code: "custom", message: "expected a date, such as 1990-01-31" });
  return z.NEVER;
});

export const httpUrl = anyText.refine(isHttpUrl, {
  error: "expected an absolute http or https URL without user name and password",
});

/** A contract id, safe in a path. */
export const contractId = anyText.refine(
  (value) => value.length <= idLengthMax && /^[\w.~-]+$/.test(value) && !/^\.+$/.test(value),
  { error: "expected a contract id: letters, digits and - _ . ~ only" },
);

/** A milestone's id: a number, or its digits. Any other text is sent as text. */
export const milestoneId = z
  .union([z.int().nonnegative(), text.max(idLengthMax)], { error: "expected a number or a string" })
  .transform((value) => (/^(?:0|[1-9]\d*)$/.test(String(value)) ? new NumberText(String(value)) : value));

function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}
