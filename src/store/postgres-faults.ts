/** What a failed statement or connection means: come again, try at once, or a mistake of ours. */
import { EscrowMirrorError } from "../shared/errors.ts";

/**
 * What the store can't do now (unreachable, failing over, full, read-only, locked, deadlocked) as `store-unavailable`:
 * the sender is asked to come again. `undefined` for an error of the statement's own.
 */
export function toStoreFault(error: unknown): EscrowMirrorError | undefined {
  if (!isLost(error) && !refusals.test(codeOf(error)) && !isUndone(error)) return undefined;
  const what = codeOf(error) || "the connection is gone";
  const said = explained.test(codeOf(error)) && error instanceof Error ? `: ${error.message}` : "";
  return new EscrowMirrorError("store-unavailable", `Postgres can't be used now (${what})${said}`, {
    cause: error,
  });
}

export function lateFault(ms: number): EscrowMirrorError {
  return new EscrowMirrorError("store-unavailable", `Postgres did not answer within ${ms} ms: try again`);
}

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
/** What the server says of these names what to set right, and quotes no row. */
const explained = /^(28...|3D000|42501|53...)$/;

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : "";
}
