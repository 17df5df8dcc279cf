/** Throw it in a handler to end the job without more attempts. The job is dead, and the contract's next job runs. */
export class PermanentError extends Error {
  /** `"PermanentError"`. */
  override readonly name = "PermanentError";
}

/** Throw it in a handler to choose when the job is tried again, instead of the usual backoff. */
export class RetryAfterError extends Error {
  /** `"RetryAfterError"`. */
  override readonly name = "RetryAfterError";
  /** Milliseconds until the next attempt. More than a year counts as a year. */
  readonly afterMs: number;

  /**
   * @param afterMs milliseconds until the next attempt
   * @throws RangeError if it is below 0 or not a number
   */
  constructor(message: string, afterMs: number, options?: ErrorOptions) {
    if (typeof afterMs !== "number" || !(afterMs >= 0))
      throw new RangeError(`afterMs is ${String(afterMs)}: 0 or more milliseconds are expected`);
    super(message, options);
    this.afterMs = afterMs;
  }
}
