/** What a failed statement or connection means: come again, try at once, or a mistake of ours. */
import { EscrowMirrorError, nameOfError } from "../../shared/errors.ts";

/**
 * What the store can't do now (unreachable, failing over, full, read-only, locked, deadlocked) as `store-unavailable`:
 * the sender is asked to come again. `undefined` for an error of the statement's own.
 *
 * @param store its description: where the database is
 */
export function toStoreFault(store: string, error: unknown): EscrowMirrorError | undefined {
  const isFault = isLate(error) || isLost(error) || isUndone(error) || refusals.test(codeOf(error));
  return isFault ? toUnavailable(store, error) : undefined;
}

/** The same, whatever it was: what keeps us from connecting may be a certificate, or the lack of a password. */
export function toUnavailable(store: string, error: unknown): EscrowMirrorError {
  const what = isLate(error) ? error.message : `can't be used now${explain(error)}`;
  return new EscrowMirrorError("store-unavailable", `${store} ${what}`, { cause: error });
}

/** No answer came in time: the connection is of no more use, and what was asked for may yet happen. */
export function lateAnswer(ms: number): Error {
  return Object.assign(new Error(`did not answer within ${ms} ms: try again`), { code: lateCode });
}

export function isLate(error: unknown): error is Error {
  return codeOf(error) === lateCode;
}

const lateCode = "LATE_ANSWER";

/** The connection is of no more use. */
export function isLost(error: unknown): boolean {
  return lostCodes.test(codeOf(error)) || (error instanceof Error && lostMessages.test(error.message));
}

/** Nothing of the transaction stands, through no fault of its own: another one was in its way. */
export function isUndone(error: unknown): boolean {
  return undoneCodes.test(codeOf(error));
}

/** A transaction that raced with another for one key: the second time it sees the other's row. */
export function isUniqueRace(error: unknown): boolean {
  return codeOf(error) === "23505";
}

// Connections, the operator (a terminated backend, a shutdown, a failover), a standby in the primary's place; and Node's.
const lostCodes =
  /^(08...|57P0.|25006|ECONN\w+|EPIPE|ETIMEDOUT|EHOST\w+|ENET\w+|ENOTFOUND|EAI_\w+|ENOENT|ERR_SOCKET\w+)$/;
// What pg and Kysely say without a code.
const lostMessages =
  /^Connection terminated|not queryable|after calling end on the pool|timeout exceeded when trying to connect|Query read timeout|timeout expired|driver has already been destroyed|already been discarded/;
// A full disk or too many connections; a lock or a statement that took too long; rights, passwords, a missing database.
const refusals = /^(53...|55P03|57014|58...|28...|3D000|42501|XX00[12])$/;
const undoneCodes = /^(40001|40P01|40003)$/;

/** Of a network's fault the code says what it is; a server says what to set right, and quotes no row and no password. */
function explain(error: unknown): string {
  const code = codeOf(error);
  const said = error instanceof Error ? error.message : "";
  if (code === "")
    return quotable.test(said) || lostMessages.test(said) ? `: ${said}` : ` (${nameOfError(error)})`;
  const advice = advices.find(([codes]) => codes.test(code))?.[1] ?? (sqlState.test(code) ? said : "");
  return advice === "" ? ` (${code})` : ` (${code}): ${advice}`;
}

const advices: readonly (readonly [codes: RegExp, advice: string])[] = [
  [/^(ENOTFOUND|EAI_\w+)$/, "no such host is known here; check the host in its address"],
  [/^(E[A-Z]{3,}|ERR_SOCKET\w+)$/, "is it running and reachable from here?"],
];
const sqlState = /^[0-9A-Z]{5}$/;
/** Without a code: what pg says of a password or of TLS. Another's message may hold a secret. */
const quotable = /^SASL: |^The server does not support SSL|^There was an error establishing an SSL/;

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : "";
}
