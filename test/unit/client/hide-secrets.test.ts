import { describe, expect, it } from "vitest";
import { hideSecrets, textLengthMax } from "../../../src/client/hide-secrets.ts";

describe("hideSecrets", () => {
  it.each([
    ["Bearer abc", "[hidden]"],
    ["authorization: bearer eyJhbGciOiJIUzI1NiJ9.eyJ9.x", "authorization: [hidden]"],
    ["?token=0c35a1a507536ddfa65b5a9903ec8a91&x", "?[hidden]&x"],
    ["key whsec_abc is old", "key [hidden] is old"],
    ["IBAN SA0380000000608010167519.", "IBAN [hidden]."],
    ["SA03 8000 0000 6080 1016 7519", "[hidden]"],
    ["call +966 50 000-0001 now", "call [hidden] now"],
    ["966500000001", "[hidden]"],
    ["id 1012345678", "id [hidden]"],
    ["?phoneNumber=%2B966500000001", "?phoneNumber=%2B[hidden]"],
    ["token=0c35a1a507536ddfa65b5a9903ec8a91", "[hidden]"],
  ])("%s becomes %s", (text, safe) => {
    expect(hideSecrets(text)).toBe(safe);
  });

  it.each([
    "BuyerNotAuthorized",
    "There is no contract CNT-2601-00100003.",
    "0f8fad5b-d9cb-469f-a165-70867728950e names no user.",
    "must be a time, such as 2026-03-01T00:00:00.1234567Z",
    "SellerParty.KYC.IBANNumber is required.",
    "connect ECONNREFUSED 127.0.0.1:4010",
    "at most 500 characters; it has 1024",
    "Milestones[12].Amount",
  ])("%s stays", (text) => {
    expect(hideSecrets(text)).toBe(text);
  });

  it("knows the secrets of the call in the forms in which they are quoted", () => {
    const secret = 'a"b/c+d';
    for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret)]) {
      expect(hideSecrets(`it says ${form}!`, [secret])).not.toMatch(/b.{1,3}c/);
    }
  });

  it("does not look for what is too short to be a secret", () => {
    expect(hideSecrets("a banana", ["a", ""])).toBe("a banana");
  });

  it("cuts a long text, and a secret never in half", () => {
    expect(hideSecrets("x ".repeat(10_000))).toHaveLength(textLengthMax + 1);
    const secret = "supersecretvalue";
    for (let before = textLengthMax - 20; before <= textLengthMax; before++) {
      expect(hideSecrets(`${"x ".repeat(before / 2)}${secret}`, [secret])).not.toContain("super");
    }
  });

  it("takes a megabyte of anything in its stride", () => {
    for (const text of ["1", "a1", "a1b2c3d4e5-", "SA03 ", "Bearer ", "1 ( ", "2026-01-01T"]) {
      expect(hideSecrets(text.repeat(1_000_000 / text.length)).length).toBeLessThanOrEqual(textLengthMax + 1);
    }
  });
});
