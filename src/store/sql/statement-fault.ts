import { EscrowMirrorError, nameOfError } from "../../shared/errors.ts";

/**
 * A statement that failed for a reason of its own: what was done to which table, in words of ours, and how the database names
 * the fault. Never a value: our statements have none in their text.
 *
 * @param said what the database says of it, where that names tables, columns and constraints alone
 */
export function toStatementFault(sql: string, error: unknown, said: string | undefined): EscrowMirrorError {
  const fault = said === undefined ? nameOfError(error) : `${nameOfError(error)}: ${said}`;
  return new EscrowMirrorError("internal-error", `${operationIn(sql)} failed (${fault})`, { cause: error });
}

/** `insert into escrow_contracts`. Of a statement that reads and writes, what it writes. */
function operationIn(sql: string): string {
  const found = writing.exec(sql) ?? reading.exec(sql);
  return found === null ? "a statement" : `${found[1] ?? ""} ${found[2] ?? ""}`;
}

const name = String.raw`((?:"[^"]+"|\w+)(?:\.(?:"[^"]+"|\w+))?)`;
const writing = new RegExp(String.raw`\b(insert into|delete from|update)\s+${name}`, "i");
const reading = new RegExp(String.raw`\b(from)\s+${name}`, "i");
