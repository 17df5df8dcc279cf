import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { parseRaw } from "../../../src/events/raw.ts";

const body = Buffer.from('{"data":{"amount":600.00,"of":"tomorrow"}}');

it.each([
  ["as it is", body, undefined],
  ["inflated", gzipSync(body), "gzip"],
  ["as it is where its header names an encoding that nobody knows", body, "snappy"],
])("a body is read %s", (_, bytes, encoding) => {
  expect(parseRaw(bytes, encoding)).toEqual({ data: { amount: 600, of: "tomorrow" } });
});

it.each([
  ["no JSON", Buffer.from("{"), undefined],
  ["not what its encoding says", gzipSync(body).subarray(0, 20), "gzip"],
])("a body that is %s reads as null", (_, bytes, encoding) => {
  expect(parseRaw(bytes, encoding)).toBeNull();
});
