/** Cases from public bug reports: what is signed, by which secret, at what time. */
import { inspect } from "node:util";
import { expect } from "vitest";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { casesOf, statusesOf, allDeliveries, proof, v1 } from "../../../support/cases.ts";
import {
  delivery,
  eventBody,
  fixtureDelivery,
  noonMs,
  otherSecret,
  secret,
  sha256,
  signed,
} from "../../../support/delivery.ts";
import { openMirror, recordingLogger, testClock } from "../../../support/mirror.ts";

const testCase = casesOf("signatures");

testCase(
  "Missing signature or timestamp header is only warned about",
  "401, and no row is written",
  async () => {
    const mirror = await openMirror();
    const { "x-service-signature": _, ...rest } = v1.headers;
    for (const headers of [
      rest,
      { ...rest, "x-service-signature": "" },
      { ...rest, "x-service-signature": "  " },
    ])
      expect(await statusesOf(mirror, { ...v1, headers })).toEqual(["401 rejected"]);
    expect(await allDeliveries(mirror)).toEqual([]);
    const scheme = { content: "timestamp.body" } as const;
    const stamped = await openMirror({ webhook: { signature: scheme } });
    const { "X-Service-Timestamp": __, ...without } = signed(eventBody("contract.created"), { scheme })
      .headers as Record<string, string>;
    expect(
      await statusesOf(stamped, { method: "POST", headers: without, body: eventBody("contract.created") }),
    ).toEqual(["401 rejected"]);
    expect(await allDeliveries(stamped)).toEqual([]);
  },
);

testCase(
  "Wrong-length digest makes the constant-time compare throw",
  "401 each, and a valid one right after is 200",
  async () => {
    const mirror = await openMirror();
    const good = v1.headers["x-service-signature"] ?? "";
    for (const value of [
      "",
      "sha256=abcd",
      good.slice(0, -1),
      `${good}0`,
      `${good} `,
      "a".repeat(10_000),
      "é".repeat(64),
    ])
      expect(
        await statusesOf(mirror, { ...v1, headers: { ...v1.headers, "x-service-signature": value } }),
      ).toEqual(["401 rejected"]);
    expect(await statusesOf(mirror, v1)).toEqual(["200 applied"]);
  },
);

testCase(
  "1.0 becomes 1 when JSON is parsed and rewritten",
  "200, and the raw payload is stored byte for byte",
  async () => {
    const mirror = await openMirror();
    const v2 = fixtureDelivery("V2");
    expect(await statusesOf(mirror, v2)).toEqual(["200 applied"]);
    const stored = await (await mirror.deliveries.get("wh-V2"))?.body();
    expect(sha256(stored ?? "")).toBe(sha256(v2.body));
    expect((await mirror.payments.list()).items).toMatchObject([{ amountMinor: 10000 }]);
  },
);

testCase(
  "Escaped characters change form on re-serialisation",
  "200, the text is right, the raw bytes are kept",
  async () => {
    const mirror = await openMirror({ store: sqlite(":memory:") });
    for (const [name, text] of [
      ["V3", "€5 / \u2028 café"],
      ["V4", "دفعة 🎉 日本"],
    ] as const) {
      const sent = fixtureDelivery(name);
      expect(await statusesOf(mirror, sent)).toEqual(["200 applied"]);
      const contract = await mirror.contracts.get(`CNT-${name}`);
      expect(contract?.metadata.metadata1).toBe(text);
      expect(Buffer.from((await (await mirror.deliveries.get(`wh-${name}`))?.body()) ?? "")).toEqual(
        Buffer.from(sent.body),
      );
    }
  },
);

testCase(
  "Body is decoded to text before hashing",
  "a byte that is not UTF-8 verifies and is quarantined; another in its place is refused",
  async () => {
    const mirror = await openMirror();
    const v5 = fixtureDelivery("V5");
    expect(await statusesOf(mirror, v5)).toEqual(["200 quarantined"]);
    expect((await mirror.quarantine.list()).items).toMatchObject([{ reason: "not-utf8" }]);
    const swapped = Buffer.from(v5.body).map((byte) => (byte === 0xff ? 0xfe : byte));
    expect(await statusesOf(mirror, { ...v5, body: swapped })).toEqual(["401 rejected"]);
  },
);

testCase("Same JSON key twice", "quarantined: no two readers see two truths", async () => {
  const mirror = await openMirror();
  expect(await statusesOf(mirror, fixtureDelivery("V7"))).toEqual(["200 quarantined"]);
  expect((await mirror.quarantine.list()).items).toMatchObject([{ reason: "ambiguous-field" }]);
  expect((await mirror.refunds.list()).items).toEqual([]);
});

testCase(
  "Value altered before it enters the signed text",
  "the id is hashed exactly as received",
  async () => {
    const scheme = { content: "id.timestamp.body" } as const;
    const mirror = await openMirror({ webhook: { signature: scheme } });
    for (const webhookId of ["AbC-1", " AbC-2 "])
      expect(
        await statusesOf(
          mirror,
          delivery("contract.created", { id: webhookId, seconds: 0 }, { scheme, webhookId }),
        ),
      ).toEqual(["200 applied"]);
  },
);

testCase(
  "Expected digest or secret shown in error or log",
  "absent from the answer and from every level of the log",
  async () => {
    const logger = recordingLogger();
    const mirror = await openMirror({ logger });
    await mirror.receive(proof());
    const right = v1.headers["x-service-signature"]?.replace("sha256=", "") ?? "";
    const answer = await mirror.receive({
      ...v1,
      headers: { ...v1.headers, "x-service-signature": `sha256=${"0".repeat(64)}` },
    });
    expect(answer.status).toBe(401);
    const seen = [
      JSON.stringify(answer),
      inspect(answer, { depth: 9 }),
      JSON.stringify(logger.lines),
      inspect(logger.lines, { depth: 9 }),
    ].join();
    for (const text of [right, Buffer.from(right, "hex").toString("base64"), secret])
      expect(seen).not.toContain(text);
  },
);

testCase(
  "Whole payload or signature written to logs",
  "logs carry ids and types; what is not authentic is stored nowhere",
  async () => {
    const logger = recordingLogger();
    const mirror = await openMirror({ logger });
    const personal = {
      email: "sara@example.com",
      phone: "+966500000001",
      iban: "SA0380000000608010167519",
    };
    await mirror.receive(delivery("contract.created", { seconds: 0, ...personal }));
    await mirror.receive(delivery("contract.approved", { seconds: 0, ...personal }, { secret: otherSecret }));
    expect(await allDeliveries(mirror)).toHaveLength(1);
    for (const text of Object.values(personal)) expect(JSON.stringify(logger.lines)).not.toContain(text);
  },
);

testCase(
  "Only one secret can be configured",
  "each of two is 200; a dropped one is refused; the log names the slot",
  async () => {
    const mirror = await openMirror({ webhook: { secrets: [otherSecret, secret] } });
    expect(await statusesOf(mirror, v1, delivery("contract.created", {}, { secret: otherSecret }))).toEqual([
      "200 applied",
      "200 applied",
    ]);
    expect(await mirror.deliveries.get("wh-V1")).toMatchObject({ secretId: "2" });
    const dropped = await openMirror({ webhook: { secrets: otherSecret } });
    await dropped.receive(delivery("contract.created", {}, { secret: otherSecret }));
    expect(await statusesOf(dropped, v1)).toEqual(["401 rejected"]);
  },
);

testCase(
  "Secret used as text when it is base64 (or the reverse)",
  "the encoding is explicit; what does not decode is refused at start; a last line break is cut off",
  async () => {
    const key = `whsec_${Buffer.alloc(24, 5).toString("base64")}`;
    for (const encoding of ["utf8", "base64"] as const) {
      const mirror = await openMirror({ webhook: { secrets: { secret: `${key}\n`, encoding } } });
      const other = encoding === "utf8" ? "base64" : "utf8";
      const signedAs = (form: "utf8" | "base64") =>
        delivery("contract.created", {}, { secret: { secret: key, encoding: form } });
      expect(await statusesOf(mirror, signedAs(encoding), signedAs(other))).toEqual([
        "200 applied",
        "401 rejected",
      ]);
    }
    await expect(
      openMirror({ webhook: { secrets: { secret: "whsec_xyz!", encoding: "base64" } } }),
    ).rejects.toMatchObject({ code: "invalid-configuration" });
  },
);

testCase(
  "Sender retries keep the first timestamp",
  "four hours old is taken in by default; older than the tolerance is told apart from forged",
  async () => {
    const scheme = { content: "timestamp.body" } as const;
    const mirror = await openMirror({ webhook: { signature: scheme } });
    const sent = (id: string, hours: number) =>
      signed(eventBody("contract.created", { id }), { scheme, timestamp: noonMs - hours * 3_600_000 });
    expect(await statusesOf(mirror, sent("1", 4), sent("2", 25))).toEqual(["200 applied", "200 quarantined"]);
    expect((await mirror.quarantine.list()).items).toMatchObject([{ reason: "outside-tolerance" }]);
  },
);

testCase(
  "Clock ahead, and tolerance applied with the wrong sign",
  "±300 s are inside, a millisecond more is not, and a larger tolerance refuses nothing that a smaller took",
  async () => {
    const scheme = { content: "timestamp.body", timestampUnit: "ms" } as const;
    const outcomes = async (toleranceMs: number) => {
      const mirror = await openMirror({ webhook: { signature: scheme, toleranceMs } });
      const sent = [-300_001, -300_000, -60_000, 60_000, 299_000, 300_000, 300_001].map((offset) =>
        signed(eventBody("contract.created", { id: `${offset}` }), { scheme, timestamp: noonMs + offset }),
      );
      return (await statusesOf(mirror, ...sent)).map((status) => status === "200 applied");
    };
    expect(await outcomes(300_000)).toEqual([false, true, true, true, true, true, false]);
    expect(await outcomes(400_000)).toEqual(Array(7).fill(true));
  },
);

testCase(
  "Seconds versus milliseconds",
  "the unit is explicit: a value in another is 401, and no far future is ever fresh",
  async () => {
    const values = { s: `${noonMs / 1000}`, ms: `${noonMs}`, iso: new Date(noonMs).toISOString() };
    for (const timestampUnit of ["s", "ms", "iso"] as const) {
      const scheme = { content: "timestamp.body", timestampUnit } as const;
      const mirror = await openMirror({ webhook: { signature: scheme } });
      for (const [unit, timestamp] of Object.entries(values)) {
        const answer = await mirror.receive(
          signed(eventBody("contract.created", { id: unit }), { scheme, timestamp }),
        );
        expect([answer.status, answer.reason]).toEqual(
          unit === timestampUnit ? [200, undefined] : [401, "timestamp-unparseable"],
        );
      }
    }
  },
);

testCase(
  "Stored delivery re-verified after the window",
  "a quarantined delivery is released days later without its signature",
  async () => {
    const clock = testClock();
    const mirror = await openMirror({ clock });
    await mirror.receive(delivery("contract.created", { id: "1", seconds: 0 }, { webhookId: "wh-1" }));
    await mirror.receive(delivery("contract.approved", { id: "2", seconds: 9 }, { webhookId: "wh-1" }));
    clock.advance(2 * 86_400_000);
    const [aside] = (await mirror.quarantine.list()).items;
    await mirror.quarantine.release(aside?.id ?? "");
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "Approved" });
  },
);
