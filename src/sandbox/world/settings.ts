import { createHmac } from "node:crypto";
import { inspect } from "node:util";

import type { SandboxClock } from "./clock.ts";
import type { BusinessOptions, FeeOptions, NewUserOptions, SandboxOptions } from "./options.ts";
import { optionRules } from "./option-rules.ts";
import { SandboxError } from "./sandbox-error.ts";
import { explainUnknownOption } from "./unknown-option.ts";

type Given =
  | "baseUrl"
  | "webhookUrl"
  | "webhookSecret"
  | "clientSecret"
  | "seed"
  | "data"
  | "record"
  | "onAttempt"
  | "clock"
  | "clients";

/** `SandboxOptions` with every default in its place. */
export type Settings = Required<Omit<SandboxOptions, Given | "fees" | "newUsers">> &
  Pick<SandboxOptions, Exclude<Given, "clock" | "clients">> & {
    clock: "real" | SandboxClock;
    clients: readonly BusinessOptions[];
    fees: FeeOptions;
    newUsers: NewUserOptions;
  };

const minuteMs = 60_000;
/** §6.5. */
const retryDelaysMs = [10_000, 30_000, 2 * minuteMs, 10 * minuteMs, 60 * minuteMs] as const;

export const defaults = {
  port: 0,
  host: "127.0.0.1",
  allowedHosts: [],
  clientId: "sandbox-client",
  businessName: "Sandbox Business",
  clients: [],
  clock: "real",
  speed: 1,
  retryDelaysMs,
  timeoutMs: 30_000,
  concurrency: 32,
  patienceMs: 2_000,
  disableAfter: 10,
  edition: "current",
  partialRefunds: false,
  payFromPending: "approve-first",
  afterMilestoneRefund: "cancelled",
  rollUp: false,
  legacyRefunded: true,
  milestoneDisputeMovesContract: false,
  milestoneRefundAmount: "base",
  paymentTransactionId: "payment-id",
  milestoneCasing: "camel",
  lineDescriptionCasing: "pascal",
  milestoneIdInGet: "number",
  getShape: "both",
  statusCasing: "lower",
  amountStyle: "two-decimals",
  getRequiresToken: true,
  tokenExpiresIn: 1_440,
  tokenUnit: "minutes",
  checkoutTokenMs: 10 * minuteMs,
  pageSizeAboveMax: "reject",
  fees: { escrowBasisPoints: 250, platformBasisPoints: 1_000, vatBasisPoints: 1_500 },
  newUsers: { authorized: true, bankVerified: true, ibanResolves: true },
  requireVerifiedIban: true,
  preflightMs: 0,
  otherStatuses: "retry",
  retriesWhenDisabled: "stop",
  payloadId: "same",
  headerPrefix: "X-Service-",
  sign: signBody,
} as const satisfies SandboxOptions;

/** `sha256=` and the hex HMAC-SHA256 of the body under the whole secret (supplement). */
function signBody(body: Uint8Array, secret: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** Fills in the defaults; throws `invalid-configuration` with the option's name, what was seen and what is right. */
export function toSettings(options: SandboxOptions): Settings {
  const given = withoutUndefined(options);
  check(given);
  return {
    ...defaults,
    partialRefunds: given.edition === "earlier",
    concurrency: typeof given.clock === "object" ? 1 : defaults.concurrency,
    ...given,
    fees: { ...defaults.fees, ...given.fees },
    newUsers: { ...defaults.newUsers, ...given.newUsers },
  };
}

function withoutUndefined(options: SandboxOptions): SandboxOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function check(given: SandboxOptions): void {
  const rules = new Map(Object.entries(optionRules));
  for (const [name, value] of Object.entries(given)) {
    const rule = rules.get(name);
    if (rule === undefined) throw wrong(explainUnknownOption(name, [...rules.keys()]));
    if (!rule.holds(value)) throw wrong(`The sandbox option ${name} ${seen(name, value)}. ${rule.fix}`);
  }
  if (typeof given.clock === "object" && given.speed !== undefined && given.speed !== 1) {
    throw wrong(
      `The sandbox option speed is ${given.speed} together with a manual clock. Use one of the two.`,
    );
  }
}

function wrong(message: string): SandboxError {
  return new SandboxError("invalid-configuration", message);
}

const secretNames = new Set(["clientSecret", "webhookSecret", "clients", "data", "record"]);

/** Never a secret, wrong as it may be. */
function seen(name: string, value: unknown): string {
  return secretNames.has(name) ? "is wrong" : `is ${inspect(value, { depth: 1, breakLength: Infinity })}`;
}
