import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMirror, type Mirror } from "../../src/mirror/create-mirror.ts";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import { silentLogger, type Logger, type LogFields } from "../../src/shared/logger.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { noonMs, secret } from "./delivery.ts";
import { undoAfterEachFile, undoAfterEachTest } from "./undo.ts";

export interface TestClock {
  now(): number;
  advance(ms: number): void;
}

export function testClock(startMs = noonMs): TestClock {
  let nowMs = startMs;
  return { now: () => nowMs, advance: (ms) => (nowMs += ms) };
}

export interface LogLine {
  readonly level: keyof Logger;
  readonly fields: LogFields;
  readonly message: string;
}

export interface RecordingLogger extends Logger {
  readonly lines: LogLine[];
}

export function recordingLogger(): RecordingLogger {
  const lines: LogLine[] = [];
  const at = (level: keyof Logger) => (fields: LogFields, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

const opened: Mirror[] = [];
const folders: string[] = [];

undoAfterEachTest(async () => {
  await Promise.all(opened.splice(0).map((mirror) => mirror.close()));
});

undoAfterEachFile(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A mirror in memory with the tests' secret and no log, closed after the test. */
export async function openMirror(
  options: Partial<Omit<MirrorOptions, "webhook">> & { webhook?: Partial<MirrorOptions["webhook"]> } = {},
): Promise<Mirror> {
  const { webhook, ...rest } = options;
  const mirror = await createMirror({
    store: createMemoryStore(),
    clock: testClock(),
    logger: silentLogger,
    ...rest,
    webhook: { secrets: secret, ...webhook },
  });
  opened.push(mirror);
  return mirror;
}

/** A file name in a folder of its own, removed when the tests are done. */
export function temporaryFile(name = "escrow.db"): string {
  const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-"));
  folders.push(folder);
  return join(folder, name);
}

/** Each kind of store that runs without a server. */
export const storeKinds: readonly (readonly [string, () => Store])[] = [
  ["memory", () => createMemoryStore()],
  ["sqlite in memory", () => sqlite(":memory:")],
  ["sqlite file", () => sqlite(temporaryFile())],
];

/** Lets everything that is ready run, without waiting for any time. */
export async function settle(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The same store with transactions of another's making, for faults and waiting. */
export function withTransactions(inner: Store, transaction: Store["transaction"]): Store {
  return Object.create(inner, { transaction: { value: transaction } }) as Store;
}
