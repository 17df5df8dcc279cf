/** Cases from public bug reports: amounts, ids, times and fields as the wire writes them. */
import { expect } from "vitest";
import type { FoldInput } from "../../../../src/domain/input.ts";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { casesOf, statusesOf } from "../../../support/cases.ts";
import { at, delivery, event, eventBody, foldOf, signed, snapshot } from "../../../support/delivery.ts";
import { openMirror, recordingLogger, storeKinds } from "../../../support/mirror.ts";

const testCase = casesOf("values");

const partialRefund = (id: string, amount: number) =>
  event("refund.partial-succeeded", { id, seconds: 0, transactionId: id, amount });

const sumOf = (...inputs: FoldInput[]) =>
  [...foldOf(...inputs).refunds.values()].reduce((total, { amountMinor }) => total + (amountMinor ?? 0), 0);

const pascal = (key: string) => key.charAt(0).toUpperCase() + key.slice(1);

const alternating = (key: string) =>
  Array.from(key, (letter) => letter)
    .map((letter, index) => (index % 2 === 0 ? letter.toUpperCase() : letter))
    .join("");

testCase(
  "Money as binary floating point",
  "11.85 and 18.35 are 30.20; a thousand refunds of 0.01 are 10.00; 19.99 is 1999",
  () => {
    const contract = foldOf(event("contract.created", { seconds: 0, amount: 30.2 })).contract;
    expect((contract.amountMinor ?? 0) - sumOf(partialRefund("1", 11.85), partialRefund("2", 18.35))).toBe(0);
    expect(sumOf(...Array.from({ length: 1000 }, (_, index) => partialRefund(`${index}`, 0.01)))).toBe(1000);
    expect(sumOf(partialRefund("1", 19.99))).toBe(1999);
  },
);

testCase(
  "NUMERIC and BIGINT come back as strings",
  "amounts and counts are numbers on every store",
  async () => {
    const seen = new Set<string>();
    for (const [, openStore] of storeKinds) {
      const mirror = await openMirror({ store: openStore() });
      for (const [index, amount] of ["0.10", "12345678901234.56", "0.20"].entries())
        await mirror.receive(
          signed(
            eventBody("refund.partial-initiated", {
              id: `${index}`,
              seconds: index,
              transactionId: index,
            }).replace('"transactionId"', `"amount":${amount},"transactionId"`),
          ),
        );
      const amounts = (await mirror.refunds.list()).items.map(({ amountMinor }) => amountMinor);
      seen.add(JSON.stringify([amounts, await mirror.contracts.count()]));
    }
    expect([...seen]).toEqual(['[[10,1234567890123456,20],{"total":1,"byStatus":{"RefundInProgress":1}}]']);
  },
);

testCase(
  "Integers above 2^53 change silently",
  "ids keep every digit; an amount beyond is null and flagged, never a neighbour",
  async () => {
    for (const [, openStore] of storeKinds) {
      const mirror = await openMirror({ store: openStore() });
      const ids = ["9007199254740993", "9223372036854775807", "9223372036854775808"];
      for (const id of ids)
        await mirror.receive(
          signed(
            `{"id":${id},"event":"refund.full-initiated","data":{"contractId":${id},"transactionId":${id},"amount":${id},"timestamp":"${at(0)}"}}`,
          ),
        );
      expect(
        (await mirror.refunds.list()).items.map(({ refundId, contractId, amountMinor }) => [
          refundId,
          contractId,
          amountMinor,
        ]),
      ).toEqual(ids.map((id) => [id, id, null]));
      expect((await mirror.anomalies.list({ kind: "amount-range" })).items).toHaveLength(3);
      expect((await mirror.deliveries.list()).items.map(({ payloadId }) => payloadId).reverse()).toEqual(ids);
    }
  },
);

testCase(
  "Booleans, dates, undefined cannot be bound",
  "any JSON value in any field leaves equal rows on every store, and no error",
  async () => {
    const odd = [true, false, null, {}, { a: [null] }, [], 0, -1.5, "", "2026-04-14", 1e300];
    const rows = new Set<string>();
    for (const [, openStore] of storeKinds) {
      const mirror = await openMirror({ store: openStore() });
      const answers: string[] = [];
      for (const field of [
        "reference",
        "metadata",
        "timestamp",
        "status",
        "amount",
        "milestoneId",
        "currency",
      ])
        for (const [index, value] of odd.entries())
          answers.push(
            ...(await statusesOf(
              mirror,
              delivery("contract.created", {
                id: `${field}${index}`,
                contractId: field,
                seconds: index,
                [field]: value,
              }),
            )),
          );
      expect(answers.filter((answer) => !answer.startsWith("200"))).toEqual([]);
      const { items } = await mirror.contracts.list();
      rows.add(JSON.stringify([answers, items, await mirror.anomalies.list({ limit: 500 })]));
    }
    expect(rows.size).toBe(1);
  },
);

testCase(
  "JavaScript array sent as a Postgres array",
  "a body whose root is an array is kept as it is",
  async () => {
    const mirror = await openMirror({ store: sqlite(":memory:") });
    expect(await mirror.receive(signed('[{"milestones":[1,2]}]'))).toMatchObject({
      status: 200,
      reason: "invalid-payload",
    });
    const [aside] = (await mirror.quarantine.list()).items;
    expect(Buffer.from((await aside?.body()) ?? "").toString()).toBe('[{"milestones":[1,2]}]');
  },
);

testCase(
  "Key-casing plugin rewrites stored JSON",
  "the stored bytes keep the casing of every key",
  async () => {
    const mirror = await openMirror({ store: sqlite(":memory:") });
    const body = eventBody("contract.created", {
      seconds: 0,
      custom_fields: { field_ab: 1 },
      PascalKey: 2,
    });
    const { webhookId } = await mirror.receive(signed(body));
    expect(Buffer.from((await (await mirror.deliveries.get(webhookId ?? ""))?.body()) ?? "").toString()).toBe(
      body,
    );
  },
);

testCase(
  "Field casing differs between webhook and API",
  "camel, Pascal and mixed case read alike; a missing id or two values are quarantined",
  async () => {
    const recase = (value: unknown, to: (key: string) => string): unknown =>
      typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [to(key), recase(inner, to)]))
        : value;
    const body = JSON.parse(
      eventBody("contract.created", {
        id: "1",
        seconds: 0,
        amount: 5,
        reference: "R",
        metadata: { metadata1: "m" },
      }),
    ) as unknown;
    const contracts = new Set<string>();
    for (const to of [(key: string) => key, pascal, alternating]) {
      const mirror = await openMirror();
      expect(await statusesOf(mirror, signed(JSON.stringify(recase(body, to))))).toEqual(["200 applied"]);
      contracts.add(JSON.stringify(await mirror.contracts.get("CNT-1")));
    }
    expect(contracts.size).toBe(1);
    const mirror = await openMirror();
    expect(await mirror.receive(signed('{"Event":"contract.created","Data":{}}'))).toMatchObject({
      reason: "no-contract-id",
    });
    expect(
      await mirror.receive(delivery("contract.created", { status: "Escrow", Status: "Released" })),
    ).toMatchObject({ reason: "ambiguous-field" });
  },
);

testCase(
  "Null and missing treated alike",
  "a webhook never clears; a snapshot's null does, and what it omits stays",
  () => {
    const full = event("contract.created", {
      id: "1",
      seconds: 0,
      reference: "R",
      metadata: { metadata1: "m" },
    });
    const without = event("contract.approved", { id: "2", seconds: 1 });
    const withNull = event("contract.approved", {
      id: "3",
      seconds: 2,
      reference: null,
      metadata: { metadata1: null },
    });
    expect(foldOf(full, without, withNull).contract).toMatchObject({ reference: "R", metadata1: "m" });
    expect(foldOf(full, snapshot({ seconds: 3, fields: { reference: null } })).contract).toMatchObject({
      reference: null,
      metadata1: "m",
    });
  },
);

testCase("Same GUID in different letter case", "GUIDs meet in one refund; opaque ids stay two", () => {
  const guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
  const both = foldOf(
    event("refund.full-initiated", { seconds: 0, transactionId: guid.toUpperCase() }),
    event("refund.full-succeeded", { seconds: 9, transactionId: `{${guid}}` }),
  );
  expect([...both.refunds.values()]).toMatchObject([
    { refundId: guid, state: "succeeded", initiatedAt: at(0), succeededAt: at(9) },
  ]);
  expect(
    foldOf(
      event("refund.full-initiated", { seconds: 0, transactionId: "abC" }),
      event("refund.full-succeeded", { seconds: 9, transactionId: "abc" }),
    ).refunds.size,
  ).toBe(2);
});

testCase(
  "Timestamps and plain dates shift with the process zone",
  "an instant and a date are the same in every zone",
  () => {
    const zoneBefore = process.env["TZ"];
    const due = { milestoneId: "1", status: null, dueDate: "2025-01-15" };
    const states = ["Asia/Shanghai", "America/Los_Angeles", "UTC"].map((zone) => {
      process.env["TZ"] = zone;
      return foldOf(event("contract.created", { timestamp: "2025-01-15T20:00:00" }), {
        ...snapshot({ seconds: 0, milestones: [due] }),
        receivedAt: "2026-04-14T14:30:00Z",
      });
    });
    if (zoneBefore === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zoneBefore;
    for (const state of states) expect(state).toEqual(states[0]);
    expect(states[0]?.contract.createdAt).toBe("2025-01-15T20:00:00Z");
    expect(states[0]?.milestones.get("1")?.dueDate).toBe("2025-01-15");
  },
);

testCase(
  "BigInt reaches a JSON logger",
  "the largest numbers leave log lines that JSON can hold",
  async () => {
    const logger = recordingLogger();
    const mirror = await openMirror({ logger });
    await mirror.receive(
      signed(
        `{"id":9223372036854775808,"event":"contract.created","data":{"contractId":9223372036854775807,"amount":9223372036854775807}}`,
      ),
    );
    expect(logger.lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(logger.lines)).toContain("9223372036854775807");
  },
);
