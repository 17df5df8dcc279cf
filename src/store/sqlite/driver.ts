/** Opens connections with better-sqlite3, which is loaded by the first. */
import { buildAdvice, isUnbuilt, unfitDriver } from "../../shared/better-sqlite3.ts";
import { EscrowMirrorError } from "../../shared/errors.ts";
import { guarded, type SqliteHandle } from "./handle.ts";

export interface Opener {
  (): SqliteHandle;
  /** The host's handle itself, which is not ours to close. */
  readonly lent?: true;
}

/** @throws EscrowMirrorError `missing-peer` */
export async function openerOf(path: string): Promise<Opener> {
  const Database = await loadDriver();
  return () => {
    try {
      return new Database(path, connectionOptions(false));
    } catch (cause) {
      throw isUnbuilt(cause) ? missingDriver(buildAdvice, cause) : cause;
    }
  };
}

/** Connections of our own beside the host's; a database in memory has one alone. */
export function reopen(database: SqliteHandle): Opener {
  if (database.memory) return Object.assign(() => database, { lent: true as const });
  return () => openBeside(database, false);
}

/** Another connection to the file that a handle has open, made by the same copy of the driver. */
export function openBeside(handle: SqliteHandle, readonly: boolean): SqliteHandle {
  const Database = handle.constructor as new (path: string, options: object) => SqliteHandle;
  return new Database(fileOf(handle), { ...connectionOptions(readonly), fileMustExist: true });
}

/** As SQLite itself has it, whole: the name that was given means another file once the process is in another folder. */
export function fileOf(handle: SqliteHandle): string {
  const databases = guarded(() => handle.pragma("database_list")) as { name: string; file: string }[];
  return databases.find(({ name }) => name === "main")?.file ?? handle.name;
}

/** In WAL mode a read waits only while another process recovers the log: SQLite's own, blocking time-out will do. */
const readBusyTimeoutMs = 1000;

function connectionOptions(readonly: boolean) {
  return { readonly, timeout: readonly ? readBusyTimeoutMs : 0 };
}

async function loadDriver() {
  const unfit = unfitDriver();
  if (unfit !== undefined) throw missingDriver(unfit);
  try {
    return (await import("better-sqlite3")).default;
  } catch (cause) {
    throw missingDriver(
      isUnbuilt(cause) ? buildAdvice : "can't be loaded: npm install better-sqlite3",
      cause,
    );
  }
}

function missingDriver(whatAndFix: string, cause?: unknown): EscrowMirrorError {
  const message = `sqlite() needs the package better-sqlite3, which ${whatAndFix}`;
  return new EscrowMirrorError("missing-peer", message, { cause });
}
