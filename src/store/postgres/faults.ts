/** The meaning of a failed statement or connection: try again, let the service retry, or blame the row. */
import { constants } from "node:os";
import { EscrowMirrorError, nameOfError } from "../../shared/errors.ts";
import { toStatementFault } from "../sql/statement-fault.ts";

export type Fault =
  /** No answer came in time. The connection is of no more use, and what was asked for may yet happen. */
  | "late"
  /** The connection is of no more use: broken, ended by the operator, or not in the state in which we left it. */
  | "lost"
  /** Another transaction was in the way: nothing of this one stands, and it may go through at once. */
  | "undone"
  /** Two transactions wrote one key: the second time this one sees the other's row. */
  | "raced"
  /** The database can't do it now, whatever is written: full, locked, without a right or a table. */
  | "store"
  /** The written row is at fault: another delivery may succeed. */
  | "own";

/** Decides each error code of Postgres, and what the driver and Node say without one. */
export function faultOf(error: unknown): Fault {
  const code = codeOf(error);
  if (code === lateCode) return "late";
  if (!sqlState.test(code)) return isBroken(error, code) ? "lost" : "own";
  const routine = routineOf(error);
  // A pooler says these of connections that it ends. The server itself names the routine that finds fault with a statement.
  if (code === "08P01" || code === "XX000") return routine === "" ? "lost" : "own";
  // No transaction of the whole server gets a number until it is vacuumed.
  if (code === "54000" && routine.startsWith("GetNew")) return "store";
  return meanings.find(([codes]) => codes.test(code))?.[1] ?? "store";
}

/**
 * The first that fits. A code in none of them is the database's fault, not a row's: rights, tables, space, locks, an
 * operator.
 */
const meanings: readonly (readonly [codes: RegExp, fault: Fault])[] = [
  // It comes after another failure in the same transaction: whose that was this does not say, and a rollback mends it.
  [/^25P02/, "own"],
  // Of a commit that is not answered for (08007, 40003); of a transaction that is not as we began it (25, 3B): a server
  // that only reads now, a time-out of the operator's, a pooler that shares the connection.
  [/^(08|25|3B|40003|57P0)/, "lost"],
  [/^(40|72)/, "undone"],
  [/^23505/, "raced"],
  // A sequence that has come to its end refuses every row.
  [/^2200H/, "store"],
  // Data, constraints and limits of a row; what triggers and functions of the operator's raise.
  [/^(09|10|20|21|22|23|27|2F|38|39|44|54|P0)/, "own"],
];

/** Whether the connection or the server failed, whatever was asked: an app's own query may be wrong in every other way. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  const isGone = ["late", "lost"].includes(faultOf(error)) && code !== "25006";
  return isGone || /^(28|3D|53|58)/.test(code);
}

/**
 * The error as `store-unavailable` if the store can't work now: the sender then tries again. `undefined` for a fault of
 * the statement itself.
 *
 * @param store its description: where the database is
 */
export function toStoreFault(store: string, error: unknown): EscrowMirrorError | undefined {
  return ["own", "raced"].includes(faultOf(error)) ? undefined : toUnavailable(store, error);
}

/** The same of one statement, whose own fault is named by its text. */
export function toFaultOf(sql: string): typeof toStoreFault {
  return (store, error) => toStoreFault(store, error) ?? toStatementFault(sql, error, saidOf(error));
}

/** Of constraints, limits and names the server quotes no value in its message. */
function saidOf(error: unknown): string | undefined {
  return error instanceof Error && /^(23|42|54)/.test(codeOf(error)) ? error.message : undefined;
}

/**
 * The same of a statement that is not ours but the integrator's: a table that is missing and a statement that took too long
 * are mistakes of theirs, which would come again each time.
 */
export function toLentFault(store: string, error: unknown): EscrowMirrorError | undefined {
  const isFault = isOutage(error) || faultOf(error) === "undone" || codeOf(error) === "55P03";
  return isFault ? toUnavailable(store, error) : undefined;
}

/** Any error: a certificate or a missing password can prevent a connection too. */
export function toUnavailable(store: string, error: unknown): EscrowMirrorError {
  const what = isLate(error) ? error.message : `can't be used now${explain(error, store)}`;
  return new EscrowMirrorError("store-unavailable", `${store} ${what}`, { cause: error });
}

/** No answer, or no connection, in time. */
export function lateAnswer(what: string): Error {
  return Object.assign(new Error(what), { code: lateCode });
}

function isLate(error: unknown): error is Error {
  return codeOf(error) === lateCode;
}

const lateCode = "LATE_ANSWER";

/** In Node's and the driver's own words. */
function isBroken(error: unknown, code: string): boolean {
  return isOfNetwork(code) || (error instanceof Error && brokenMessages.test(error.message));
}

/** Other drivers have codes that look like Node's. */
function isOfNetwork(code: string): boolean {
  return (
    Object.hasOwn(constants.errno, code) || /^(ENOTFOUND|EAI_\w+|ERR_(SOCKET|STREAM|SSL|TLS)\w*)$/.test(code)
  );
}

// Messages of pg and Kysely that have no code.
const brokenMessages =
  /^Connection terminated|not queryable|after calling end on the pool|timeout exceeded when trying to connect|Query read timeout|driver has already been destroyed|already been discarded/;

/** Of a network's fault the code says what it is; a server says what to set right, and quotes no row and no password. */
function explain(error: unknown, store: string): string {
  const code = codeOf(error);
  const said = error instanceof Error ? error.message : "";
  if (code === "")
    return quotable.test(said) || brokenMessages.test(said) ? `: ${said}` : ` (${nameOfError(error)})`;
  const place = placeOf(error);
  const where = store.includes(place) ? "" : ` at ${place}`;
  return ` (${code}${where})${adviceFor(code, said)}`;
}

/** Where Node could not connect to. Of a name with several addresses it tells each fault, and of all together no place. */
function placeOf(error: unknown): string {
  const { errors, address, port, hostname } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (Array.isArray(errors) && errors.length > 0) return placeOf(errors[0]);
  const host = typeof address === "string" ? address : hostname;
  if (typeof host !== "string") return "";
  return typeof port === "number" ? `${host}:${port}` : host;
}

/** The meaning of a code, or else the server's message. */
function adviceFor(code: string, said: string): string {
  if (/^(ENOTFOUND|EAI_\w+)$/.test(code))
    return ": no such host is known here; check the host in its address";
  if (Object.hasOwn(constants.errno, code) || code.startsWith("ERR_SOCKET"))
    return ": is it running and reachable from here?";
  return sqlState.test(code) ? `: ${said}` : "";
}

const sqlState = /^(?=.*\d)[0-9A-Z]{5}$/;
/** Without a code: what pg says of a password or of TLS. Another's message may hold a secret. */
const quotable = /^SASL: |^The server does not support SSL|^There was an error establishing an SSL/;

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "";
}

/** Where in the server's code it was raised. */
function routineOf(error: unknown): string {
  const { routine } = (error ?? {}) as { routine?: unknown };
  return typeof routine === "string" ? routine : "";
}
