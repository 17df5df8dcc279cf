import type { SignedRequest } from "../../../src/signature/verify.ts";

export type HeaderFixture = Readonly<Record<string, string | readonly string[]>>;

/** A request as an adapter hands it over: names in any case, an array for a repeated header. */
export function requestOf(headers: HeaderFixture, body: Uint8Array | string): SignedRequest {
  return {
    headers: (name) =>
      Object.entries(headers)
        .filter(([known]) => known.toLowerCase() === name)
        .flatMap(([, value]) => value),
    body: typeof body === "string" ? Buffer.from(body) : body,
  };
}

export const textSecret = "whsec_test_0123456789abcdef0123456789abcdef";

export const base64Secret = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;

/** 2026-04-14T14:30:00Z */
export const noonMs = 1_776_177_000_000;
