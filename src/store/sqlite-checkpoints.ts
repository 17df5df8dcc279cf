import { createRequire } from "node:module";
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";

/**
 * Brings what is committed from the WAL into the database beside the writer, in a thread of its own: else every so many
 * commits one would copy thousands of pages and wait for the disk, and the host's event loop with it.
 */
export interface Checkpoints {
  /** Something was committed. */
  committed(): void;
  close(): Promise<void>;
}

/** How many commits one checkpoint brings over: pages that many of them touched are then written once. */
const commitsEach = 16;

/**
 * The thread starts with the first checkpoint. Where it can't (the driver is not to be found from here), or fails later,
 * the writer's own checkpoints do.
 */
export function createCheckpoints(path: string): Checkpoints {
  const worker = { thread: undefined as Worker | undefined, failed: false, busy: false };
  let commits = 0;

  function start(): Worker {
    const driver = createRequire(import.meta.url).resolve("better-sqlite3");
    // Without the host's own flags: a loader among them would be started again.
    const thread = new Worker(source, {
      eval: true,
      execArgv: [],
      workerData: { driver, path: resolve(path) },
    });
    thread.on("message", () => (worker.busy = false));
    thread.on("error", () => (worker.failed = true));
    thread.on("exit", () => (worker.failed = true));
    // It keeps no process alive.
    thread.unref();
    return thread;
  }

  return {
    committed() {
      if (++commits < commitsEach || worker.busy || worker.failed) return;
      commits = 0;
      try {
        worker.thread ??= start();
        worker.busy = true;
        worker.thread.postMessage("checkpoint");
      } catch {
        worker.failed = true;
      }
    },

    close: async () => {
      const { thread, failed } = worker;
      worker.failed = true;
      if (thread === undefined || failed) return;
      const exit = new Promise((done) => thread.once("exit", done));
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
