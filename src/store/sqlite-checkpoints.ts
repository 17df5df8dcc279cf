import { createRequire } from "node:module";
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";

/**
 * Checkpoints (WAL to database) in a thread of their own. Made by the writer, every so often a commit would copy
 * thousands of pages and wait for the disk, and the host's event loop with it.
 */
export interface Checkpoints {
  /** To be called after each commit: every so many ask for a checkpoint. */
  committed(): void;
  /** Resolves when the thread has closed its connection; no checkpoint is made after it. */
  close(): Promise<void>;
}

/** At least so many commits share a checkpoint: a page that several of them touched is then written once. */
const commitsPerCheckpoint = 16;

/**
 * The thread starts with the first checkpoint. Where it can't (the driver is not to be found from here), or fails later,
 * the writer's own checkpoints do.
 */
export function createCheckpoints(path: string): Checkpoints {
  let thread: Worker | undefined;
  let state: "idle" | "busy" | "stopped" = "idle";
  let commits = 0;

  function start(): Worker {
    const driver = createRequire(import.meta.url).resolve("better-sqlite3");
    const workerData = { driver, path: resolve(path) };
    // Without the host's own flags: a loader among them would be started again.
    const started = new Worker(source, { eval: true, execArgv: [], workerData });
    started.on("message", () => {
      if (state === "busy") state = "idle";
    });
    started.on("error", () => (state = "stopped"));
    started.on("exit", () => (state = "stopped"));
    // It keeps no process alive.
    started.unref();
    return started;
  }

  return {
    committed() {
      commits += 1;
      if (commits < commitsPerCheckpoint || state !== "idle") return;
      commits = 0;
      state = "busy";
      try {
        thread ??= start();
        thread.postMessage("checkpoint");
      } catch {
        state = "stopped";
      }
    },

    close: async () => {
      if (thread === undefined || state === "stopped") return;
      state = "stopped";
      const exit = new Promise((done) => thread?.once("exit", done));
      thread.ref();
      thread.postMessage("close");
      await exit;
    },
  };
}

/** As text, so that no bundler can lose the file and no loader is needed to read it. */
const source = `
const { parentPort, workerData } = require("node:worker_threads");
const Database = require(workerData.driver);
const database = new Database(workerData.path, { fileMustExist: true, timeout: 0 });
// Not "off", whatever the driver was built with: a checkpoint must sync before the WAL is used again.
database.pragma("synchronous = full");
parentPort.on("message", (order) => {
  if (order === "close") {
    database.close();
    parentPort.close();
    return;
  }
  try {
    database.pragma("wal_checkpoint(passive)");
  } catch {
    // What is wrong with the file or the disk, the writer meets and reports.
  }
  parentPort.postMessage("done");
});
`;
