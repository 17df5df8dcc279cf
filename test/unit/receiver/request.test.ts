import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  headersOf,
  readRequest,
  type HeaderBag,
  type ReceiveRequest,
} from "../../../src/receiver/request.ts";

const plain = {
  "X-Service-Signature": "s",
  "x-service-webhook-id": "wh-1",
  "CONTENT-TYPE": "application/json",
};

function bodyOf(request: ReceiveRequest): Uint8Array | string | undefined {
  const read = readRequest(request, 1000);
  return "outcome" in read ? read.reason : read.body;
}

describe("headers", () => {
  const bags: [string, HeaderBag][] = [
    ["a record in any case", plain],
    [
      "a record in lower case",
      Object.fromEntries(Object.entries(plain).map(([name, value]) => [name.toLowerCase(), value])),
    ],
    [
      "a record in upper case",
      Object.fromEntries(Object.entries(plain).map(([name, value]) => [name.toUpperCase(), value])),
    ],
    ["a record without a prototype", Object.assign(Object.create(null) as Record<string, string>, plain)],
    ["a record of arrays", Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, [value]]))],
    ["Headers", new Headers(plain)],
    ["a Map", new Map(Object.entries(plain))],
    ["a Map of arrays", new Map(Object.entries(plain).map(([name, value]) => [name, [value]]))],
    ["pairs", Object.entries(plain)],
    ["Node's rawHeaders", Object.entries(plain).flat()],
    ["a record with undefined in it", { ...plain, "x-none": undefined }],
  ];

  it.each(bags)("are read from %s", (_, bag) => {
    expect(headersOf(bag)).toEqual(
      new Map([
        ["x-service-signature", ["s"]],
        ["x-service-webhook-id", ["wh-1"]],
        ["content-type", ["application/json"]],
      ]),
    );
  });

  it("that stand more than once keep all their values, whatever their case", () => {
    expect(headersOf(["A", "1", "a", "2", "B", "3"]).get("a")).toEqual(["1", "2"]);
    expect(headersOf({ A: ["1", "2"], a: "3" }).get("a")).toEqual(["1", "2", "3"]);
  });

  it("may be none", () => {
    for (const bag of [{}, [], new Headers(), new Map<string, string>()]) expect(headersOf(bag).size).toBe(0);
  });

  it("named like members of an object are headers like any other", () => {
    expect(headersOf(["__proto__", "a", "constructor", "b"])).toEqual(
      new Map([
        ["__proto__", ["a"]],
        ["constructor", ["b"]],
      ]),
    );
  });
});

describe("a body", () => {
  const request = { method: "POST", headers: {} };

  it("is the bytes, or the UTF-8 of a text", () => {
    const bytes = new Uint8Array([1, 0, 255]);
    expect(bodyOf({ ...request, body: bytes })).toEqual(Buffer.from(bytes));
    expect(bodyOf({ ...request, body: "é" })).toEqual(Buffer.from([0xc3, 0xa9]));
    expect(bodyOf({ ...request, body: "" })).toEqual(Buffer.alloc(0));
  });

  it("is decoded where the gateway says that it is base64, and only there", () => {
    expect(bodyOf({ ...request, body: "e30=", isBase64Encoded: true })).toEqual(Buffer.from("{}"));
    expect(bodyOf({ ...request, body: Buffer.from("e30="), isBase64Encoded: true })).toEqual(
      Buffer.from("{}"),
    );
    expect(bodyOf({ ...request, body: "e30=", isBase64Encoded: false })).toEqual(Buffer.from("e30="));
  });

  it("is none where it is anything else", () => {
    for (const body of [undefined, {}, [], 7])
      expect(bodyOf({ ...request, body: body as unknown as undefined })).toBe("raw-body-unavailable");
  });

  it("is bytes too where another realm made them, as in a test runner or an edge runtime", () => {
    const body = runInNewContext("new Uint8Array([104, 105])") as Uint8Array;
    expect(body).not.toBeInstanceOf(Uint8Array);
    expect(bodyOf({ method: "POST", headers: {}, body })).toEqual(Buffer.from("hi"));
  });

  it("is a copy, so that a host that reuses its buffer changes nothing that was verified", () => {
    const reused = Buffer.from("{}");
    const body = bodyOf({ ...request, body: reused });
    reused.fill(0);
    expect(body).toEqual(Buffer.from("{}"));
  });
});
