import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseEvent } from "../../../src/events/parse.ts";
import { bodies, complete, completeFacts, bytes, factsOf, problemOf, withData, withRaw } from "./given.ts";

describe("amounts", () => {
  it.each([
    ["12345678901234.56", 1_234_567_890_123_456, []],
    [`"12345678901234.56"`, 1_234_567_890_123_456, []],
    ["600.00", 60_000, []],
    ["1e2", 10_000, []],
    ["19.99", 1_999, []],
    ["-5", -500, []],
    ["1e-7", 0, ["amount-precision"]],
    ["0.0000001", 0, ["amount-precision"]],
    ["1.005", 101, ["amount-precision"]],
    ["9007199254740993", null, ["amount-range"]],
    ["1e400", null, ["amount-range"]],
    ["null", null, []],
  ])("%s is %s halalas", (raw, amountMinor, flags) => {
    expect(factsOf(withRaw("amount", raw))).toMatchObject({ amountMinor, flags });
  });

  it.each([`"1,5"`, `"12 SAR"`, `""`, `" 5"`, `".5"`, `"NaN"`, `"0x10"`, `"٣"`, "true", "{}", "[5]"])(
    "that are no number never cost the event: %s is none, and flagged",
    (raw) => {
      expect(factsOf(withRaw("amount", raw))).toMatchObject({
        contractId: "CNT-1",
        amountMinor: null,
        flags: ["amount-unreadable"],
      });
    },
  );

  it("in another currency are kept and flagged", () => {
    expect(factsOf(withData({ currency: "USD" }))).toMatchObject({
      currency: "USD",
      flags: ["foreign-currency"],
    });
    expect(factsOf(withData({ currency: "sar" }))).toMatchObject({ currency: "SAR", flags: [] });
  });

  it.each([
    ["a boolean", "false"],
    ["a number", "5"],
    ["an object", "{}"],
    ["a list", `["SAR"]`],
    ["a text of 256", `"${"S".repeat(256)}"`],
  ])("in a currency that can't be read, %s, are in none that passes for SAR", (_, raw) => {
    expect(factsOf(withRaw("currency", raw))).toMatchObject({
      currency: "XXX",
      flags: ["foreign-currency"],
    });
  });
});

describe("times", () => {
  it.each([
    ["2026-01-25T10:28:10.4874015Z", "2026-01-25T10:28:10.4874015Z", []],
    ["2026-01-25T10:28:10.4874015+01:00", "2026-01-25T09:28:10.4874015Z", []],
    ["2026-01-25T10:28:10", "2026-01-25T10:28:10Z", ["no-zone"]],
  ])("data.timestamp %j is %s", (timestamp, occurredAt, flags) => {
    expect(factsOf(withData({ timestamp }))).toMatchObject({ occurredAt, flags });
  });

  it.each([
    undefined,
    null,
    "",
    " ",
    "soon",
    "0001-01-01T00:00:00",
    "0000-00-00",
    "2026-02-30T00:00:00Z",
    "2026-01-19T24:00:00Z",
    1_769_336_890,
    {},
    ["2026-01-25T10:28:10Z"],
  ])("come from createdAt where data.timestamp is %j: a useless time hides no good one", (timestamp) => {
    expect(factsOf(withData({ timestamp }))).toMatchObject({
      occurredAt: "2026-01-19T14:30:00Z",
      orderKey: "2026-01-19T14:30:00.000000000",
      flags: [],
    });
  });

  it("come from data.timestamp where both can be read", () => {
    expect(factsOf({ ...complete, createdAt: "2020-01-01T00:00:00Z" }).occurredAt).toBe(
      completeFacts.occurredAt,
    );
  });

  it.each([undefined, "", "0001-01-01T00:00:00Z", "soon"])(
    "are none where createdAt %j can't be read either",
    (createdAt) => {
      expect(factsOf({ ...withData({ timestamp: "later" }), createdAt })).toMatchObject({
        occurredAt: null,
        orderKey: "",
        flags: ["no-time"],
      });
    },
  );
});

describe("a previousStatus", () => {
  it.each([
    ["an object", "{}"],
    ["a number", "1"],
    ["a boolean", "false"],
    ["a list", `["Escrow"]`],
    ["a text of 256", `"${"s".repeat(256)}"`],
  ])("that is %s counts as absent, and is flagged", (_, raw) => {
    expect(factsOf(withRaw("previousStatus", raw))).toMatchObject({
      previousStatus: null,
      flags: ["previous-status-unreadable"],
    });
  });
});

describe("descriptive fields", () => {
  it("keep strings, numbers as their digits and booleans as words, and drop the rest", () => {
    const metadata = `{"metadata1":"","metadata2":9007199254740993,"metadata3":true,"metadata4":{"a":1}}`;
    expect(factsOf(withRaw("metadata", metadata)).metadata).toEqual({
      metadata1: "",
      metadata2: "9007199254740993",
      metadata3: "true",
    });
  });

  it("read the reference from the data, else from the metadata", () => {
    const metadata = { reference: "from metadata" };
    expect(factsOf(withData({ metadata })).reference).toBe("order-7");
    expect(factsOf(withData({ metadata, reference: null })).reference).toBe("from metadata");
    expect(factsOf(withData({ metadata, reference: 7 })).reference).toBe("7");
  });

  it.each([
    [String.raw`a\u0000b`, "a\u0000b"],
    [String.raw`\ud83cx\udf89`, "\ud83cx\udf89"],
    [String.raw`\ud83c\ud83c\udf89`, "\ud83c\u{1f389}"],
    [String.raw`\\u0000\\\u0000`, "\\u0000\\\u0000"],
  ])("are kept to the character, those that a database can't hold too: %s", (escaped, text) => {
    expect(factsOf(withRaw("reference", `"${escaped}"`)).reference).toBe(text);
  });
});

describe("bytes", () => {
  it("with an escape that JSON does not know are no JSON", () => {
    expect(problemOf(withRaw("reference", String.raw`"\u0000\U0000"`))).toMatch(/^not-json/);
  });

  it("may begin with one byte order mark", () => {
    expect(factsOf(bytes(`\ufeff${JSON.stringify(complete)}`))).toEqual(completeFacts);
    expect(problemOf(bytes(`\ufeff\ufeff${JSON.stringify(complete)}`))).toMatch(/^not-json/);
    expect(problemOf("\ufeff")).toBe("not-json: the body is empty");
  });

  it("are read from a view of a larger buffer", () => {
    const whole = Buffer.concat([Buffer.from("xx"), bytes(complete), Buffer.from("yy")]);
    expect(factsOf(new Uint8Array(whole.buffer, whole.byteOffset + 2, whole.length - 4))).toEqual(
      completeFacts,
    );
  });

  it("that are UTF-16, cut short or nested without end get a reason", () => {
    expect(problemOf(Buffer.from(JSON.stringify(complete), "utf16le"))).toMatch(/^not-json/);
    expect(problemOf(bytes(complete).subarray(0, -1))).toMatch(/^not-json/);
    expect(problemOf(withRaw("extra", "[".repeat(10_000) + "]".repeat(10_000)))).toBe(
      "too-deep: nested deeper than 512",
    );
  });

  it("never make it throw, however they are mutated", () => {
    const seeds = fc.constantFrom(...bodies.values(), Buffer.from(JSON.stringify(complete)));
    const edits = fc.array(
      fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...Buffer.from(`{}[]":,\\u0e9.-+ \u00ff`))),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(seeds, edits, (seed, changes) => {
        const body = [...seed];
        for (const [at, kind, byte] of changes) body.splice(at % (body.length + 1), kind, byte);
        const parsed = parseEvent(Uint8Array.from(body));
        expect(parsed.ok || parsed.error.detail.length < 2_000).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    fc.assert(fc.property(fc.uint8Array(), (body) => typeof parseEvent(body).ok === "boolean"));
  });

  it("say the same on the fast and on the slow path", () => {
    const values = fc.oneof(
      fc.constantFrom(
        "1",
        "600.00",
        "-0",
        "0.0000001",
        "1e2",
        '"13"',
        "null",
        "true",
        "{}",
        "[]",
        '"2026-01-31"',
      ),
      fc.jsonValue({ maxDepth: 1 }).map((value) => JSON.stringify(value)),
    );
    const fields = fc.constantFrom(...Object.keys(complete.data), "Status", "extra");
    fc.assert(
      fc.property(fc.array(fc.tuple(fields, values), { maxLength: 6 }), (members) => {
        const data = members.map(([key, raw]) => `,"${key}":${raw}`).join("");
        const body = (extra: string) => bytes(`{"event":"e","data":{"contractId":"CNT-1"${data}}${extra}}`);
        const [fast, slow] = [parseEvent(body("")), parseEvent(body(`,"unread":1e0`))];
        expect(slow.ok ? slow.value.facts : slow.error).toEqual(fast.ok ? fast.value.facts : fast.error);
      }),
      { numRuns: 1_000 },
    );
  });
});
