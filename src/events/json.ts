import { parse as parseLossless } from "lossless-json";
import { plainDecimal, readDecimal } from "../shared/money.ts";
import { err, ok } from "../shared/result.ts";
import type { Result } from "../shared/result.ts";

/** Why a text gives no value. `detail` never quotes the text. */
export interface JsonProblem {
  readonly reason: "not-json" | "too-deep";
  readonly detail: string;
}

/** A number that a JavaScript number can't hold exactly. `text` has its digits as received. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** A decimal string, so that a payload can always be logged. */
  toJSON(): string {
    return this.text;
  }
}

/** Stands where one key of an object came twice with different values: no reader may pick one. */
export const ambiguous: unique symbol = Symbol("ambiguous");

/** Objects and arrays nested deeper than this are not read. The service nests three deep. */
export const jsonDepthMax = 512;

/**
 * JSON whose numbers keep their digits: a number that a JavaScript number would change comes as `NumberText`.
 * A key that stands twice in an object is one truth when both values are equal, and `ambiguous` when not.
 *
 * Almost every text is read by `JSON.parse`; one whose digits could be lost or that may hold a key twice is
 * read again by lossless-json, several times slower. Both give the same value for the same text.
 */
export function parseExactJson(text: string): Result<unknown, JsonProblem> {
  const native = parseNative(text);
  if (!native.ok) return native;
  const { keys, depth, bareNumbers } = measureTree(native.value);
  // A bound of our own: where the library's recursion overflows depends on who called it, and what is
  // quarantined may not depend on that.
  if (depth > jsonDepthMax) return err({ reason: "too-deep", detail: `nested deeper than ${jsonDepthMax}` });
  if (!bareNumbers && keys === countKeyTokens(text)) return native;
  return ok(parseLossless(text, null, { parseNumber, onDuplicateKey: () => ambiguous }));
}

/** A number in its one plain spelling (`100` for `1e2` and `100.0`), unless that is absurdly long. */
export function numberToText(value: number | NumberText): string {
  return Number.isSafeInteger(value) ? String(value) : plainDecimal(String(value), plainLengthMax);
}

const plainLengthMax = 255;

/** Decimal digits that always survive the way through a JavaScript number. */
const exactDigitsMax = 15;

/** Powers of ten that a JavaScript number holds with room to spare, and whose plain spelling stays in bounds. */
const exactExponentMax = 200;

const unsure = -1;

// The engine's own message quotes the text, so it is not passed on.
function parseNative(text: string): Result<unknown, JsonProblem> {
  try {
    return ok(JSON.parse(text));
  } catch {
    return err({ reason: "not-json", detail: text === "" ? "the body is empty" : "the body is not JSON" });
  }
}

// Level by level instead of recursively: the text's nesting is the sender's choice.
function measureTree(root: unknown): { keys: number; depth: number; bareNumbers: boolean } {
  const tree = { keys: 0, depth: 0, bareNumbers: typeof root === "number" };
  for (let level = isNested(root) ? [root] : []; level.length > 0; tree.depth++) {
    const next: object[] = [];
    for (const nested of level) measureLevel(nested, tree, next);
    level = next;
  }
  return tree;
}

function measureLevel(nested: object, tree: { keys: number; bareNumbers: boolean }, next: object[]): void {
  if (Array.isArray(nested)) {
    for (const value of nested as unknown[])
      if (isNested(value)) next.push(value);
      else tree.bareNumbers ||= typeof value === "number";
    return;
  }
  // `for in` sees what JSON.parse made and nothing else, and makes no array on the way.
  for (const key in nested) {
    tree.keys++;
    const value = (nested as Record<string, unknown>)[key];
    if (isNested(value)) next.push(value);
  }
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Counts `":`, which ends every key once no white space stands before a colon. Inside a string the same may stand after
 * an escape: then the count is too high and the text is read the slow way, nothing worse. It is never too low, so that
 * no string can make up for a key that stands twice. `unsure` where white space stands before a colon, and where a number
 * after a colon is so long, or has an exponent, that digits could be lost. Numbers elsewhere are `bareNumbers`.
 */
function countKeyTokens(text: string): number {
  if (spacedColon.test(text)) return unsure;
  let keys = 0;
  for (let end = text.indexOf(keyEnd); end !== -1; end = text.indexOf(keyEnd, end + keyEnd.length)) {
    keys++;
    if (digitsMayBeLost(text, end + keyEnd.length)) return unsure;
  }
  return keys;
}

const keyEnd = '":';
const spacedColon = /[ \t\n\r]:/;

function digitsMayBeLost(text: string, from: number): boolean {
  let start = from;
  while (isWhiteSpace(text.charCodeAt(start))) start++;
  let end = start;
  while (isNumberPart(text.charCodeAt(end))) end++;
  if (end === start) return false;
  const next = text.charCodeAt(end);
  return end - start > exactDigitsMax || next === lowerE || next === upperE;
}

function parseNumber(text: string): number | NumberText {
  const decimal = readDecimal(text);
  const exact =
    decimal !== undefined &&
    decimal.digits.length <= exactDigitsMax &&
    Math.abs(decimal.exponent) <= exactExponentMax;
  return exact ? Number(text) : new NumberText(text);
}

function isWhiteSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isNumberPart(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2d;
}

const lowerE = 0x65;
const upperE = 0x45;
