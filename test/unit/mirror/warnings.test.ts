/** Health while the subscription is being disabled: what is refused is counted, and a person is told what to do. */
import { describe, expect, it } from "vitest";
import { createMirror, type Mirror } from "../../../src/mirror/create-mirror.ts";
import type { ReceiveRequest } from "../../../src/receiver/request.ts";
import { silentLogger } from "../../../src/shared/logger.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import { createMemoryStore } from "../../../src/testing/memory-store.ts";
import { at, delivery, eventBody, otherSecret, secret, signed } from "../../support/delivery.ts";
import { failing } from "../../support/failing-store.ts";
import { openMirror, recordingLogger, temporaryFile, testClock } from "../../support/mirror.ts";
import { takeWriteLock } from "./write-lock.ts";

let counter = 0;
const fresh = (by = secret) =>
  delivery("contract.created", { id: `e-${++counter}`, seconds: 0 }, { secret: by });
const consumed = (): ReceiveRequest => ({ ...fresh(), body: undefined });
const unsigned = (): ReceiveRequest => ({ method: "POST", headers: {}, body: "{}" });
const scheme = { content: "timestamp.body" } as const;

async function twelveTimes(mirror: Mirror, request: () => ReceiveRequest) {
  const statuses = new Set<number>();
  for (let time = 0; time < 12; time++) statuses.add((await mirror.receive(request())).status);
  return [...statuses];
}

const inVain: readonly (readonly [string, boolean, () => ReceiveRequest, number, string, RegExp])[] = [
  [
    "a secret that was never right",
    false,
    () => fresh(otherSecret),
    503,
    "secret-unproven",
    /Compare the secret/,
  ],
  [
    "a secret that was changed",
    true,
    () => fresh(otherSecret),
    401,
    "signature-mismatch",
    /Compare the secret/,
  ],
  [
    "a body that a parser consumed",
    true,
    consumed,
    500,
    "raw-body-unavailable",
    /before the app's JSON parser/,
  ],
  ["a header that a proxy drops", true, unsigned, 401, "signature-missing", /no proxy drops the header/],
  [
    "a body over the limit",
    true,
    () => ({ ...fresh(), body: "x".repeat(2_000_000) }),
    413,
    "body-too-large",
    /Raise webhook\.maxBodyBytes/,
  ],
];

describe("twelve deliveries that are refused", () => {
  it.each(inVain)(
    "for %s are counted, and warned of; ok stays",
    async (_, isProven, request, status, reason, advice) => {
      const clock = testClock();
      const mirror = await openMirror({ clock });
      if (isProven) await mirror.receive(fresh());
      clock.advance(7000);
      expect(await twelveTimes(mirror, request)).toEqual([status]);
      const health = await mirror.health();
      expect(health).toMatchObject({
        ok: true,
        consecutiveFailures: 0,
        refused: { [reason]: { count: 12, lastAt: at(7) } },
      });
      expect(health.warnings).toEqual([expect.stringMatching(advice)]);
    },
  );

  it.each(inVain)(
    "for %s are told of at error, at most once a minute while it lasts",
    async (_, isProven, request) => {
      const clock = testClock();
      const logger = recordingLogger();
      const mirror = await openMirror({ clock, logger });
      if (isProven) await mirror.receive(fresh());
      const errors = () => logger.lines.filter(({ level }) => level === "error").length;
      await twelveTimes(mirror, request);
      const first = errors();
      // A request without any signature is mostly a stranger's.
      expect(first).toBe(request === unsigned ? 0 : 1);
      clock.advance(59_999);
      await twelveTimes(mirror, request);
      expect(errors()).toBe(first);
      clock.advance(1);
      await twelveTimes(mirror, request);
      expect(errors()).toBe(first * 2);
    },
  );

  it.each([
    [1, /^1 request was refused since the start, the last at /],
    [2, /^2 requests were refused since the start, the last at /],
  ])("are counted in a sentence: %i", async (count, sentence) => {
    const mirror = await openMirror();
    await mirror.receive(fresh());
    for (let time = 0; time < count; time++) await mirror.receive(fresh(otherSecret));
    expect((await mirror.health()).warnings).toEqual([expect.stringMatching(sentence)]);
  });

  it("are warned of for an hour, and until a delivery is taken in after them", async () => {
    const clock = testClock();
    const mirror = await openMirror({ clock });
    await mirror.receive(fresh());
    await mirror.receive(fresh(otherSecret));
    clock.advance(7 * 86_400_000);
    expect((await mirror.health()).warnings).toHaveLength(1);
    await mirror.receive(fresh());
    expect((await mirror.health()).warnings).toEqual([]);
    await mirror.receive(fresh(otherSecret));
    clock.advance(1000);
    await mirror.receive(fresh());
    expect((await mirror.health()).warnings).toHaveLength(1);
    clock.advance(3_600_000);
    expect((await mirror.health()).warnings).toEqual([]);
  });

  it("never turn ok, however many are forged, and leave only their number", async () => {
    const mirror = await openMirror();
    await mirror.receive(fresh());
    for (let time = 0; time < 500; time++)
      await mirror.receive(
        time % 2 === 0 ? fresh(`${otherSecret}${time}`) : { ...unsigned(), method: `M${time}` },
      );
    const { ok, refused } = await mirror.health();
    expect(ok).toBe(true);
    expect(Object.entries(refused).map(([reason, { count }]) => [reason, count])).toEqual([
      ["signature-mismatch", 250],
      ["method-not-allowed", 250],
    ]);
  });

  it("for a timestamp in another unit are authentic, and warned of", async () => {
    const mirror = await openMirror({ webhook: { signature: scheme } });
    await mirror.receive(signed(eventBody("contract.created"), { scheme, timestamp: "half past two" }));
    expect((await mirror.health()).warnings).toEqual([
      expect.stringMatching(/timestamp-unparseable.*webhook\.signature/),
    ]);
  });
});

describe("a warning", () => {
  it("names a store that can't be used, and failures in a row", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file, { busyTimeoutMs: 1 }) });
    const lock = await takeWriteLock(file);
    for (let time = 0; time < 5; time++) await mirror.receive(fresh());
    const { ok, warnings } = await mirror.health();
    expect(ok).toBe(false);
    expect(warnings[0]).toMatch(/^The store can't be used: .*SQLITE_BUSY/);
    expect(warnings[1]).toMatch(/^5 answers in a row/);
    lock.release();
  });

  it("names what is quarantined, until it is released or dismissed", async () => {
    const mirror = await openMirror();
    await mirror.receive(signed("not json"));
    const { quarantined, warnings } = await mirror.health();
    expect(quarantined).toBe(1);
    expect(warnings).toEqual([expect.stringMatching(/^1 delivery is quarantined.*release or dismiss/)]);
    await mirror.quarantine.dismiss((await mirror.quarantine.list()).items[0]?.id ?? "");
    expect(await mirror.health()).toMatchObject({ quarantined: 0, warnings: [] });
  });

  it("names a secret that has verified nothing for an hour, by its id", async () => {
    const clock = testClock();
    const secrets = [
      { id: "new", secret: otherSecret },
      { id: "old", secret },
    ];
    const mirror = await openMirror({ clock, webhook: { secrets } });
    await mirror.receive(fresh());
    expect((await mirror.health()).warnings).toEqual([]);
    clock.advance(3_600_000);
    const { warnings } = await mirror.health();
    expect(warnings).toEqual([expect.stringMatching(/^The signing secret "new" has not verified/)]);
    expect(JSON.stringify(warnings)).not.toContain(otherSecret);
    await mirror.receive(fresh(otherSecret));
    expect((await mirror.health()).warnings).toEqual([]);
  });

  it("names a delivery that can't be applied", async () => {
    const broken = failing(createMemoryStore(), (call) => call === "lockContracts");
    const mirror = await openMirror({ store: broken.store });
    broken.fault = new Error("of its own");
    await mirror.receive(fresh());
    const { warnings } = await mirror.health();
    expect(warnings.join()).toMatch(/unstorable.*1 delivery is quarantined/);
  });
});

const openWithout = () =>
  createMirror({ store: createMemoryStore(), clock: testClock(), logger: silentLogger });

describe("a mirror without secrets", () => {
  it("reads, answers deliveries 503, and says so in health", async () => {
    const mirror = await openWithout();
    expect((await mirror.health()).warnings).toEqual([]);
    expect(await mirror.receive(fresh())).toMatchObject({
      status: 503,
      outcome: "failed",
      reason: "no-secret",
    });
    expect(await mirror.contracts.list()).toEqual({ items: [], nextCursor: null });
    const { ok, refused, warnings } = await mirror.health();
    expect([ok, refused["no-secret"]?.count]).toEqual([true, 1]);
    expect(warnings).toEqual([expect.stringMatching(/no signing secret.*webhook\.secrets/)]);
    await mirror.close();
  });

  it("answers 503 whatever the signature, for it can't tell a stranger's, and stores nothing", async () => {
    const mirror = await openWithout();
    for (const request of [unsigned(), fresh(otherSecret), fresh()])
      expect((await mirror.receive(request)).status).toBe(503);
    expect((await mirror.receive({ method: "GET", headers: {} })).status).toBe(405);
    expect((await mirror.deliveries.list()).items).toEqual([]);
    await mirror.close();
  });
});
