import { z } from "zod";
import { parseConfiguration, strictOptions } from "../../shared/configuration.ts";
import { filePathAdvice, looksLikeAddress } from "../../shared/file-path.ts";
import { sqlitePlace } from "../place-options.ts";
import type { SqliteHandle } from "./handle.ts";

/** Options of `sqlite()`. */
export interface SqliteOptions {
  /** The start of every table's name. With it the mirror can share a database. Default `escrow_`. */
  readonly prefix?: string | undefined;
  /**
   * How long to wait for another process's transaction before the answer is 503. Milliseconds, default 800, at most
   * 20,000.
   */
  readonly busyTimeoutMs?: number | undefined;
}

/** A file by its path, or the app's open database. */
export type SqliteTarget = (
  | {
      /** The path of a file, or `":memory:"` for tests. */
      readonly path: string;
    }
  | {
      /** An open better-sqlite3 `Database`. If it is a file, the mirror opens connections of its own. */
      readonly database: SqliteHandle;
    }
) &
  SqliteOptions;

/** The options with their defaults; exactly one of `path` and `database` is there. */
export type SqliteSettings = z.output<typeof schema>;

/** @throws EscrowMirrorError `invalid-configuration` that names the option, and quotes no path that may hold a password */
export function parseSqliteOptions(target: string | SqliteTarget, options: SqliteOptions): SqliteSettings {
  const named = typeof target === "string" ? { path: target } : target;
  return parseConfiguration("sqlite", schema, { ...named, ...options });
}

const somePath = z
  .string()
  .regex(/\S/, 'expected a path: sqlite("escrow.db"), or ":memory:" for tests')
  .refine((path) => !looksLikeAddress(path), { message: filePathAdvice });

const isHandle = (value: unknown): boolean => {
  const { prepare, pragma } = (value ?? {}) as Partial<SqliteHandle>;
  return typeof prepare === "function" && typeof pragma === "function";
};

const schema = strictOptions({
  path: somePath.optional(),
  database: z.custom<SqliteHandle>(isHandle, "expected an open better-sqlite3 Database").optional(),
  ...sqlitePlace,
  // The service waits 30 s for an answer.
  busyTimeoutMs: z.int().min(0).max(20_000).default(800),
}).refine((target) => (target.path === undefined) !== (target.database === undefined), {
  message: 'expected a path or a database: sqlite("escrow.db"), sqlite({ path }) or sqlite({ database })',
});
