import { hideSecrets } from "./hide-secrets.ts";

/**
 * Another's error, safe to keep: its name, its code, its message without secrets, and the same of its own causes. Nothing else
 * is copied: errors of HTTP libraries carry the request, its headers and its body.
 */
export function toSafeCause(error: unknown, secrets: readonly string[], depth = 0): Error | undefined {
  if (error === undefined || error === null || depth >= depthMax) return undefined;
  if (!(error instanceof Error)) return named("Error", `a ${typeof error} was thrown`, undefined, undefined);
  const inner = error.cause ?? (error as { errors?: readonly unknown[] }).errors?.[0];
  const text: unknown = error.message;
  const message = typeof text === "string" ? hideSecrets(text, secrets) : "";
  return named(error.name, message, codeOf(error), toSafeCause(inner, secrets, depth + 1));
}

/** Deeper causes are left out. */
const depthMax = 4;

function named(name: string, message: string, code: string | undefined, cause: Error | undefined): Error {
  const safe = new Error(message, cause === undefined ? undefined : { cause });
  safe.name = nameForm.test(name) ? name : "Error";
  // The frames are ours, and say nothing of what failed.
  safe.stack = `${safe.name}: ${message}`;
  return code === undefined ? safe : Object.assign(safe, { code });
}

/** `TypeError`, `Error ECONNREFUSED`: an error's kind, which quotes nothing. */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const name = nameForm.test(error.name) ? error.name : "Error";
  return [name, codeOf(error)].filter((part) => part !== undefined).join(" ");
}

const nameForm = /^[A-Za-z]{1,40}$/;
const codeForm = /^(?:E[A-Z0-9]{2,20}|(?:UND_ERR|ERR|HPE|Z|CERT|DEPTH|SELF|UNABLE)_[A-Z0-9_]{1,50})$/;

/** `ECONNREFUSED`, `UND_ERR_SOCKET`: codes of Node and undici; `undefined` for anything else. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && codeForm.test(code) ? code : undefined;
}

/** The innermost errors: `fetch failed` says nothing itself, and where several addresses were tried each has its own. */
export function causesOf(error: unknown, depth = 0): readonly unknown[] {
  if (!(error instanceof Error) || depth >= depthMax) return [];
  const { errors } = error as { errors?: unknown };
  if (Array.isArray(errors) && errors.length > 0)
    return errors.flatMap((inner) => causesOf(inner, depth + 1));
  return error.cause instanceof Error ? causesOf(error.cause, depth + 1) : [error];
}
