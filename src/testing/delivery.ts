import { LosslessNumber, stringify } from "lossless-json";
import { signBody } from "../signature/sign.ts";
import type { SignatureOption } from "../signature/scheme.ts";
import type { BuiltEvent } from "./build-event.ts";

/** A signed webhook request, ready to send: `mirror.receive(delivery)`, `fetch(url, delivery)`. */
export interface Delivery {
  /** Always `POST`. */
  readonly method: "POST";
  /** The service's headers with the signature, and `Content-Type`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text is sent as UTF-8. */
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** How a delivery is signed. */
export interface SignOptions {
  /** The signing secret, whole, with its `whsec_`. Default: `testSecret`. */
  readonly secret?: string | undefined;
  /** The id in the header, which is not signed. Default: `wh-` and the event's `id`. */
  readonly webhookId?: string | undefined;
  /** The time in the header: ISO 8601 text, or milliseconds since 1970. Default: the event's `createdAt`. */
  readonly timestamp?: string | number | undefined;
  /** How the names of fields are written: `contractId` or `ContractId`. Default `camel`. */
  readonly casing?: "camel" | "pascal" | undefined;
  /** A preset's name or a scheme. Default `"default"`: the service's own. */
  readonly signature?: SignatureOption | undefined;
  /** Default `X-Service-`. */
  readonly headerPrefix?: string | undefined;
}

/** The default signing secret of the testing kit. */
export const testSecret = "whsec_test_0123456789abcdef0123456789abcdef";

/**
 * Writes an event as JSON as the service does, and signs it. Amounts have two decimals: `600.00`. Text and bytes are signed
 * unchanged.
 *
 * ```ts
 * const { headers, body } = signDelivery(buildEvent("contract.created"), { secret });
 * ```
 *
 * @throws EscrowMirrorError `invalid-configuration` for a wrong secret or scheme
 */
export function signDelivery(
  event: BuiltEvent | string | Uint8Array<ArrayBuffer>,
  options: SignOptions = {},
): Delivery {
  const isBuilt = typeof event === "object" && !(event instanceof Uint8Array);
  const body = isBuilt ? writeEvent(event, options.casing) : event;
  const headers = signBody({
    secret: options.secret ?? testSecret,
    scheme: options.signature,
    headerPrefix: options.headerPrefix,
    body,
    webhookId: options.webhookId ?? `wh-${isBuilt ? event.id : "1"}`,
    event: isBuilt ? event.event : undefined,
    timestamp: options.timestamp ?? (isBuilt ? event.createdAt : "2026-01-25T10:28:10.4874015Z"),
  });
  return { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body };
}

function writeEvent(event: BuiltEvent, casing: SignOptions["casing"] = "camel"): string {
  const written = casing === "camel" ? event : toPascal(event);
  return stringify(written, (name, value) => (isAmount(name, value) ? toWireAmount(value) : value)) ?? "";
}

function isAmount(name: string, value: unknown): value is number {
  return name.toLowerCase() === "amount" && typeof value === "number" && Number.isFinite(value);
}

/** More than two decimals are the caller's wish. */
function toWireAmount(amount: number): LosslessNumber {
  const decimals = amount.toFixed(2);
  return new LosslessNumber(Number(decimals) === amount ? decimals : String(amount));
}

function toPascal(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name.charAt(0).toUpperCase() + name.slice(1),
    toPascal(member),
  ]);
  return Object.fromEntries(members);
}
