import { describe, expect, it } from "vitest";
import { canonicalId, idLengthMax, isBlank } from "../../../src/shared/ids.ts";

const guid = "a1b2c3d4-e5f6-7890-abcd-ef1234567890";

describe("canonicalId", () => {
  it.each([guid, guid.toUpperCase(), `{${guid}}`, `{${guid.toUpperCase()}}`])(
    "reads %s as one GUID",
    (text) => {
      expect(canonicalId(text)).toBe(guid);
    },
  );

  it.each([
    "abC",
    "abc",
    "CNT-2601-00100003",
    " 13",
    "{abc}",
    `{${guid}`,
    `${guid}}`,
    `[${guid}]`,
    `${guid.slice(0, -1)}g`,
  ])("leaves the opaque id %j as it is", (text) => {
    expect(canonicalId(text)).toBe(text);
  });

  it("takes blank text and text over 255 characters for no id", () => {
    expect(canonicalId("")).toBeUndefined();
    expect(canonicalId(" \t\n")).toBeUndefined();
    expect(canonicalId("x".repeat(idLengthMax))).toBe("x".repeat(255));
    expect(canonicalId("x".repeat(idLengthMax + 1))).toBeUndefined();
  });
});

describe("isBlank", () => {
  it("holds for the empty text and for white space, and for nothing else", () => {
    expect([isBlank(""), isBlank(" \u00a0"), isBlank(" x")]).toEqual([true, true, false]);
  });
});
