/** Where a store's tables are, as options and the command line say it: one rule for each name, one place for the defaults. */
import { z } from "zod";

export const defaultPlaces = {
  postgres: { schema: "escrow_mirror", prefix: "" },
  sqlite: { prefix: "escrow_" },
} as const;

/** The prefix stands in SQL unquoted, where Postgres would make capitals small. */
export const postgresPlace = {
  schema: nameInSql(
    /^(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,62}$/,
    "letters, digits and _, at most 63, no digit first, and not pg_, which is Postgres's own",
  ).default(defaultPlaces.postgres.schema),
  prefix: nameInSql(
    /^([a-z_][a-z0-9_]{0,29})?$/,
    "lower-case letters, digits and _, at most 30, no digit first",
  ).default(defaultPlaces.postgres.prefix),
};

export const sqlitePlace = {
  prefix: nameInSql(
    /^(?!sqlite_)([a-z_][a-z0-9_]{0,39})?$/i,
    "letters, digits and _, at most 40, no digit first, and not sqlite_, which is SQLite's own",
  ).default(defaultPlaces.sqlite.prefix),
};

function nameInSql(pattern: RegExp, fits: string) {
  return z.string().regex(pattern, {
    error: ({ input }) => `${JSON.stringify(input)} is not allowed: expected ${fits}`,
  });
}
