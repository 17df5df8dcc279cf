import { describe, expect, it } from "vitest";
import { isKnownEventType } from "../../../src/events/event.ts";
import { NumberText } from "../../../src/events/json.ts";
import { webhookPayloadSchema } from "../../../src/events/wire.ts";

describe("webhookPayloadSchema", () => {
  it("keeps unknown fields and lets absent ones be absent", () => {
    const payload = { event: "e", data: { contractId: 1, extra: [1], metadata: { own: true } }, more: 2 };
    expect(webhookPayloadSchema.parse(payload)).toEqual(payload);
    expect(webhookPayloadSchema.parse({ event: "e", data: {} })).toEqual({ event: "e", data: {} });
  });

  it("takes the numbers of a payload that this library parsed", () => {
    const data = {
      contractId: new NumberText("9007199254740993"),
      amount: new NumberText("12345678901234.56"),
    };
    expect(webhookPayloadSchema.safeParse({ event: "e", data }).success).toBe(true);
  });
});

describe("isKnownEventType", () => {
  it("knows the spec's events and the earlier edition's", () => {
    expect(
      ["contract.created", "contract.delivered", "contract.teleported", "toString"].map(isKnownEventType),
    ).toEqual([true, true, false, false]);
  });
});
