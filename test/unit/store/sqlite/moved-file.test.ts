/** An acknowledged delivery is where a restart looks for it, whatever is done to the file under a running mirror. */
import {
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileCheck } from "../../../../src/store/sqlite/file-check.ts";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import type { Mirror } from "../../../../src/mirror/create-mirror.ts";
import { delivery } from "../../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../../support/mirror.ts";

const first = delivery("contract.created", { id: "e-1", seconds: 0 });
const second = delivery("contract.approved", { id: "e-2", seconds: 60 });
const third = delivery("contract.released", { id: "e-3", seconds: 90 });

/** Undoes what it did, where that can be undone. */
type Move = (file: string) => (() => void) | void;

const away = (file: string): string => `${file}.away`;

const moves: Readonly<Record<string, Move>> = {
  "the file is moved": (file) => {
    renameSync(file, away(file));
    return () => renameSync(away(file), file);
  },
  "the file is deleted": (file) => unlinkSync(file),
  "the file is replaced by a copy": (file) => {
    copyFileSync(file, away(file));
    renameSync(away(file), file);
  },
  "the file is replaced by a link to a copy": (file) => {
    copyFileSync(file, away(file));
    unlinkSync(file);
    symlinkSync(away(file), file);
  },
  "the file is replaced by a link to where it was moved, without its log": (file) => {
    renameSync(file, away(file));
    symlinkSync(away(file), file);
    return () => renameSync(away(file), file);
  },
  "the file is replaced by an empty one": (file) => {
    unlinkSync(file);
    writeFileSync(file, "");
  },
  "another database is made in its place": (file) => {
    for (const end of ["", "-wal", "-shm"]) unlinkSync(file + end);
    const other = new Database(file);
    other.pragma("journal_mode = wal");
    other.exec("create table theirs (x)");
    other.close();
  },
  "the log is deleted": (file) => unlinkSync(`${file}-wal`),
  "the log is moved": (file) => {
    renameSync(`${file}-wal`, away(file));
    return () => renameSync(away(file), `${file}-wal`);
  },
  "the log is replaced by a copy": (file) => {
    copyFileSync(`${file}-wal`, away(file));
    renameSync(away(file), `${file}-wal`);
  },
  "the index of the log is deleted": (file) => unlinkSync(`${file}-shm`),
  "the index of the log is replaced": (file) => {
    copyFileSync(`${file}-shm`, away(file));
    renameSync(away(file), `${file}-shm`);
  },
  "the log is emptied": (file) => truncateSync(`${file}-wal`, 0),
  "the log is cut": (file) => truncateSync(`${file}-wal`, statSync(`${file}-wal`).size / 2),
  "the log is cut within its last page": (file) =>
    truncateSync(`${file}-wal`, statSync(`${file}-wal`).size - 100),
  "the log loses its header": (file) => overwrite(`${file}-wal`, Buffer.alloc(32)),
  "the log loses its end": (file) =>
    overwrite(`${file}-wal`, Buffer.alloc(9000), statSync(`${file}-wal`).size - 9000),
  "a log of before it started over is copied over it": (file) => {
    copyFileSync(`${file}-wal`, away(file));
    startLogOver(file);
    copyFileSync(away(file), `${file}-wal`);
  },
  "the log loses a commit of another process": (file) => {
    const beside = new Database(file);
    beside.exec("create table theirs (x)");
    const endsAt = statSync(`${file}-wal`).size;
    beside.exec("insert into theirs values (1)");
    beside.close();
    truncateSync(`${file}-wal`, endsAt);
  },
  "the log of another database is copied over it": (file) => {
    const other = new Database(`${file}.other`);
    other.exec("pragma journal_mode = wal; create table theirs (x)");
    copyFileSync(`${file}.other-wal`, `${file}-wal`);
    other.close();
  },
  "the file is emptied, and its log is not": (file) => truncateSync(file, 0),
  "the folder is renamed": (file) => {
    const folder = dirname(file);
    renameSync(folder, away(folder));
    return () => renameSync(away(folder), folder);
  },
  "the folder is renamed, and one of its name is made": (file) => {
    const folder = dirname(file);
    renameSync(folder, away(folder));
    mkdirSync(folder);
  },
  "the folder is replaced by a copy": (file) => {
    const folder = dirname(file);
    renameSync(folder, away(folder));
    mkdirSync(folder);
    for (const end of ["", "-wal", "-shm"]) copyFileSync(join(away(folder), `db${end}`), file + end);
  },
};

/** In the place of what is there: the file stays the same one. */
function overwrite(path: string, bytes: Uint8Array, at = 0): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

/** Writes the log back to the database, and begins a new one in the same file. */
function startLogOver(file: string): void {
  const beside = new Database(file);
  beside.pragma("wal_checkpoint(restart)");
  beside.exec("create table theirs (x)");
  beside.close();
}

/** What a process leaves that is killed before it tells the others of its commit: pages with the log's salts, a commit last. */
function leaveHalfCommit(log: string, pages: number): void {
  const bytes = readFileSync(log);
  const pageBytes = bytes.readUInt32BE(8);
  const frames = Buffer.alloc(pages * (24 + pageBytes));
  for (let page = 0; page < pages; page++) {
    const at = page * (24 + pageBytes);
    frames.writeUInt32BE(page + 1, at);
    bytes.copy(frames, at + 8, 16, 24);
  }
  frames.writeUInt32BE(pages, frames.length - pageBytes - 20);
  overwrite(log, frames, bytes.length);
}

/** In a folder of its own in the test's, so that it can be moved too. */
function fileOfItsOwn(): string {
  const folder = join(dirname(temporaryFile()), "folder");
  mkdirSync(folder);
  return join(folder, "db");
}

async function openWithOne(file: string): Promise<Mirror> {
  const mirror = await openMirror({ store: sqlite(file) });
  expect((await mirror.receive(first)).outcome).toBe("applied");
  return mirror;
}

describe("a delivery is not acknowledged, and health is not ok, once", () => {
  it.each(Object.entries(moves))("%s", async (_, move) => {
    const file = fileOfItsOwn();
    const mirror = await openWithOne(file);
    expect((await mirror.health()).ok).toBe(true);
    const putBack = move(file);
    const refused = { status: 503, outcome: "failed", reason: "store-unavailable" };
    expect(await mirror.receive(second)).toMatchObject(refused);
    expect((await mirror.health()).ok).toBe(false);
    if (putBack === undefined) return;
    putBack();
    // It may have been written before it was found out that nobody will look there.
    expect((await mirror.receive(second)).status).toBe(200);
    expect((await mirror.health()).ok).toBe(true);
    await mirror.close();
    const again = await openMirror({ store: sqlite(file), migrate: "check" });
    expect(await again.contracts.get("CNT-1")).toMatchObject({ status: "Approved" });
  });

  it("the log was damaged, though SQLite has begun another since", async () => {
    const file = fileOfItsOwn();
    const mirror = await openWithOne(file);
    overwrite(`${file}-wal`, Buffer.alloc(32));
    expect((await mirror.receive(second)).status).toBe(503);
    startLogOver(file);
    expect(await mirror.receive(second)).toMatchObject({ status: 503, reason: "store-unavailable" });
    expect((await mirror.health()).ok).toBe(false);
  });

  it("the path is a link that leads elsewhere by now", async () => {
    const file = fileOfItsOwn();
    const link = join(dirname(dirname(file)), "current");
    symlinkSync(file, link);
    const mirror = await openWithOne(link);
    copyFileSync(file, away(file));
    unlinkSync(link);
    symlinkSync(away(file), link);
    expect(await mirror.receive(second)).toMatchObject({ status: 503, reason: "store-unavailable" });
  });

  it("the folder of the path is a link that leads elsewhere by now", async () => {
    const file = fileOfItsOwn();
    const link = join(dirname(dirname(file)), "current");
    symlinkSync(dirname(file), link);
    const mirror = await openWithOne(join(link, basename(file)));
    unlinkSync(link);
    mkdirSync(link);
    expect(await mirror.receive(second)).toMatchObject({ status: 503, reason: "store-unavailable" });
  });

  it("says which file, and what to do", async () => {
    const file = fileOfItsOwn();
    const store = sqlite(file);
    await openMirror({ store });
    unlinkSync(`${file}-wal`);
    await expect(store.transaction(async () => undefined)).rejects.toMatchObject({
      code: "store-unavailable",
      message: expect.stringMatching(/db-wal is not the file .* restart/),
    });
  });

  it("the file of a lent handle is moved", async () => {
    const file = fileOfItsOwn();
    const lent = new Database(file);
    const mirror = await openMirror({ store: sqlite({ database: lent }) });
    expect((await mirror.receive(first)).outcome).toBe("applied");
    renameSync(file, away(file));
    expect(await mirror.receive(second)).toMatchObject({ status: 503, reason: "store-unavailable" });
    lent.close();
  });
});

describe("a delivery is acknowledged where a restart finds it:", () => {
  const harmless: Readonly<Record<string, Move>> = {
    "nothing is done": () => {},
    "the log is written back by another program": (file) => {
      const beside = new Database(file);
      beside.pragma("wal_checkpoint(truncate)");
      beside.close();
    },
    "another program starts the log over": startLogOver,
    "another program rewrites the file": (file) => {
      const beside = new Database(file);
      beside.exec("vacuum");
      beside.close();
    },
    "the file is copied": (file) => copyFileSync(file, away(file)),
    "the file has a second name": (file) => linkSync(file, away(file)),
    "the folder moved, and a link leads there": (file) => {
      const folder = dirname(file);
      renameSync(folder, away(folder));
      symlinkSync(away(folder), folder);
    },
    "the folder moved away and back": (file) => {
      const folder = dirname(file);
      renameSync(folder, away(folder));
      renameSync(away(folder), folder);
    },
  };

  it.each(Object.entries(harmless))("%s", async (_, move) => {
    const file = fileOfItsOwn();
    const mirror = await openWithOne(file);
    move(file);
    expect((await mirror.receive(second)).outcome).toBe("applied");
    expect((await mirror.health()).ok).toBe(true);
    await mirror.close();
    const again = await openMirror({ store: sqlite(file), migrate: "check" });
    expect((await again.contracts.get("CNT-1"))?.status).toBe("Approved");
  });

  it("a second process opens and closes the file", async () => {
    const file = fileOfItsOwn();
    const mirror = await openWithOne(file);
    const other = await openMirror({ store: sqlite(file) });
    expect((await other.receive(second)).outcome).toBe("applied");
    await other.close();
    expect((await mirror.receive(third)).outcome).toBe("applied");
  });

  it("a second process was killed in its commit, and SQLite overwrites what that wrote to the log", async () => {
    const file = fileOfItsOwn();
    const mirror = await openWithOne(file);
    leaveHalfCommit(`${file}-wal`, 200);
    expect((await mirror.receive(second)).outcome).toBe("applied");
    expect((await mirror.receive(third)).outcome).toBe("applied");
    expect((await mirror.health()).ok).toBe(true);
    await mirror.close();
    const again = await openMirror({ store: sqlite(file), migrate: "check" });
    expect((await again.contracts.get("CNT-1"))?.status).toBe("Released");
  });

  it.each(["wal_checkpoint(restart)", "wal_checkpoint(truncate)", "wal_checkpoint(passive)"])(
    "another connection runs %s just after a transaction that wrote nothing",
    (pragma) => {
      const file = fileOfItsOwn();
      const [writer, watcher, other] = [new Database(file), new Database(file), new Database(file)];
      for (const each of [writer, watcher, other]) onTestFinished(() => void each.close());
      writer.pragma("journal_mode = wal");
      writer.exec("create table rows (value integer); insert into rows values (1)");
      const check = createFileCheck(file, writer, watcher);
      const inTransaction = (sql: string, then: () => void = () => {}): void => {
        writer.exec("begin immediate");
        check.begun();
        writer.exec(`${sql}; commit`);
        then();
        check.ended();
      };
      inTransaction("update rows set value = 2");
      inTransaction("select value from rows", () => void other.pragma(pragma));
      inTransaction("update rows set value = 3");
      inTransaction("update rows set value = 4");
    },
  );

  it("the path was relative, and the process is in another folder by now", async () => {
    const file = fileOfItsOwn();
    const home = process.cwd();
    process.chdir(dirname(file));
    const mirror = await openMirror({ store: sqlite(basename(file)) });
    process.chdir(home);
    expect((await mirror.receive(first)).outcome).toBe("applied");
    rmSync(`${file}.none`, { force: true });
  });

  it.each([":memory:", "lent"])("the database is in memory: %s", async (kind) => {
    const lent = new Database(":memory:");
    const mirror = await openMirror({
      store: kind === "lent" ? sqlite({ database: lent }) : sqlite(kind),
    });
    expect((await mirror.receive(first)).outcome).toBe("applied");
    expect((await mirror.health()).ok).toBe(true);
  });
});
