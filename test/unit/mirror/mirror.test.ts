import Database from "better-sqlite3";
import { describe, expect, it, vi } from "vitest";
import { createMirror } from "../../../src/mirror/create-mirror.ts";
import { createMemoryStore } from "../../../src/testing/memory-store.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import { at, delivery, secret, signed } from "../../support/delivery.ts";
import { openMirror, temporaryFile, testClock } from "../../support/mirror.ts";
import { takeWriteLock } from "./write-lock.ts";

const valid = () => ({ store: createMemoryStore(), webhook: { secrets: secret } });

describe("close", () => {
  it("commits and answers what is in flight, refuses what is new with 503, then closes the store", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    const inFlight = Array.from({ length: 20 }, (_, index) =>
      mirror.receive(delivery("contract.created", { id: `e-${index}` })),
    );
    const closing = mirror.close();
    const late = mirror.receive(delivery("contract.created", { id: "late" }));
    expect((await Promise.all(inFlight)).map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(await late).toMatchObject({ status: 503, outcome: "failed", reason: "closed" });
    await closing;
    const stored = new Database(file, { readonly: true });
    expect(stored.prepare("select count(*) from escrow_deliveries").pluck().get()).toBe(20);
    stored.close();
  });

  it("may be called again, at the same time too", async () => {
    const mirror = await openMirror();
    await Promise.all([mirror.close(), mirror.close()]);
    await mirror.close();
  });

  it("is what await using does", async () => {
    const store = createMemoryStore();
    const mirror = await openMirror({ store });
    await mirror[Symbol.asyncDispose]();
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(503);
  });

  it("leaves queries that reject with closed", async () => {
    const mirror = await openMirror({ store: sqlite(":memory:") });
    await mirror.close();
    await expect(mirror.contracts.get("CNT-1")).rejects.toMatchObject({ code: "closed" });
    await expect(mirror.rebuild()).rejects.toMatchObject({ code: "closed" });
  });
});

describe("health", () => {
  it("of a fresh mirror is ok", async () => {
    const mirror = await openMirror();
    expect(await mirror.health()).toEqual({
      ok: true,
      consecutiveFailures: 0,
      lastDeliveryAt: null,
      jobs: { due: 0, waiting: 0, running: 0, dead: 0 },
      quarantined: 0,
      refused: {},
      warnings: [],
    });
  });

  it("tells the last delivery and how many are quarantined", async () => {
    const clock = testClock();
    const mirror = await openMirror({ clock });
    await mirror.receive(delivery("contract.created"));
    clock.advance(7000);
    await mirror.receive(signed("not json"));
    expect(await mirror.health()).toMatchObject({ ok: true, lastDeliveryAt: at(7), quarantined: 1 });
  });

  it("counts verified deliveries in a row that were not answered 2xx, and is not ok from five on", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file, { busyTimeoutMs: 1 }) });
    const first = await takeWriteLock(file);
    const fail = (id: number) => mirror.receive(delivery("contract.created", { id: `e-${id}` }));
    for (let id = 1; id <= 4; id++) expect((await fail(id)).status).toBe(503);
    first.release();
    expect(await mirror.health()).toMatchObject({ ok: true, consecutiveFailures: 4 });
    const second = await takeWriteLock(file);
    await fail(5);
    second.release();
    expect(await mirror.health()).toMatchObject({ ok: false, consecutiveFailures: 5 });
    expect((await fail(6)).status).toBe(200);
    expect(await mirror.health()).toMatchObject({ ok: true, consecutiveFailures: 0 });
  });

  it("counts no forged delivery as a failure", async () => {
    const mirror = await openMirror();
    await mirror.receive(delivery("contract.created", {}, { secret: "whsec_of_somebody_else" }));
    expect(await mirror.health()).toMatchObject({ consecutiveFailures: 0 });
  });

  it("is not ok while the store can't be written, and never rejects", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file, { busyTimeoutMs: 1 }) });
    const lock = await takeWriteLock(file);
    expect(await mirror.health()).toMatchObject({ ok: false });
    lock.release();
    expect(await mirror.health()).toMatchObject({ ok: true });
    await mirror.close();
    expect(await mirror.health()).toMatchObject({ ok: false });
  });
});

describe("createMirror", () => {
  it.each([
    ["no store", { store: undefined }, /store/],
    ["a path for a store", { store: "escrow.db" }, /store/],
    ["no secret", { webhook: {} }, /Signing secret "default" is undefined.*environment variable/s],
    [
      "an unknown option",
      { webhoook: {} },
      /"webhoook" is not an option here: the options are store, migrate, webhook/,
    ],
    ["a secret for the webhook options", { webhook: secret }, /webhook: expected an object with secrets/],
    ["a secret that YAML made a number", { webhook: { secrets: 31_415_926 } }, /is a number\. .*quote it/],
    ["an unknown webhook option", { webhook: { secrets: secret, secret } }, /webhook.*secret/],
    ["an unknown migrate", { migrate: "never" }, /migrate/],
    ["a body limit of nothing", { webhook: { secrets: secret, maxBodyBytes: 0 } }, /maxBodyBytes/],
    ["a body limit that is text", { webhook: { secrets: secret, maxBodyBytes: "1mb" } }, /maxBodyBytes/],
    ["a negative skew", { fold: { skewMs: -1 } }, /skewMs/],
    ["a queue without room", { intake: { itemsMax: 0 } }, /itemsMax/],
    ["a logger without levels", { logger: { log() {} } }, /logger/],
    ["a clock that is none", { clock: {} }, /clock/],
    ["a tolerance below zero", { webhook: { secrets: secret, toleranceMs: -1 } }, /toleranceMs|tolerance/],
    [
      "a header prefix that can't be one",
      { webhook: { secrets: secret, headerPrefix: "X Y" } },
      /headerPrefix/,
    ],
  ])("refuses %s, and names it", async (_, wrong, message) => {
    const opening = createMirror({ ...valid(), ...wrong } as unknown as Parameters<typeof createMirror>[0]);
    await expect(opening).rejects.toMatchObject({ code: "invalid-configuration" });
    await expect(opening).rejects.toThrow(message);
  });

  it("quotes no secret where it refuses one", async () => {
    const opening = createMirror({
      ...valid(),
      webhook: { secrets: { id: "a", secret: "whsec_xyz!", encoding: "base64" } },
    });
    await expect(opening).rejects.toThrow(
      expect.not.objectContaining({ message: expect.stringContaining("xyz") }),
    );
  });

  it.each([31_415_926, [31_415_926], { secret: 31_415_926 }])(
    "quotes no secret that is a number: %j",
    async (secrets) => {
      const opening = createMirror({ ...valid(), webhook: { secrets: secrets as never } });
      await expect(opening).rejects.toThrow(/^(?!.*314)/s);
    },
  );

  it("without a logger warns of what is not taken in, once for each cause", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const mirror = await openMirror({ logger: undefined });
    const forged = delivery("contract.created", {}, { secret: "whsec_another_secret_0123456789abcd" });
    for (let time = 0; time < 2; time++) {
      expect((await mirror.receive(forged)).status).toBe(503);
      expect((await mirror.receive({ ...forged, body: undefined })).status).toBe(500);
    }
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
    const seen = warn.mock.calls.map(([message]) => String(message));
    expect(seen).toEqual([expect.stringContaining("secret"), expect.stringContaining("a parser consumed")]);
    warn.mockRestore();
  });

  it("touches no store before its options are right", async () => {
    const store = sqlite(":memory:");
    await expect(createMirror({ store, webhook: { secrets: "" } })).rejects.toThrow();
    await expect(store.read(async () => 1)).rejects.toMatchObject({ code: "store-unavailable" });
  });
});
