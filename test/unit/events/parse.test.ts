import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventFacts } from "../../../src/events/event.ts";
import { NumberText } from "../../../src/events/json.ts";
import { parseEvent } from "../../../src/events/parse.ts";
import fixtures from "../../fixtures/deliveries.json" with { type: "json" };

const guid = "a1b2c3d4-e5f6-7890-abcd-ef1234567890";

const bodies = new Map(
  fixtures.deliveries.map(({ name, bodyBase64 }) => [name, Buffer.from(bodyBase64, "base64")]),
);

const complete = {
  id: guid,
  event: "milestone.payment.completed",
  createdAt: "2026-01-19T14:30:00Z",
  data: {
    contractId: "CNT-1",
    milestoneId: "13",
    disputeId: "D-1",
    reference: "order-7",
    status: "Escrow",
    previousStatus: "Approved",
    amount: 600.5,
    currency: "SAR",
    paymentId: "PAY-1",
    transactionId: "TXN-1",
    invoiceId: "INV-1",
    timestamp: "2026-01-19T14:30:01.4874015Z",
    metadata: { metadata1: "one", metadata2: "", metadata3: "three", metadata4: "four", reference: "other" },
  },
};

const completeFacts: EventFacts = {
  event: "milestone.payment.completed",
  payloadId: guid,
  contractId: "CNT-1",
  milestoneId: "13",
  disputeId: "D-1",
  transactionId: "TXN-1",
  paymentId: "PAY-1",
  invoiceId: "INV-1",
  reference: "order-7",
  status: "Escrow",
  previousStatus: "Approved",
  amountMinor: 60_050,
  currency: "SAR",
  occurredAt: "2026-01-19T14:30:01.4874015Z",
  orderKey: "2026-01-19T14:30:01.487401500",
  metadata: { metadata1: "one", metadata2: "", metadata3: "three", metadata4: "four" },
  flags: [],
};

function bytes(body: string | object): Uint8Array {
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function factsOf(body: Uint8Array | string | object): EventFacts {
  const parsed = parseEvent(body instanceof Uint8Array ? body : bytes(body));
  if (!parsed.ok) throw new Error(`${parsed.error.reason}: ${parsed.error.detail}`);
  return parsed.value.facts;
}

function problemOf(body: Uint8Array | string | object): string {
  const parsed = parseEvent(body instanceof Uint8Array ? body : bytes(body));
  return parsed.ok ? "ok" : `${parsed.error.reason}: ${parsed.error.detail}`;
}

/** The complete event with other data; `raw` puts a value as it is written into `data`. */
function withData(data: object): object {
  return { ...complete, data: { ...complete.data, ...data } };
}

function withRaw(field: string, raw: string): string {
  return `{"event":"payment.completed","createdAt":"2026-01-19T14:30:00Z","data":{"contractId":"CNT-1","${field}":${raw}}}`;
}

function recase(value: object, change: (key: string) => string): object {
  const members = Object.entries(value).map(([key, inner]: [string, unknown]) => [
    change(key),
    typeof inner === "object" && inner !== null ? recase(inner, change) : inner,
  ]);
  return Object.fromEntries(members);
}

function pascal(key: string): string {
  return key.charAt(0).toUpperCase() + key.slice(1);
}

describe("the facts of an event", () => {
  it("are all read", () => {
    expect(factsOf(complete)).toEqual(completeFacts);
  });

  it("come with the payload as sent, unknown fields included", () => {
    const parsed = parseEvent(
      bytes(`{"event":"e.x","extra":{"n":9007199254740993},"data":{"contractId":1}}`),
    );
    expect(parsed.ok && parsed.value.payload).toEqual({
      event: "e.x",
      extra: { n: new NumberText("9007199254740993") },
      data: { contractId: 1 },
    });
  });

  it("are null, SAR and no time where nothing is said", () => {
    const empty = factsOf({ event: "contract.teleported", data: { contractId: "CNT-1" } });
    expect(empty).toEqual({
      ...Object.fromEntries(Object.keys(completeFacts).map((name) => [name, null])),
      event: "contract.teleported",
      contractId: "CNT-1",
      currency: "SAR",
      orderKey: "",
      metadata: {},
      flags: ["no-time"],
    });
    const nulls = Object.fromEntries(Object.keys(complete.data).map((name) => [name, null]));
    expect(
      factsOf({
        id: null,
        event: "contract.teleported",
        createdAt: null,
        data: { ...nulls, contractId: "CNT-1" },
      }),
    ).toEqual(empty);
  });
});

describe("the fixtures", () => {
  it.each([
    [
      "sample-1",
      { contractId: "CNT-2601-00100068", amountMinor: 60_000, metadata: { metadata1: "your-custom-data-1" } },
    ],
    ["sample-2", { event: "refund.full-initiated", transactionId: "4521", reference: "your-reference-123" }],
    ["sample-3", { event: "refund.full-succeeded", status: "Refunded", occurredAt: "2026-04-14T15:05:00Z" }],
    ["sample-4", { milestoneId: "13", amountMinor: 40_000, orderKey: "2026-04-14T14:32:00.000000000" }],
    ["V1", { contractId: "CNT-V1", orderKey: "2026-04-14T14:30:00.123456700", amountMinor: 2_500 }],
    ["V2", { contractId: "CNT-V2", amountMinor: 10_000, flags: [] }],
    ["V3", { contractId: "CNT-V3", metadata: { metadata1: "€5 / \u2028 café" } }],
    ["V4", { contractId: "CNT-V4", metadata: { metadata1: "دفعة 🎉 日本" } }],
  ])("%s is read", (name, facts) => {
    expect(factsOf(bodies.get(name) ?? "")).toMatchObject(facts);
  });

  it.each([
    ["V5", "not-utf8: the body is not UTF-8"],
    ["V7", "ambiguous-field: data.transactionId: expected one value"],
    ["V11", "not-json: the body is empty"],
  ])("%s is %s", (name, problem) => {
    expect(problemOf(bodies.get(name) ?? "")).toBe(problem);
  });

  it("are all looked at", () => {
    expect([...bodies.keys()].join(" ")).toBe("sample-1 sample-2 sample-3 sample-4 V1 V2 V3 V4 V5 V7 V11");
  });
});

describe("casing", () => {
  it.each([
    ["Pascal", pascal],
    ["upper", (key: string) => key.toUpperCase()],
    ["lower", (key: string) => key.toLowerCase()],
    ["mixed", (key: string) => (key.length % 2 === 0 ? pascal(key) : key)],
  ])("%s is read like camel", (_name, change) => {
    expect(factsOf(recase(complete, change))).toEqual(completeFacts);
  });

  it("twice with one value is one truth", () => {
    expect(factsOf({ ...withData({ Status: "Escrow", Amount: 600.5 }), Data: complete.data })).toEqual(
      completeFacts,
    );
  });

  it.each([
    ["id", { ...complete, Id: "x" }],
    ["data.status", withData({ Status: "Draft" })],
    ["data.status", withData({ Status: null })],
    ["data.metadata.metadata1", withData({ metadata: { metadata1: "a", METADATA1: "b" } })],
    ["data.metadata", withData({ Metadata: { metadata1: "two" } })],
    ["data", { ...complete, DATA: {} }],
  ])("twice with two values makes %s ambiguous", (path, body) => {
    expect(problemOf(body)).toBe(`ambiguous-field: ${path}: expected one value`);
  });
});

describe("a key that stands twice", () => {
  it("with two values quarantines a field that is read", () => {
    expect(problemOf(`{"event":"a","event":"b","data":{"contractId":"CNT-1"}}`)).toMatch(
      /^ambiguous-field: event:/,
    );
    expect(problemOf(`{"event":"a","data":{"contractId":"CNT-1"},"data":{"contractId":"CNT-2"}}`)).toMatch(
      /^ambiguous-field: data:/,
    );
    expect(problemOf(withRaw("metadata", `{"milestoneId":1,"milestoneId":2}`))).toMatch(
      /^ambiguous-field: data.metadata.milestoneId:/,
    );
    expect(problemOf(`{"event":"webhook.test","event":"a"}`)).toMatch(/^ambiguous-field/);
  });

  it("with two values does not matter in a field that is not read", () => {
    expect(factsOf(withRaw("extra", `1,"extra":2`)).contractId).toBe("CNT-1");
  });

  it("with one value is one truth", () => {
    expect(factsOf(withRaw("amount", `600.00,"amount":6e2`)).amountMinor).toBe(60_000);
  });
});

describe("ids", () => {
  it.each(["9007199254740993", "9223372036854775808", "13"])(
    "%s is exact as a number and as a string",
    (digits) => {
      for (const field of ["milestoneId", "transactionId", "paymentId", "disputeId", "invoiceId"] as const) {
        expect(factsOf(withRaw(field, digits))[field]).toBe(digits);
        expect(factsOf(withRaw(field, `"${digits}"`))[field]).toBe(digits);
      }
      expect(factsOf(`{"id":${digits},"event":"e","data":{"contractId":${digits}}}`)).toMatchObject({
        payloadId: digits,
        contractId: digits,
      });
    },
  );

  it("that are GUIDs are one id in any case and braces, and opaque ids are not", () => {
    expect(factsOf(withData({ transactionId: `{${guid.toUpperCase()}}` })).transactionId).toBe(guid);
    expect(factsOf(withData({ transactionId: "abC" })).transactionId).toBe("abC");
  });

  it("of a milestone come from the data, else from the metadata", () => {
    const metadata = { milestoneId: 14 };
    expect(factsOf(withData({ metadata })).milestoneId).toBe("13");
    for (const milestoneId of [undefined, null, "", " "]) {
      expect(factsOf(withData({ milestoneId, metadata })).milestoneId).toBe("14");
    }
  });

  it.each([undefined, null, "", " \t"])("of the contract may not be %j", (contractId) => {
    expect(problemOf(withData({ contractId }))).toBe("no-contract-id: data.contractId: expected an id");
  });

  it.each([
    ["contractId", `"${"x".repeat(256)}"`, "expected a string or a number of at most 255 characters"],
    ["contractId", "9".repeat(256), "expected a string or a number of at most 255 characters"],
    ["contractId", "true", "expected a string or a number of at most 255 characters"],
    ["contractId", "{}", "expected a string or a number of at most 255 characters"],
    ["transactionId", "[]", "expected a string or a number of at most 255 characters"],
    ["milestoneId", `"${"x".repeat(256)}"`, "expected a string or a number of at most 255 characters"],
  ])("are not the payload's shape as %s: %.8s", (field, raw, expected) => {
    const body = `{"event":"e","data":{"${field}":${raw}}}`;
    expect(problemOf(body)).toBe(`invalid-payload: data.${field}: ${expected}`);
  });

  it("have as many as 255 characters", () => {
    expect(factsOf(withData({ contractId: "x".repeat(255) })).contractId).toHaveLength(255);
  });
});

describe("the payload's shape", () => {
  it.each([
    ["[]", "payload: expected an object"],
    [`"text"`, "payload: expected an object"],
    ["null", "payload: expected an object"],
    ["{}", "event: expected a string; data: expected an object"],
    [`{"event":" ","data":{}}`, "event: expected a non-blank string"],
    [`{"event":1,"data":{}}`, "event: expected a string"],
    [`{"event":12345678901234567890,"data":{}}`, "event: expected a string"],
    [`{"event":"${"e".repeat(256)}","data":{}}`, "event: expected at most 255 characters"],
    [`{"event":"e","data":[]}`, "data: expected an object"],
    [`{"event":"e","data":"x"}`, "data: expected an object"],
    [withRaw("status", "1"), "data.status: expected a string"],
    [withRaw("status", `"${"s".repeat(256)}"`), "data.status: expected at most 255 characters"],
    [
      withRaw("metadata", `{"milestoneId":{}}`),
      "data.metadata.milestoneId: expected a string or a number of at most 255 characters",
    ],
  ])("does not fit %.60s", (body, detail) => {
    expect(problemOf(body)).toBe(`invalid-payload: ${detail}`);
  });

  it("gives no contract id where data is a number beyond JavaScript's", () => {
    expect(problemOf(`{"event":"e","data":12345678901234567890}`)).toMatch(/^no-contract-id/);
  });

  it("never puts a value into the reason", () => {
    const secret = "s3cret";
    for (const field of ["status", "amount", "contractId", "currency", "timestamp", "disputeId"]) {
      expect(problemOf(withRaw(field, `{"${secret}":"${secret}"}`))).not.toContain(secret);
    }
    expect(problemOf(`{"event":"${secret}"`)).not.toContain(secret);
  });

  it.each(["x", 1, [], true])("does without a metadata that is %j", (metadata) => {
    expect(factsOf(withData({ metadata, reference: null }))).toMatchObject({ metadata: {}, reference: null });
  });

  it("takes blank statuses for none and a blank currency for SAR", () => {
    expect(factsOf(withData({ status: "", previousStatus: " ", currency: "" }))).toMatchObject({
      status: null,
      previousStatus: null,
      currency: "SAR",
      flags: [],
    });
  });
});

describe("webhook.test", () => {
  it.each([undefined, null, "x", [], {}, { contractId: {} }, { contractId: "x".repeat(256), amount: "?" }])(
    "arrives with %j for data",
    (data) => {
      expect(factsOf({ id: guid, event: "webhook.test", data })).toMatchObject({
        payloadId: guid,
        contractId: "",
      });
    },
  );

  it("keeps the ids that it names", () => {
    expect(factsOf({ ...complete, event: "webhook.test" })).toEqual({
      ...completeFacts,
      event: "webhook.test",
    });
  });
});

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
