import { parseWireTime } from "../../shared/wire-time.ts";
import type { ValidationError } from "./refusal.ts";
import { parseHalalas } from "./money.ts";

/** Rows of a list, milestones above all: far above any contract, far below what would hurt. */
const listItemsMax = 1_000;
/** The only form that the service takes (§1). Which days there are, `parseWireTime` knows. */
const utcForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z$/;

/**
 * Reads a request body field by field and collects what is wrong with it under the field's own name, so that one
 * answer names every fault. Keys match in any casing: the documents themselves write `callbackUrl` and
 * `callbackurl`, `KYC` and `kyc`.
 */
export class Fields {
  readonly errors: ValidationError[];
  readonly #path: string;
  readonly #values = new Map<string, unknown>();

  constructor(body: unknown, path = "", errors: ValidationError[] = []) {
    this.#path = path;
    this.errors = errors;
    if (typeof body !== "object" || body === null || Array.isArray(body)) {
      this.fail("", "must be a JSON object.");
      return;
    }
    for (const [name, value] of Object.entries(body)) this.#values.set(name.toLowerCase(), value);
  }

  fail(name: string, message: string): undefined {
    const field = [this.#path, name].filter((part) => part !== "").join(".") || "body";
    this.errors.push({ field, message: `${field} ${message}` });
    return undefined;
  }

  has(name: string): boolean {
    return this.#read(name) !== undefined;
  }

  /** A required text that is not blank. */
  text(name: string, charactersMax = Infinity): string {
    const value = this.optionalText(name, charactersMax);
    if (value !== null && value.trim() !== "") return value;
    if (!this.#failed(name)) this.fail(name, "is required.");
    return "";
  }

  /** A required text that may be empty (§2.2, lastName). */
  textOrEmpty(name: string): string {
    const value = this.optionalText(name);
    if (value === null && !this.#failed(name)) this.fail(name, "is required; it may be an empty string.");
    return value ?? "";
  }

  optionalText(name: string, charactersMax = Infinity): string | null {
    const value = this.#read(name);
    if (value === undefined) return null;
    if (typeof value !== "string") return this.fail(name, `must be a string, not ${kindOf(value)}.`) ?? null;
    if (value.length <= charactersMax) return value;
    return this.fail(name, `has ${value.length} characters; at most ${charactersMax} are allowed.`) ?? null;
  }

  oneOf<const T extends string>(name: string, allowed: readonly [T, ...T[]]): T {
    const value = this.text(name);
    const match = allowed.find((item) => item === value);
    if (match === undefined && !this.#failed(name)) this.fail(name, `must be ${allowed.join(" or ")}.`);
    return match ?? allowed[0];
  }

  /** A required amount of SAR above zero with at most two decimals, in halalas; 0 where it is wrong. */
  amount(name: string): number {
    const value = this.#read(name);
    if (value === undefined) return this.fail(name, "is required.") ?? 0;
    if (typeof value !== "number") return this.fail(name, `must be a number, not ${kindOf(value)}.`) ?? 0;
    const halalas = parseHalalas(value);
    return halalas.ok ? halalas.value : (this.fail(name, halalas.error) ?? 0);
  }

  optionalInteger(name: string): number | null {
    const value = this.#read(name);
    if (value === undefined) return null;
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    return this.fail(name, `must be an integer, not ${kindOf(value)}.`) ?? null;
  }

  /** §1: times sent to the service are UTC ISO 8601 with a Z suffix. */
  utcTime(name: string): string {
    return this.#checkTime(name, this.text(name));
  }

  optionalUtcTime(name: string): string | null {
    const value = this.optionalText(name);
    return value === null ? null : this.#checkTime(name, value);
  }

  #checkTime(name: string, value: string): string {
    const right = utcForm.test(value) && parseWireTime(value) !== undefined;
    if (!right && !this.#failed(name)) this.fail(name, `must be ${timeForm}.`);
    return value;
  }

  /** A required absolute http or https URL. */
  url(name: string): string {
    const value = this.text(name);
    if (value !== "" && !isHttpUrl(value)) this.fail(name, `must be ${urlForm}.`);
    return value;
  }

  optionalUrl(name: string): string | null {
    const value = this.optionalText(name);
    if (value === null || value === "" || isHttpUrl(value)) return value === "" ? null : value;
    return this.fail(name, `must be ${urlForm}.`) ?? null;
  }

  object(name: string): Fields | null {
    const value = this.#read(name);
    return value === undefined ? null : new Fields(value, this.#nested(name), this.errors);
  }

  list(name: string): Fields[] {
    const value = this.#read(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) return this.fail(name, `must be a list, not ${kindOf(value)}.`) ?? [];
    if (value.length > listItemsMax)
      return this.fail(name, `must have at most ${listItemsMax} entries.`) ?? [];
    return value.map((item, index) => new Fields(item, this.#nested(`${name}[${index}]`), this.errors));
  }

  #read(name: string): unknown {
    return this.#values.get(name.toLowerCase()) ?? undefined;
  }

  #nested(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }

  #failed(name: string): boolean {
    return this.errors.some(({ field }) => field === this.#nested(name));
  }
}

const timeForm = "a UTC time that exists, in ISO 8601 with a Z suffix, such as 2026-03-01T00:00:00Z";
export const urlForm = "an absolute http or https URL without user name and password";

export function isHttpUrl(text: unknown): boolean {
  if (typeof text !== "string" || !URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
