import { stringify } from "lossless-json";
import { NumberText } from "../../events/json.ts";

/** JSON with exact numbers. Fields that are absent or `null` are left out: the service reads both alike. */
export function writeJson(body: object): string {
  return stringify(body, withoutNull, undefined, [exactNumber]) ?? "";
}

const exactNumber = {
  test: (value: unknown) => value instanceof NumberText,
  stringify: (value: unknown) => String(value),
};

function withoutNull(_key: string, value: unknown): unknown {
  return value === null ? undefined : value;
}

/** Fields whose values identify a person or an account, by their wire names. */
const personal: ReadonlySet<string> = new Set([
  "phoneNumber",
  "buyerPhoneNumber",
  "identity",
  "nationalId",
  "IBANNumber",
  "iBAN",
]);

/** Texts that no error of a call with these may contain. */
export function secretsOf(...sources: readonly (object | undefined)[]): readonly string[] {
  return sources.flatMap((source) =>
    Object.entries(source ?? {}).flatMap(([name, value]: [string, unknown]) => {
      if (typeof value === "object" && value !== null) return secretsOf(value);
      return typeof value === "string" && personal.has(name) ? [value] : [];
    }),
  );
}
