/** Expected failures are values: a step returns what it made, or why it could not. */
export type Result<T, E> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { ok: true; value: T } {
  return { ok: true, value };
}

/** Runs `work` and returns a rejection as a value. */
export async function settle<T>(work: () => Promise<T>): Promise<Result<T, unknown>> {
  try {
    return ok(await work());
  } catch (error) {
    return err(error);
  }
}

export function err<E>(error: E): { ok: false; error: E } {
  return { ok: false, error };
}
