import { describe, expect, it } from "vitest";
import { NumberText } from "../../../src/events/json.ts";
import { parseEvent } from "../../../src/events/parse.ts";
import {
  guid,
  bodies,
  complete,
  completeFacts,
  bytes,
  factsOf,
  problemOf,
  withData,
  withRaw,
  recase,
  pascal,
} from "./given.ts";

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
