/** Cases from public bug reports: one delivery that comes more than once. */
import { expect } from "vitest";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { casesOf, statusesOf, v1, tally } from "../../../support/cases.ts";
import { delivery, noonMs } from "../../../support/delivery.ts";
import { openMirror, temporaryFile, testClock } from "../../../support/mirror.ts";
import { startChild } from "../../../support/process.ts";

const testCase = casesOf("duplicates");

const refundSucceeded = (id: string) =>
  delivery("refund.full-succeeded", { id, seconds: 0, transactionId: "T" }, { webhookId: `wh-${id}` });

testCase(
  "Two simultaneous copies of one delivery both take effect",
  "in one process and from two on one file one of 20 is applied, the rest are duplicates",
  async () => {
    const file = temporaryFile();
    const [one, two] = [
      await openMirror({ store: sqlite({ path: file, busyTimeoutMs: 10_000 }) }),
      await openMirror({ store: sqlite({ path: file, busyTimeoutMs: 10_000 }) }),
    ];
    const inside = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : two).receive(v1)),
    );
    expect(tally(inside.map(({ status, outcome }) => `${status} ${outcome}`))).toEqual({
      "200 applied": 1,
      "200 duplicate": 19,
    });
    const children = await Promise.all(
      ["a", "b"].map((name) => startChild("deliver", file, name, "20", "same")),
    );
    for (const child of children) expect(await child.line()).toBe("ready");
    for (const child of children) child.process.stdin.write("go\n");
    const answers = (await Promise.all(children.map((child) => child.line()))).flatMap(
      (line) => JSON.parse(line) as string[],
    );
    expect(tally(answers)).toEqual({ "200 applied": 1, "200 duplicate": 39 });
    for (const child of children) expect(await child.ended, child.errors()).toBe(0);
    expect((await one.deliveries.get("same"))?.attempts).toBe(40);
    expect(await one.contracts.history("CNT-same")).toHaveLength(1);
  },
);

testCase(
  '"Was it inserted?" decided from the last row id',
  "D1, D2, D1: the third is a duplicate and counts on D1",
  async () => {
    const mirror = await openMirror({ store: sqlite(":memory:") });
    const [first, second] = [
      delivery("contract.created", { id: "1" }, { webhookId: "D1" }),
      delivery("contract.created", { id: "2" }, { webhookId: "D2" }),
    ];
    expect(await statusesOf(mirror, first, second, first)).toEqual([
      "200 applied",
      "200 applied",
      "200 duplicate",
    ]);
    expect((await mirror.deliveries.get("D1"))?.attempts).toBe(2);
    expect((await mirror.deliveries.get("D2"))?.attempts).toBe(1);
  },
);

testCase(
  "Dedupe memory too short, unbounded, or only in RAM",
  "a restart and any length of time later it is still a duplicate",
  async () => {
    const file = temporaryFile();
    const before = await openMirror({ store: sqlite(file) });
    expect(await statusesOf(before, v1)).toEqual(["200 applied"]);
    await before.close();
    const after = await openMirror({
      store: sqlite(file),
      clock: testClock(noonMs + 5 * 365 * 86_400_000),
    });
    expect(await statusesOf(after, v1)).toEqual(["200 duplicate"]);
  },
);

testCase(
  "Conflict clause names one of two unique keys",
  "two webhook ids for one transaction and type are no 500, and one refund",
  async () => {
    const mirror = await openMirror({ store: sqlite(":memory:") });
    const answers = await Promise.all([
      mirror.receive(refundSucceeded("1")),
      mirror.receive(refundSucceeded("2")),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await mirror.refunds.list()).items).toHaveLength(1);
    expect((await mirror.contracts.history("CNT-1")).filter(({ moved }) => moved)).toHaveLength(1);
  },
);
