import { CamelCasePlugin, Kysely, PostgresDialect } from "kysely";
import { describe, expect, it } from "vitest";
import { parsePostgresOptions } from "../../src/store/postgres/options.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { openPool, postgresUrl } from "../support/postgres.ts";

const pool = openPool();
const kysely = new Kysely<object>({
  dialect: new PostgresDialect({ pool: openPool() }),
  plugins: [new CamelCasePlugin()],
});
const named = { connectionString: postgresUrl };

/** As a caller without types may write them. */
function name(options: unknown): () => unknown {
  return () => postgres(options as Parameters<typeof postgres>[0]);
}

describe("postgres()", () => {
  it.each<[string, object, RegExp]>([
    [
      "a name that is no option's",
      { ...named, deadline: 5 },
      /"deadline" is not an option here: the options are connectionString, .*deadlineMs/,
    ],
    ["no time to wait", { ...named, deadlineMs: 0 }, /deadlineMs: .* from 1 to 20000, received 0/],
    ["more time than the service waits", { ...named, deadlineMs: 20_001 }, /deadlineMs: .* received 20001/],
    ["a deadline that is text", { ...named, deadlineMs: "5000" }, /deadlineMs: .* received "5000"/],
    ["a deadline that never comes", { ...named, deadlineMs: Infinity }, /deadlineMs: .* received Infinity/],
    ["no connections", { ...named, connectionsMax: 0 }, /connectionsMax: .* from 1 to 10000, received 0/],
    ["half a connection", { ...named, connectionsMax: 1.5 }, /connectionsMax: .* received 1.5/],
    [
      "connectionsMax on a pool",
      { pool, connectionsMax: 5 },
      /connectionsMax: .* where the app makes its pool/,
    ],
    [
      "another period",
      { ...named, partition: "week" },
      /partition: expected "day" or "month", received "week"/,
    ],
    ["SQL as a period", { ...named, partition: "day'; drop table x; --" }, /partition: expected "day"/],
    ["SQL as a schema", { ...named, schema: 'x"; drop schema y; --' }, /schema: "x.*is not allowed/],
    ["an empty schema", { ...named, schema: "" }, /schema: "" is not allowed/],
    ["a schema of Postgres's own", { ...named, schema: "pg_mirror" }, /schema: "pg_mirror" .* not pg_/],
    ["capitals in a prefix", { ...named, prefix: "Escrow" }, /prefix: "Escrow" .* expected lower-case/],
    ["a prefix with a digit first", { ...named, prefix: "1_" }, /prefix: "1_" .* no digit first/],
    ["a prefix too long for its indexes", { ...named, prefix: "x".repeat(31) }, /prefix: .* at most 30/],
    ["an empty address", { connectionString: " " }, /connectionString: is empty, .* environment variable/],
    ["no database", {}, /expected \{ connectionString \}, \{ pool \} or \{ kysely \}; .* undefined/],
    ["an address that is not set", { connectionString: undefined }, /connectionString that is undefined/],
    ["two databases", { ...named, pool }, /only one of connectionString, pool and kysely/],
    ["a pool that is none", { pool: {} }, /pool: expected a Pool of the package pg/],
    [
      "listening on a Kysely",
      { kysely, listen: true },
      /listen: needs a connection of its own.*pass its pool/,
    ],
    [
      "listening on a pool of one connection",
      { pool: openPool(postgresUrl, { max: 1 }), listen: true },
      /listen: takes one connection .* give it more/,
    ],
    ["a Kysely that is none", { kysely: pool }, /kysely: expected a Kysely instance/],
  ])("refuses %s at once", (_, options, message) => {
    expect(name(options)).toThrow(expect.objectContaining({ code: "invalid-configuration" }));
    expect(name(options)).toThrow(message);
  });

  it("refuses an address that can't be read without quoting it", () => {
    const opening = name({ connectionString: "postgres://app:hush/hush@localhost/app" });
    expect(opening).toThrow(/connectionString: can't be read as an address: .* percent-encoded/);
    expect(opening).not.toThrow(/hush/);
  });

  it.each([
    "postgres://app:hush%2Fhush@localhost/app",
    "postgresql://app@/app?host=/var/run/postgresql",
    "/var/run/postgresql app",
    "postgres:///app",
  ])("takes the address %s", (connectionString) => {
    expect(name({ connectionString })).not.toThrow();
  });

  it("has the defaults that are written beside its options", () => {
    const { schema, prefix, deadlineMs, partition } = parsePostgresOptions(named);
    expect([schema, prefix, deadlineMs, partition]).toEqual(["escrow_mirror", "", 15_000, undefined]);
  });

  it("keeps the app's own pool and Kysely, and clones neither", () => {
    expect(parsePostgresOptions({ pool }).pool).toBe(pool);
    expect(parsePostgresOptions({ kysely }).kysely).toBe(kysely);
  });

  it.each([
    ["postgres://app:hush@localhost:5432/app", "postgres localhost:5432/app schema escrow_mirror"],
    ["/var/run/postgresql app", "postgres schema escrow_mirror"],
    // The password is not encoded: what follows its slash is read as the path.
    ["postgres://app:12/34@localhost/app", "postgres schema escrow_mirror"],
    ["postgres://app:12#34@localhost/app", "postgres schema escrow_mirror"],
  ])("is described for %s without the password", (connectionString, description) => {
    expect(postgres({ connectionString }).description).toBe(description);
  });
});
