import type { Clock } from "../../shared/clock.ts";
import { EscrowApiError } from "../api-error.ts";

/** A token, and when it stops working. */
export interface Token {
  readonly accessToken: string;
  /** In milliseconds of the client's clock; `Infinity` where nobody says. */
  readonly expiresAtMs: number;
}

/** The token of the moment, asked for once by any number of calls. */
export interface Tokens {
  /** @throws EscrowApiError that says why there is none; `aborted` when `signal` ends the waiting */
  get(signal: AbortSignal | undefined): Promise<string>;
  /** The service refused this one: the next call gets another. */
  drop(accessToken: string): void;
}

/** A token is renewed so long before it expires, or after half of its time where that is short. */
const marginMsMax = 60_000;

interface Held extends Token {
  readonly renewAtMs: number;
}

export function createTokens(fetchToken: () => Promise<Token>, clock: Clock): Tokens {
  let held: Held | undefined;
  let pending: Promise<string> | undefined;

  const renew = async (): Promise<string> => {
    try {
      held = hold(await fetchToken(), clock.now());
      return held.accessToken;
    } finally {
      pending = undefined;
    }
  };

  return {
    get: async (signal) => {
      if (signal?.aborted === true) throw aborted();
      if (held !== undefined && clock.now() < held.renewAtMs) return held.accessToken;
      pending ??= renew();
      if (held === undefined || clock.now() >= held.expiresAtMs) return within(pending, signal);
      // It still holds: nobody waits for the next one, and should that fail, the next call asks again.
      pending.catch(() => undefined);
      return held.accessToken;
    },
    drop: (accessToken) => {
      if (held?.accessToken === accessToken) held = undefined;
    },
  };
}

function hold({ accessToken, expiresAtMs }: Token, nowMs: number): Held {
  const renewAtMs = expiresAtMs - Math.min(marginMsMax, (expiresAtMs - nowMs) / 2);
  return { accessToken, expiresAtMs, renewAtMs: Number.isNaN(renewAtMs) ? expiresAtMs : renewAtMs };
}

/** One caller's signal ends its own waiting, and nobody else's. */
function within<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(aborted());
    signal.addEventListener("abort", abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function aborted(): EscrowApiError {
  return new EscrowApiError("aborted", "The caller's signal ended the call. Nothing was sent.");
}
