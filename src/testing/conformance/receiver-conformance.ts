import { randomBytes } from "node:crypto";
import type { SignatureOption } from "../../signature/scheme.ts";
import { acceptedTrials } from "./accepted.ts";
import { effectTrials } from "./effects.ts";
import { createProbe, type Probe } from "./probe.ts";
import { refusedTrials } from "./refused.ts";
import type { Found, Trial } from "./trial.ts";

/**
 * Your data about a contract, as plain JSON. A duplicate must not change it. Leave out webhook ids and times of arrival:
 * they differ between two contracts with the same events.
 */
export interface Observation {
  /** The contract's status. */
  readonly status?: string | null | undefined;
  /** The sum of its payments, in halalas. */
  readonly paidMinor?: number | null | undefined;
  /** The state of each refund, `"initiated"` or `"succeeded"`, by its id. */
  readonly refunds?: Readonly<Record<string, string>> | undefined;
  /** Anything else that a duplicate must not change: parcels, mails, rows of a ledger. */
  readonly [more: string]: unknown;
}

/** Options of `receiverConformance`. */
export interface ConformanceOptions {
  /** The receiver's signing secret, whole. */
  readonly secret: string;
  /** How the receiver verifies: a preset's name or a scheme. Default `"default"`: as the service signs. */
  readonly signature?: SignatureOption | undefined;
  /** Default `X-Service-`. */
  readonly headerPrefix?: string | undefined;
  /**
   * Returns your data about a contract, or `undefined` for an unknown one. Without it, the checks see only answers, and no
   * effects.
   */
  readonly observe?:
    ((contractId: string) => Promise<Observation | undefined> | Observation | undefined) | undefined;
  /** Kills the receiver with SIGKILL, and starts it again with the same database and URL. Resolves once it listens. */
  readonly restart?: (() => Promise<void>) | undefined;
  /** How long an answer may take, in milliseconds. Default 30,000: the service waits no longer. */
  readonly timeoutMs?: number | undefined;
}

/** One check, and its result. */
export interface ConformanceCheck {
  /** A short name. */
  readonly name: string;
  /** Whether it passed. Also `true` if the result is not observable: then `got` says so. */
  readonly ok: boolean;
  /** The expected behaviour. */
  readonly expected: string;
  /** The actual behaviour. `"not observable"` if `observe` or `restart` is missing, or does not show it. */
  readonly got: string;
  /** The fix. Empty if the check passed. */
  readonly advice: string;
}

/** The result of all checks. */
export interface ConformanceReport {
  /** Whether all checks passed. Checks that are not observable don't count. */
  readonly ok: boolean;
  /** Each check, in order. */
  readonly checks: readonly ConformanceCheck[];
}

const notObservable = "not observable";

/**
 * Tests a running receiver over HTTP. The receiver can be written in any language. It must answer every authentic delivery
 * with 2xx, and refuse forged ones. Each event must take effect exactly once, in any order, and must still be there after a
 * crash. The checks leave new contracts behind (`CNT-…`).
 *
 * ```ts
 * const { ok, checks } = await receiverConformance("http://localhost:3000/webhooks/escrow", { secret });
 * console.table(checks.filter((check) => !check.ok));
 * ```
 *
 * @throws EscrowMirrorError `invalid-configuration` for a wrong secret or scheme; whatever `observe` or `restart` throws
 */
export async function receiverConformance(
  url: string,
  options: ConformanceOptions,
): Promise<ConformanceReport> {
  const probe = createProbe(url, options, randomBytes(4).toString("hex"));
  const checks: ConformanceCheck[] = [];
  for (const trial of [...acceptedTrials, ...refusedTrials, ...effectTrials])
    checks.push(await check(trial, probe, options));
  return { ok: checks.every(({ ok }) => ok), checks };
}

async function check(trial: Trial, probe: Probe, options: ConformanceOptions): Promise<ConformanceCheck> {
  const { name, expected } = trial;
  const isBlind =
    (trial.needs !== undefined && options.observe === undefined) ||
    (trial.needs === "restart" && options.restart === undefined);
  const found: Found = isBlind ? undefined : await trial.run(probe);
  if (found !== undefined) return { name, expected, ...found, advice: found.ok ? "" : trial.advice };
  const missing = trial.needs === "restart" ? "observe and restart" : "observe";
  return { name, expected, ok: true, got: notObservable, advice: `Pass ${missing}, to see this.` };
}
