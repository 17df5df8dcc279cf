/** Lends a running transaction to code of the integrator's, and takes it back. */
import {
  Kysely,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from "kysely";
import { EscrowMirrorError } from "../../shared/errors.ts";
import type { Lent } from "../store.ts";
import { prefixPlugin, type MirrorDatabase } from "./database.ts";
import type { TablePlace } from "./dialect.ts";
import { isEnding } from "./transaction-words.ts";

export interface LendingParts {
  readonly place: TablePlace;
  /** Adapter, introspector and query compiler of the database's kind. */
  readonly language: Omit<Dialect, "createDriver">;
  readonly execute: (query: CompiledQuery) => Promise<QueryResult<unknown>>;
  /** The driver's own connection. */
  readonly connection: object | undefined;
  readonly faultOf: Lent["faultOf"];
}

export function lend({ place, language, execute, connection, faultOf }: LendingParts): Lent {
  let isOver = false;
  const check = (): void => {
    if (isOver) throw over();
  };
  const whole: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery) => {
      check();
      refuseEnding(query.sql);
      return (await execute(query)) as QueryResult<R>;
    },
    streamQuery: () => {
      throw new EscrowMirrorError(
        "invalid-argument",
        "a handler's transaction does not stream: read in pages",
      );
    },
  };
  const trx = new Kysely<MirrorDatabase>({
    dialect: { ...language, createDriver: () => driverOf(whole) },
    plugins: [prefixPlugin(place)],
  });
  return {
    trx,
    connection: connection === undefined ? undefined : guarded(connection, check, refuseEnding),
    faultOf,
    takeBack: () => {
      isOver = true;
    },
  };
}

/** The transaction is the delivery's: what is inside neither begins nor ends one. */
function driverOf(connection: DatabaseConnection): Driver {
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  };
}

async function refuse(): Promise<never> {
  throw isOneAlready();
}

/** A handler that commits would store deliveries of its batch whose own handlers have not run yet, and never will. */
function refuseEnding(statement: unknown): void {
  const text = typeof statement === "string" ? statement : (statement as { text?: unknown } | null)?.text;
  if (typeof text === "string" && isEnding(text)) throw isOneAlready();
}

function isOneAlready(): EscrowMirrorError {
  return new EscrowMirrorError(
    "inside-transaction",
    "this is a transaction already, the delivery's: use it as it is, without begin, commit and rollback",
  );
}

/** The same object, whose methods, and those of the objects that they give, refuse once it is taken back. */
function guarded<T extends object>(target: T, check: () => void, checkFirst?: (value: unknown) => void): T {
  return new Proxy(target, {
    get: (object, key) => {
      const value: unknown = Reflect.get(object, key, object);
      if (typeof value !== "function") return value;
      if (ends.has(key)) return refuseToEnd;
      return (...values: unknown[]) => {
        check();
        if (takesStatement.has(key)) checkFirst?.(values[0]);
        const result: unknown = Reflect.apply(value, object, values);
        // Its values are data, whatever they begin with.
        return isStatement(result) ? guarded(result, check) : result;
      };
    },
  });
}

/** How drivers take a statement. */
const takesStatement = new Set<string | symbol>(["exec", "prepare", "query"]);

/** How drivers end a connection or give it back. */
const ends = new Set<string | symbol>(["close", "end", "release"]);

function refuseToEnd(): never {
  throw new EscrowMirrorError(
    "inside-transaction",
    "the connection is the mirror's: leave it open, it is taken back when the handler returns",
  );
}

/** A prepared statement outlives the call. */
function isStatement(value: unknown): value is object {
  return typeof (value as { run?: unknown } | null)?.run === "function";
}

function over(): EscrowMirrorError {
  return new EscrowMirrorError(
    "inside-transaction",
    "the transaction is over: await all use of trx and connection before the handler returns",
  );
}
