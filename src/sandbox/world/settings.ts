import { createHmac } from "node:crypto";

import type { SandboxClock } from "./clock.ts";
import { basisPointsMax } from "../wire/money.ts";
import type { BusinessOptions, FeeOptions, NewUserOptions, SandboxOptions } from "./options.ts";
import { SandboxError } from "./sandbox-error.ts";
import { explainUnknownOption } from "./unknown-option.ts";

type Given =
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
  const unknown = Object.keys(given).find((name) => !knownNames.has(name));
  if (unknown !== undefined)
    throw new SandboxError("invalid-configuration", explainUnknownOption(unknown, [...knownNames]));
  const earlier = given.edition === "earlier";
  const manual = typeof given.clock === "object";
  const settings: Settings = {
    ...defaults,
    partialRefunds: earlier,
    concurrency: manual ? 1 : defaults.concurrency,
    ...given,
    fees: { ...defaults.fees, ...given.fees },
    newUsers: { ...defaults.newUsers, ...given.newUsers },
  };
  check(settings);
  return settings;
}

const knownNames = new Set<string>([...Object.keys(defaults), "webhookUrl", "webhookSecret", "clientSecret"]);
for (const name of ["seed", "data", "record", "onAttempt"]) knownNames.add(name);

function withoutUndefined(options: SandboxOptions): SandboxOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

const choices = {
  edition: ["current", "earlier"],
  payFromPending: ["approve-first", "direct", "refuse"],
  afterMilestoneRefund: ["cancelled", "restore"],
  milestoneRefundAmount: ["base", "gross"],
  paymentTransactionId: ["payment-id", "own"],
  milestoneCasing: ["camel", "pascal"],
  lineDescriptionCasing: ["pascal", "camel", "none"],
  milestoneIdInGet: ["number", "guid"],
  getShape: ["both", "sample", "table"],
  statusCasing: ["lower", "pascal"],
  amountStyle: ["two-decimals", "shortest"],
  tokenUnit: ["minutes", "seconds"],
  pageSizeAboveMax: ["reject", "clamp"],
  otherStatuses: ["retry", "fail"],
  retriesWhenDisabled: ["stop", "continue"],
  payloadId: ["same", "own"],
} as const satisfies Partial<Record<keyof SandboxOptions, readonly string[]>>;

/** Smallest values; 0.001 stands for "above zero". */
const least = {
  speed: 0.001,
  timeoutMs: 1,
  concurrency: 1,
  patienceMs: 1,
  disableAfter: 1,
  tokenExpiresIn: 1,
  checkoutTokenMs: 1,
  preflightMs: 0,
} as const satisfies Partial<Record<keyof SandboxOptions, number>>;

function check(settings: Settings): void {
  const values: Record<string, unknown> = { ...settings };
  for (const [name, allowed] of Object.entries<readonly unknown[]>(choices)) {
    const value = values[name];
    if (!allowed.includes(value)) {
      throw wrong(name, `is ${shown(value)}`, `Use ${allowed.map(shown).join(" or ")}.`);
    }
  }
  for (const [name, smallest] of Object.entries(least)) {
    const value = values[name];
    if (typeof value !== "number" || !Number.isFinite(value) || value < smallest) {
      throw wrong(name, `is ${shown(value)}`, `Use a number from ${smallest}.`);
    }
  }
  checkRest(settings);
}

function checkRest(settings: Settings): void {
  const { port, retryDelaysMs: delays, clock } = settings;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw wrong("port", `is ${shown(port)}`, "Use 0 (any free port) to 65535.");
  }
  if (!Array.isArray(delays) || delays.some((ms) => !Number.isFinite(ms) || ms < 0)) {
    throw wrong("retryDelaysMs", `is ${shown(delays)}`, "Use a list of milliseconds, one for each retry.");
  }
  if (clock !== "real" && typeof clock.advance !== "function") {
    throw wrong("clock", "is neither", 'Use "real" or what manualClock() of escrow-mirror/sandbox returns.');
  }
  if (typeof clock === "object" && settings.speed !== 1) {
    throw wrong("speed", `is ${settings.speed} beside a manual clock`, "Use one of the two.");
  }
  for (const [name, points] of Object.entries(settings.fees)) {
    if (!Number.isInteger(points) || points < 0 || points > basisPointsMax) {
      throw wrong(
        `fees.${name}`,
        `is ${shown(points)}`,
        `Use whole basis points from 0 to ${basisPointsMax}: 250 is 2.5 %.`,
      );
    }
  }
  for (const name of ["clientId", "clientSecret", "webhookSecret"] as const) {
    if (settings[name]?.trim() === "") throw wrong(name, "is blank", "Give a value or leave it out.");
  }
}

function wrong(name: string, seen: string, fix: string): SandboxError {
  return new SandboxError("invalid-configuration", `The sandbox option ${name} ${seen}. ${fix}`);
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
