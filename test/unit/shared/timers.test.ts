import { readdirSync, readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fetchWebhook } from "../../../adapters/fetch.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import { delivery, otherSecret, secret } from "../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../support/mirror.ts";

const never = (): never => {
  throw new Error("a timer was taken from the global object after load");
};
/** A test of a user's replaces them in one way or another. */
const fakings: readonly (readonly [string, () => void])[] = [
  ["vitest's fake timers", () => vi.useFakeTimers()],
  ["all that vitest can fake", () => vi.useFakeTimers({ toFake: [...fakeable] })],
  [
    "replaced globals",
    () => {
      for (const name of ["setTimeout", "setImmediate", "setInterval"]) vi.stubGlobal(name, never);
    },
  ],
];
const fakeable = [
  "setTimeout",
  "setImmediate",
  "setInterval",
  "clearTimeout",
  "performance",
  "Date",
] as const;

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe.each(fakings)("under %s", (_, fake) => {
  it("a delivery is answered, and the mirror closes", async () => {
    const mirror = await openMirror({ store: sqlite(temporaryFile()) });
    fake();
    expect(await mirror.receive(delivery("contract.created"))).toMatchObject({ outcome: "applied" });
    await mirror.close();
  });

  it("a locked database is waited for no longer than its time-out", async () => {
    const path = temporaryFile();
    const mirror = await openMirror({ store: sqlite({ path, busyTimeoutMs: 50 }) });
    const other = new Database(path);
    other.exec("begin exclusive");
    fake();
    expect(await mirror.receive(delivery("contract.created"))).toMatchObject({ status: 503 });
    other.exec("rollback");
    other.close();
  });

  it("a body that is too large is answered", async () => {
    const handler = fetchWebhook(await openMirror({ webhook: { maxBodyBytes: 10 } }));
    fake();
    const { headers } = delivery("contract.created");
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(100)) });
    const init = {
      method: "POST",
      headers: new Headers(Object.entries(headers)),
      body,
      duplex: "half" as const,
    };
    const answered = await handler(new Request("http://localhost/", init));
    expect(answered.status).toBe(413);
    await answered.text();
  });
});

it("secrets are waited for no longer than their time-out under fake timers", async () => {
  let asked = 0;
  const silent = () => (asked++ === 0 ? secret : new Promise<string>(() => {}));
  const mirror = await openMirror({ webhook: { secrets: silent } });
  vi.useFakeTimers();
  const forged = delivery("contract.created", {}, { secret: otherSecret });
  expect(await mirror.receive(forged)).toMatchObject({ status: 503 });
});

describe("the source", () => {
  const folders = ["src", "adapters"].map((name) => new URL(`../../../${name}/`, import.meta.url).pathname);
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}${name}`),
  );
  /** Runs in a browser. */
  const elsewhere = "control-script.ts";

  it("takes its timers from one file, which has them from the start", () => {
    const own = files.filter((name) => name.endsWith(".ts") && !name.endsWith(elsewhere));
    const wrong = own.filter((name) => {
      const text = readFileSync(name, "utf8");
      const used = [...text.matchAll(/\b(setTimeout|setImmediate|setInterval|performance\.now)\(/g)];
      return used.some(
        ([, timer = ""]) =>
          !new RegExp(`import \\{[^}]*\\b${timer}\\b[^}]*\\} from "[^"]*/timers.ts"`).test(text),
      );
    });
    expect(wrong).toEqual([]);
    const direct = own.filter((name) => !name.endsWith("/timers.ts"));
    expect(direct.filter((name) => readFileSync(name, "utf8").includes('"node:timers'))).toEqual([]);
  });
});
