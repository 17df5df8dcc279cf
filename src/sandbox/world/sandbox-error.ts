/**
 * What a call on the sandbox throws. Recognise it by `code`:
 * - `invalid-configuration`: an option is wrong; the message names it and the fix.
 * - `missing-peer`: `data` needs better-sqlite3, which is not installed.
 * - `address-in-use`: the port is taken.
 * - `action-forbidden`: the present state does not allow it (HTTP 409).
 * - `invalid-argument`, `not-found`: the call itself is wrong (HTTP 400, 404).
 */
export class SandboxError extends Error {
  readonly code: SandboxErrorCode;

  constructor(code: SandboxErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "SandboxError";
    this.code = code;
  }
}

export type SandboxErrorCode =
  | "invalid-configuration"
  | "missing-peer"
  | "address-in-use"
  | "action-forbidden"
  | "invalid-argument"
  | "not-found";
