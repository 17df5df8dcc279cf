import { PassThrough, Readable } from "node:stream";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../../src/mirror/create-mirror.ts";
import {
  checkMethod,
  headersOf,
  wholeBody,
  type HeaderBag,
  type ReceiveRequest,
} from "../../../src/receiver/request.ts";
import { createMemoryStore } from "../../../src/testing/memory-store.ts";
import { delivery, otherSecret, sha256, signed } from "../../support/delivery.ts";
import { failing } from "../../support/failing-store.ts";
import { openMirror, recordingLogger } from "../../support/mirror.ts";

const plain = {
  "X-Service-Signature": "s",
  "x-service-webhook-id": "wh-1",
  "CONTENT-TYPE": "application/json",
};

function bodyOf(request: ReceiveRequest): Uint8Array | string | undefined {
  const read = wholeBody(request, headersOf(request.headers), 1000);
  return "outcome" in read ? read.reason : read;
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

  const loose: [string, unknown, Record<string, string[]>][] = [
    ["a number", { A: 94 }, { a: ["94"] }],
    ["zero", { A: 0 }, { a: ["0"] }],
    ["a bigint", { A: 94n }, { a: ["94"] }],
    ["a boolean", { A: true, b: false }, { a: ["true"], b: ["false"] }],
    ["null", { a: null, B: "1" }, { b: ["1"] }],
    ["undefined", { a: undefined, B: "1" }, { b: ["1"] }],
    ["an object", { a: {}, B: "1" }, { b: ["1"] }],
    ["a function", { a: () => {}, B: "1" }, { b: ["1"] }],
    ["a symbol", { a: Symbol("a"), B: "1" }, { b: ["1"] }],
    ["an empty list", { a: [], B: "1" }, { b: ["1"] }],
    ["a list of anything", { A: [1, "2", null, undefined, {}, [3, ["4"]]] }, { a: ["1", "2", "3", "4"] }],
  ];
  it.each([
    ...loose,
    ...loose.map(
      ([what, bag, read]) => [`${what}, in a Map`, new Map(Object.entries(bag as object)), read] as const,
    ),
    ...loose.map(([what, bag, read]) => [`${what}, in pairs`, Object.entries(bag as object), read] as const),
    ...loose.map(
      ([what, bag, read]) =>
        [
          `${what}, flat`,
          ["x", "y", ...Object.entries(bag as object).flat(1)],
          { x: ["y"], ...read },
        ] as const,
    ),
  ])("that are no text are their text, or absent: %s", (_, bag, read) => {
    expect(Object.fromEntries(headersOf(bag))).toEqual(read);
  });

  it.each([
    ["null", null],
    ["undefined", undefined],
    ["a text", "a: b"],
    ["a number", 7],
    ["a list of nothing", [null, undefined]],
    ["a list of one", ["a"]],
    ["pairs of nothing", [[], [null, null], [undefined, "b"], [7, "b"], [Symbol("a"), "b"], null, "ab"]],
    [
      "a Map without texts for names",
      new Map<unknown, unknown>([
        [7, "a"],
        [null, "b"],
        [{}, "c"],
      ]),
    ],
    ["a Set", new Set(["a", 7, null])],
    ["an object without a prototype", Object.create(null)],
    ["a function", () => {}],
  ])("may be what is none: %s", (_, bag) => {
    expect([...headersOf(bag).keys()]).toEqual([]);
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

describe("a method", () => {
  it.each(["POST", "post", "Post", " POST ", undefined, null, 7, {}, ["POST"]])(
    "is POST in any case, and where it is not said: %s",
    (method) => {
      expect(checkMethod({ method })).toBeUndefined();
    },
  );

  it.each(["GET", "HEAD", "put", "POSTER", ""])("is not POST: %s", (method) => {
    expect(checkMethod({ method })).toMatchObject({ reason: "method-not-allowed" });
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

  it("is the bytes of whatever holds bytes", () => {
    const { buffer } = new Uint8Array([1, 2, 3, 4]);
    const held: unknown[] = [buffer, new DataView(buffer), new Uint16Array(buffer), new Int8Array(buffer)];
    for (const body of held)
      expect(bodyOf({ ...request, body: body as Uint8Array })).toEqual(Buffer.of(1, 2, 3, 4));
    expect(bodyOf({ ...request, body: new DataView(buffer, 1, 2) as unknown as Uint8Array })).toEqual(
      Buffer.of(2, 3),
    );
  });

  it("is empty where it is absent and the request says that nothing was sent", () => {
    for (const length of ["0", 0, ["0"]])
      for (const body of [undefined, null, {}]) {
        const headers = { "content-length": length } as unknown as HeaderBag;
        expect(bodyOf({ ...request, headers, body: body as undefined })).toEqual(new Uint8Array());
      }
  });

  it("is none where it is anything else", () => {
    for (const body of [
      undefined,
      null,
      {},
      [],
      7,
      true,
      Symbol("a"),
      () => {},
      { type: "Buffer", data: [1] },
    ])
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

/** As a gateway or a function host may build a request, signed as the service signs. */
const order = delivery("contract.created", { seconds: 0 });
const sent = order.headers as Record<string, string>;
const oddHeaders: [string, unknown][] = [
  ["a number", { ...sent, "content-length": 94 }],
  ["null", { ...sent, "content-encoding": null, "X-Service-Webhook-Id": null }],
  ["undefined", { ...sent, "content-encoding": undefined }],
  ["a boolean", { ...sent, secure: true }],
  ["nested arrays", Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, [[value], []]]))],
  ["an object", { ...sent, "content-length": { value: 94 } }],
  ["a number for an id", { ...sent, "X-Service-Webhook-Id": 94 }],
  [
    "a Map of odd values",
    new Map<unknown, unknown>([...Object.entries(sent), ["a", 94], ["b", null], [7, {}]]),
  ],
  ["pairs of odd values", [...Object.entries(sent), ["a", 94], ["b", null], [], [null, 7]]],
  ["flat, with numbers", [...Object.entries(sent).flat(), "content-length", 94, "a", null]],
];

describe("an authentic delivery", () => {
  it.each(oddHeaders)("is applied whatever its other headers are: %s", async (_, headers) => {
    const mirror = await openMirror();
    expect(await mirror.receive({ ...order, headers: headers as HeaderBag })).toMatchObject({ status: 200 });
    expect(await mirror.contracts.get("CNT-1")).toBeDefined();
  });

  it.each([undefined, null, 7])("is applied where no method is said: %s", async (method) => {
    const mirror = await openMirror();
    expect((await mirror.receive({ ...order, method: method as undefined })).status).toBe(200);
  });
});

describe("a request of nobody", () => {
  const bodies: [string, unknown][] = [
    ["no body", undefined],
    ["null", null],
    ["an empty text", ""],
    ["no bytes", new Uint8Array()],
    ["an object", {}],
    ["a number", 7],
    ["a stream", Readable.from([])],
  ];
  const bags: [string, unknown][] = [
    ["no headers", {}],
    ["null", null],
    ["undefined", undefined],
    ["a list", []],
    ["a text", "none"],
    ["odd values", { "x-service-signature": null, a: 7 }],
    ["an empty signature", { "x-service-signature": "" }],
  ];

  it.each(
    bodies.flatMap(([what, body]) => bags.map(([which, headers]) => [what, which, body, headers] as const)),
  )("is answered 401, and fills no log: %s, headers %s", async (_what, _which, body, headers) => {
    const logger = recordingLogger();
    const mirror = await openMirror({ logger });
    const request = { method: "POST", headers, body } as unknown as ReceiveRequest;
    expect(await mirror.receive(request)).toMatchObject({ status: 401, reason: "signature-missing" });
    expect(logger.lines.filter(({ level }) => level !== "debug")).toEqual([]);
  });
});

describe("an adapter's own error", () => {
  it("is logged by its kind and answered 503", async () => {
    const logger = recordingLogger();
    const mirror = await openMirror({ logger });
    const fault = new RangeError("a secret may stand here");
    expect(await mirror.receive({ headers: [], fault })).toMatchObject({
      status: 503,
      reason: "internal-error",
    });
    const [line, ...more] = logger.lines;
    expect(more).toEqual([]);
    expect(line).toMatchObject({ level: "error", fields: { error: "RangeError" } });
    expect(JSON.stringify(line)).not.toContain("secret");
  });
});

describe("a request that can't be read", () => {
  const hint = "Gateway: pass the event on as it came";
  const throwing = {
    get: () => {
      throw new RangeError("no");
    },
  };
  const requests: readonly (readonly [string, object])[] = [
    ["an error of the host's own", { headers: [], fault: new RangeError("no") }],
    ["headers that throw", { headers: new Proxy({ a: "" }, throwing) }],
    ["a body that throws", Object.defineProperty({ headers: sent }, "body", throwing)],
    ["a method that throws", Object.defineProperty({ headers: sent }, "method", throwing)],
  ];

  it.each(requests)("is told of with the line of the host's set-up to change: %s", async (_, request) => {
    const logger = recordingLogger();
    const mirror = await openMirror({ logger });
    const given = Object.defineProperty(request, "hint", { value: hint }) as ReceiveRequest;
    expect(await mirror.receive(given)).toMatchObject({ status: 503, reason: "internal-error" });
    expect(logger.lines.filter(({ level }) => level === "error")).toMatchObject([
      { fields: { step: "request" }, message: `reading a request failed: RangeError. ${hint}` },
    ]);
  });

  it("has no hint where the fault is not the host's", async () => {
    const logger = recordingLogger();
    const broken = failing(createMemoryStore(), (made) => made === "insert");
    const mirror = await openMirror({ logger, store: broken.store });
    broken.fault = new TypeError("of its own");
    await mirror.receive({ ...order, hint });
    expect(logger.lines.filter(({ level }) => level === "error")).not.toEqual([]);
    expect(JSON.stringify(logger.lines)).not.toContain(hint);
  });
});

async function openSmall(): Promise<Mirror> {
  const mirror = await openMirror({ webhook: { maxBodyBytes: 1000 } });
  await mirror.receive(delivery("webhook.test", { id: "proof" }));
  return mirror;
}

describe("a second-hand body", () => {
  const text = Buffer.from(order.body as Uint8Array);
  const at = (body: ReceiveRequest["body"], headers: object = {}): ReceiveRequest => ({
    ...order,
    headers: { "content-length": String(text.length), ...sent, ...headers },
    body,
    isSecondHand: true,
  });
  it.each([
    ["bytes as sent", text],
    ["their text", text.toString()],
    ["a stream of them", () => Readable.from([text])],
  ])("is applied where its signature holds: %s", async (_, body) => {
    expect((await (await openSmall()).receive(at(typeof body === "function" ? body() : body))).status).toBe(
      200,
    );
  });

  it.each([
    ["a text printed anew", JSON.stringify(JSON.parse(text.toString()), null, 1)],
    ["bytes of another length", Buffer.concat([text, text])],
    ["bytes with what stands for no UTF-8", Buffer.from(`${text.toString("latin1", 3)}\ufffd`)],
    ["more than may be, of a body that was shorter", Buffer.alloc(2000)],
    ["a stream of more than may be", () => Readable.from([Buffer.alloc(2000)])],
    ["a stream of text", () => Readable.from([text.toString("latin1").replace("CNT", "TNC")])],
  ])("is answered 500 where it may have been changed: %s", async (_, body) => {
    const answer = await (await openSmall()).receive(at(typeof body === "function" ? body() : body));
    expect(answer).toMatchObject({ status: 500, reason: "raw-body-unavailable" });
  });

  it("that was compressed is in doubt at any length", async () => {
    const compressed = at(Buffer.alloc(text.length), { "content-encoding": "gzip" });
    expect((await (await openSmall()).receive(compressed)).status).toBe(500);
  });

  it("is forged where it has the length that was sent", async () => {
    const forged = signed(text, { secret: otherSecret }).headers as Record<string, string>;
    expect((await (await openSmall()).receive(at(text, forged))).status).toBe(401);
  });

  it("is too large where nothing says that it was shorter", async () => {
    const { "content-length": _, ...headers } = at(undefined).headers as Record<string, string>;
    expect((await (await openSmall()).receive({ ...at(Buffer.alloc(2000)), headers })).status).toBe(413);
  });
});

describe("a stream", () => {
  const bytes = order.body as Uint8Array;

  it("is a body like bytes", async () => {
    const mirror = await openMirror();
    const stream = new PassThrough();
    const answering = mirror.receive({ ...order, body: stream });
    for (const byte of bytes) stream.write(Buffer.of(byte));
    stream.end();
    expect(await answering).toMatchObject({ status: 200 });
    const [stored] = (await mirror.deliveries.list()).items;
    expect(sha256((await stored?.body()) ?? "")).toBe(sha256(bytes));
  });
});
