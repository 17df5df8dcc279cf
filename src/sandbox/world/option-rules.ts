import { looksLikeAddress } from "../../shared/file-path.ts";
import { isHttpUrl, urlForm } from "../wire/fields.ts";
import { basisPointsMax } from "../wire/money.ts";
import type { SandboxOptions } from "./options.ts";

/** Whether a value will do, and what will. */
interface Rule {
  holds: (value: unknown) => boolean;
  fix: string;
}

const text: Rule = {
  holds: (value) => typeof value === "string" && value.trim() !== "",
  fix: "Give a text that is not blank, or leave it out.",
};
const file: Rule = {
  holds: (value) => text.holds(value) && !looksLikeAddress(String(value)),
  fix: "Give the path of a file, not an address.",
};
const flag: Rule = { holds: (value) => typeof value === "boolean", fix: "Use true or false." };
const handler: Rule = { holds: (value) => typeof value === "function", fix: "Give a function." };

function oneOf(...allowed: string[]): Rule {
  const shown = allowed.map((one) => JSON.stringify(one)).join(" or ");
  return { holds: (value) => allowed.some((one) => one === value), fix: `Use ${shown}.` };
}

function numberFrom(least: number): Rule {
  return { holds: (value) => isNumberFrom(value, least), fix: `Use a number from ${least}.` };
}

function wholeNumberFrom(least: number): Rule {
  const holds = (value: unknown): boolean => isNumberFrom(value, least) && Number.isInteger(value);
  return { holds, fix: `Use a whole number from ${least}.` };
}

/** One rule for each option: this is also the list of all options. */
export const optionRules = {
  port: { holds: (value) => isNumberFrom(value, 0) && isPort(value), fix: "Use 0 (any free port) to 65535." },
  host: text,
  baseUrl: { holds: isBaseUrl, fix: "Use http:// or https:// and a host, without a path." },
  allowedHosts: { holds: isHostList, fix: 'Use a list of host names without port, such as ["sandbox"].' },
  webhookUrl: { holds: isHttpUrl, fix: `Use ${urlForm}.` },
  webhookSecret: text,
  clientId: text,
  clientSecret: text,
  businessName: text,
  clients: { holds: isClientList, fix: "Use a list of clients, each with clientId and clientSecret." },
  clock: { holds: isClock, fix: 'Use "real" or what manualClock() of escrow-mirror/sandbox returns.' },
  speed: numberFrom(0.001),
  seed: numberFrom(-Number.MAX_SAFE_INTEGER),
  data: file,
  record: file,
  onAttempt: handler,
  retryDelaysMs: { holds: isDelayList, fix: "Use a list of milliseconds, one for each retry." },
  timeoutMs: numberFrom(1),
  concurrency: wholeNumberFrom(1),
  patienceMs: numberFrom(1),
  disableAfter: wholeNumberFrom(1),
  edition: oneOf("current", "earlier"),
  partialRefunds: flag,
  payFromPending: oneOf("approve-first", "direct", "refuse"),
  afterMilestoneRefund: oneOf("cancelled", "restore"),
  rollUp: flag,
  legacyRefunded: flag,
  milestoneDisputeMovesContract: flag,
  milestoneRefundAmount: oneOf("base", "gross"),
  paymentTransactionId: oneOf("payment-id", "own"),
  milestoneCasing: oneOf("camel", "pascal"),
  lineDescriptionCasing: oneOf("pascal", "camel", "none"),
  milestoneIdInGet: oneOf("number", "guid"),
  getShape: oneOf("both", "sample", "table"),
  statusCasing: oneOf("lower", "pascal"),
  amountStyle: oneOf("two-decimals", "shortest"),
  getRequiresToken: flag,
  tokenExpiresIn: numberFrom(1),
  tokenUnit: oneOf("minutes", "seconds"),
  checkoutTokenMs: numberFrom(1),
  pageSizeAboveMax: oneOf("reject", "clamp"),
  fees: { holds: isFees, fix: `Use whole basis points from 0 to ${basisPointsMax}: 250 is 2.5 %.` },
  newUsers: { holds: isNewUsers, fix: "Use true or false for authorized, bankVerified, ibanResolves." },
  requireVerifiedIban: flag,
  preflightMs: numberFrom(0),
  otherStatuses: oneOf("retry", "fail"),
  retriesWhenDisabled: oneOf("stop", "continue"),
  payloadId: oneOf("same", "own"),
  headerPrefix: { holds: isHeaderPrefix, fix: "Use letters, digits and hyphens, such as X-Service-." },
  sign: handler,
} satisfies Record<keyof SandboxOptions, Rule>;

function isNumberFrom(value: unknown, least: number): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= least;
}

function isPort(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) <= 65_535;
}

function isBaseUrl(value: unknown): boolean {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && `${pathname}${search}${hash}${username}${password}` === "/";
}

function isHostList(value: unknown): boolean {
  return Array.isArray(value) && value.every((host) => typeof host === "string" && /^[\w.-]+$/.test(host));
}

function isClientList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isClient);
}

function isClient(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  return text.holds(fields.get("clientId")) && text.holds(fields.get("clientSecret"));
}

function isClock(value: unknown): boolean {
  return value === "real" || (typeof value === "object" && value !== null && "advance" in value);
}

function isDelayList(value: unknown): boolean {
  return Array.isArray(value) && value.every((ms) => isNumberFrom(ms, 0));
}

function isFees(value: unknown): boolean {
  return isRecordOf(value, ["escrowBasisPoints", "platformBasisPoints", "vatBasisPoints"], isBasisPoints);
}

function isBasisPoints(value: unknown): boolean {
  return isNumberFrom(value, 0) && Number.isInteger(value) && Number(value) <= basisPointsMax;
}

function isNewUsers(value: unknown): boolean {
  return isRecordOf(value, ["authorized", "bankVerified", "ibanResolves"], flag.holds);
}

function isRecordOf(value: unknown, names: string[], holds: (part: unknown) => boolean): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).every(([name, part]) => names.includes(name) && holds(part));
}

function isHeaderPrefix(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z0-9-]*$/.test(value);
}
