/** `bytesGone` on SQLite: no byte of the person is left in the file or its write-ahead log, or it says so. */
import { existsSync, readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { delivery, sha256 } from "../support/delivery.ts";
import { openMirror, temporaryFile } from "../support/mirror.ts";
import { sentinel } from "./redact-contract.ts";

const created = delivery("contract.created", { id: "b-1", seconds: 0, reference: sentinel, notes: sentinel });

function isThere(file: string): boolean {
  return [file, `${file}-wal`].some((each) => existsSync(each) && readFileSync(each).includes(sentinel));
}

it("a reader in the way is told of, and the next call finishes", async () => {
  const file = temporaryFile();
  const mirror = await openMirror({ store: sqlite(file) });
  await mirror.receive(created);
  const reader = new Database(file, { readonly: true });
  reader.exec("begin");
  reader.prepare("select count(*) from escrow_contracts").all();
  expect(await mirror.redact("CNT-1")).toEqual({ bytesGone: false, known: true });
  expect(isThere(file)).toBe(true);
  reader.close();
  expect(await mirror.redact("CNT-1")).toEqual({ bytesGone: true, known: true });
  expect(isThere(file)).toBe(false);
});

it("bytes of a batch that is larger than the cache, and is rolled back, are gone too", async () => {
  const file = temporaryFile();
  const store = sqlite(file);
  const mirror = await openMirror({ store });
  const body = Buffer.alloc(1_048_576, `${sentinel} `);
  const payloads = Array.from({ length: 40 }, (_, index) => ({
    contentKey: sha256(String(index)),
    receivedAt: "2026-04-14T14:30:00.000Z",
    body,
    headers: {},
  }));
  const spilled = store.transaction(async (tx) => {
    await tx.insert("payloads", payloads);
    throw new Error("rolled back");
  });
  await expect(spilled).rejects.toThrow("rolled back");
  expect(isThere(file)).toBe(true);
  expect(await mirror.redact("CNT-1")).toMatchObject({ bytesGone: true });
  expect(isThere(file)).toBe(false);
});
