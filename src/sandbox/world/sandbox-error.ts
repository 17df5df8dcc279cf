/** `createSandbox` and the sandbox's calls reject with it, or throw it. Recognise it by `code`. */
export class SandboxError extends Error {
  /** The kind of error. */
  readonly code: SandboxErrorCode;
  /** The message key that the API would have answered with, such as `BuyerNotAuthorized`; null where it has none. */
  readonly messageKey: string | null;

  constructor(
    code: SandboxErrorCode,
    message: string,
    { messageKey = null, cause }: { messageKey?: string | null; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "SandboxError";
    this.code = code;
    this.messageKey = messageKey;
  }
}

/**
 * - `invalid-configuration`: an option is wrong. The message names it and the fix.
 * - `missing-peer`: `data` needs better-sqlite3, which is not installed.
 * - `address-in-use`: another program uses the port.
 * - `action-forbidden`: the present state does not allow the action.
 * - `invalid-argument`: an argument is wrong. The message names it.
 * - `not-found`: there is no such contract, milestone, refund, user, webhook or file.
 */
export type SandboxErrorCode =
  | "invalid-configuration"
  | "missing-peer"
  | "address-in-use"
  | "action-forbidden"
  | "invalid-argument"
  | "not-found";
