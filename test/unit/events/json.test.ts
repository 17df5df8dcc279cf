import * as fc from "fast-check";
import { parse as parseLossless } from "lossless-json";
import { describe, expect, it } from "vitest";
import {
  ambiguous,
  jsonDepthMax,
  NumberText,
  numberToText,
  parseExactJson,
} from "../../../src/events/json.ts";

function valueOf(text: string): unknown {
  const json = parseExactJson(text);
  if (!json.ok) throw new Error(json.error.detail);
  return json.value;
}

function membersOf(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error("no object");
  return Object.fromEntries(Object.entries(value));
}

// A second key, equal to the first, turns a text over to the slow path without changing what it says.
function viaSlowPath(text: string): unknown {
  return membersOf(valueOf(`{"v":0,"v":0,"w":${text}}`))["w"];
}

function nested(depth: number, core: string): string {
  return "[".repeat(depth) + core + "]".repeat(depth);
}

function isLosslessJson(text: string): boolean {
  try {
    parseLossless(text, null, { onDuplicateKey: () => ambiguous });
    return true;
  } catch {
    return false;
  }
}

describe("parseExactJson", () => {
  it.each([
    "9007199254740993",
    "9223372036854775808",
    "12345678901234.56",
    "0.1000000000000000055",
    "1e400",
    "1e-400",
  ])("keeps the digits of %s wherever it stands", (digits) => {
    const exact = new NumberText(digits);
    expect(valueOf(`{"a":${digits}}`)).toEqual({ a: exact });
    expect(valueOf(`{ "a" :\n\t\r ${digits} }`)).toEqual({ a: exact });
    expect(valueOf(`{"a":[1,${digits}]}`)).toEqual({ a: [1, exact] });
    expect(valueOf(`[-${digits}]`)).toEqual([new NumberText(`-${digits}`)]);
    expect(valueOf(digits)).toEqual(exact);
  });

  it.each([
    ["600.00", 600],
    ["1e2", 100],
    ["1E-2", 0.01],
    ["-12.5", -12.5],
    ["600.000000000000000000", 600],
    ["0.000000000000000000001", 1e-21],
    ["999999999999999", 999_999_999_999_999],
  ])("reads %s, of which nothing is lost, as a number", (digits, number) => {
    expect(valueOf(`{"a":${digits}}`)).toEqual({ a: number });
  });

  it("takes a key that stands twice with one value for one truth", () => {
    expect(valueOf(`{"a":600.00,"b":{"c":[1]},"a":6e2,"b":{"c":[1]}}`)).toEqual({ a: 600, b: { c: [1] } });
  });

  it("takes a key that stands twice with two values for ambiguous, however often it stands", () => {
    expect(valueOf(`{"a":1,"a":2}`)).toEqual({ a: ambiguous });
    expect(valueOf(`{"a":1,"a":2,"a":1}`)).toEqual({ a: ambiguous });
    expect(valueOf(`{"a" :1,"\\u0061"\n:9007199254740993}`)).toEqual({ a: ambiguous });
    expect(valueOf(`[{"a":9007199254740993,"a":9007199254740992}]`)).toEqual([{ a: ambiguous }]);
  });

  it("is not misled by colons and quotes inside strings", () => {
    expect(valueOf(`{"a":"\\":1","b":": 12345678901234567890"}`)).toEqual({
      a: `":1`,
      b: ": 12345678901234567890",
    });
  });

  it("does not let a string make up for a key that is written apart from its colon", () => {
    expect(valueOf(`{"x":"\\":","a" :1,"a" :2}`)).toEqual({ x: `":`, a: ambiguous });
    expect(valueOf(`{"x":"\\":","amount" :12345678901234567890}`)).toEqual({
      x: `":`,
      amount: new NumberText("12345678901234567890"),
    });
  });

  it("gives what the slow way gives however it is spaced and whatever its strings hold", () => {
    const part = fc.constantFrom(`":`, " :", "a", ":", `"`);
    const string = fc.array(part, { maxLength: 4 }).map((parts) => JSON.stringify(parts.join("")));
    const key = fc.constantFrom(`"a"`, `"b"`, `"\\u0061"`, `"\\":"`);
    const value = fc.oneof(string, fc.constantFrom("1", "9007199254740993", "1e2"));
    const colon = fc.constantFrom(":", " :", "\n:", ": ", "\t:\r");
    const member = fc.tuple(key, colon, value).map((texts) => texts.join(""));
    const object = fc.array(member, { maxLength: 5 }).map((members) => `{${members.join()}}`);
    fc.assert(
      fc.property(object, (text) => {
        expect(valueOf(text)).toEqual(viaSlowPath(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "takes %s for a key like any other",
    (key) => {
      for (const rest of ["", `,"n":9007199254740993`]) {
        const value = valueOf(`{"${key}":{"polluted":1}${rest}}`);
        expect(Object.keys(membersOf(value))[0]).toBe(key);
        expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      }
      expect({}).not.toHaveProperty("polluted");
    },
  );

  it.each(["{", "{a:1}", "[1,]", "01", "NaN", "'a'", "{}x", `"\u0001"`, "\ufeff\ufeff{}"])(
    "refuses %j",
    (text) => {
      expect(parseExactJson(text)).toEqual({
        ok: false,
        error: { reason: "not-json", detail: "the body is not JSON" },
      });
    },
  );

  it("says that an empty text is empty", () => {
    expect(parseExactJson("")).toEqual({
      ok: false,
      error: { reason: "not-json", detail: "the body is empty" },
    });
  });

  it("reads nesting up to its bound, quickly and slowly", () => {
    for (const core of ["0", `{"a":1}`, `{"a":1,"a":1}`]) {
      const arrays = jsonDepthMax - (core === "0" ? 0 : 1);
      expect(parseExactJson(nested(arrays, core)).ok).toBe(true);
      expect(parseExactJson(nested(arrays + 1, core))).toMatchObject({
        ok: false,
        error: { reason: "too-deep" },
      });
    }
  });

  it("gives a reason for hostile nesting instead of overflowing", () => {
    const reason = { ok: false, error: { reason: "too-deep", detail: "nested deeper than 512" } };
    expect(parseExactJson(nested(400_000, "1e400"))).toEqual(reason);
    expect(parseExactJson(`${`{"a":`.repeat(150_000)}1${"}".repeat(150_000)}`)).toEqual(reason);
    expect(parseExactJson("[".repeat(1_000_000))).toMatchObject({ error: { reason: "not-json" } });
  });

  it("gives the same value quickly as slowly", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(valueOf(text)).toEqual(viaSlowPath(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it("keeps the digits of every number", () => {
    const numbers = fc.stringMatching(/^-?(?:0|[1-9]\d{0,24})(?:\.\d{1,24})?(?:[eE][+-]?\d{1,3})?$/);
    fc.assert(
      fc.property(numbers, (digits) => {
        const { a } = membersOf(valueOf(`{"a":${digits}}`));
        expect(numberToText(typeof a === "number" ? a : new NumberText(String(a)))).toBe(
          numberToText(new NumberText(digits)),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it("accepts what lossless-json accepts, and nothing else", () => {
    const texts = fc
      .array(fc.constantFrom(...'{}[]:,"\\a01.-e +tnu'.split("")), { maxLength: 12 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseExactJson(text).ok).toBe(isLosslessJson(text));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("NumberText", () => {
  it("is its digits in text and in JSON, so that a payload can be logged", () => {
    const number = new NumberText("9007199254740993");
    expect(String(number)).toBe("9007199254740993");
    expect(JSON.stringify({ number, ambiguous })).toBe(`{"number":"9007199254740993"}`);
  });
});

describe("numberToText", () => {
  it.each([
    [13, "13"],
    [-0, "0"],
    [1e-7, "0.0000001"],
    [1.5, "1.5"],
    [new NumberText("9007199254740993"), "9007199254740993"],
    [new NumberText("1e400"), "1e400"],
  ])("writes %s as %s", (number, text) => {
    expect(numberToText(number)).toBe(text);
  });
});
