import { timingSafeEqual } from "node:crypto";

import { ok } from "../../shared/result.ts";
import { refuse, refuseFields } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import { Fields } from "../wire/fields.ts";
import type { CheckoutRecord, ContractRecord } from "../world/records.ts";
import type { Ground, World } from "../world/world.ts";
import { findContract } from "./find-contract.ts";
import { canonicalPhone } from "./party.ts";

/** Links that a new one has replaced and that are still told apart from forged ones. */
const formerMax = 100;

export function newCheckout({ random, clock, settings }: Ground, former: string[] = []): CheckoutRecord {
  return {
    token: random.hex(16),
    expiresAtMs: clock.now() + settings.checkoutTokenMs,
    former: former.slice(-formerMax),
  };
}

/** §2.3: the payment page's address, with a token that lives ten minutes (§8). */
export function checkoutUrl({ baseUrl }: World, { contractId, checkout }: ContractRecord): string {
  return `${baseUrl}/checkout/${contractId}?token=${checkout.token}`;
}

/** `expired`: its time is over, or a newer link has replaced it. `invalid`: it was never given out. */
export function judgeToken({ clock }: Ground, { checkout }: ContractRecord, token: string) {
  if (isSame(checkout.token, token)) return checkout.expiresAtMs > clock.now() ? "valid" : "expired";
  return checkout.former.some((former) => isSame(former, token)) ? "expired" : "invalid";
}

function isSame(right: string, given: string): boolean {
  const [one, other] = [Buffer.from(right), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** §4.2 and supplement. */
export function requestCheckout(world: World, business: string, body: unknown): Granted<ContractRecord> {
  const fields = new Fields(body);
  const phoneNumber = canonicalPhone(fields.text("buyerPhoneNumber"));
  const contractId = fields.text("externalContractId");
  if (fields.errors.length > 0) return refuseFields(...fields.errors);
  const found = findContract(world, contractId, business);
  if (!found.ok) return found;
  if (world.state.users.get(found.value.buyer)?.phoneNumber === phoneNumber)
    return renewCheckout(world, found.value);
  const message = "buyerPhoneNumber is not the phone number of this contract's buyer.";
  return refuseFields({ field: "buyerPhoneNumber", message });
}

/** The token before stops at once. */
export function renewCheckout(world: World, contract: ContractRecord): Granted<ContractRecord> {
  if (contract.status !== "Pending" && contract.status !== "Approved") {
    const detail = `The contract is ${contract.status}: there is nothing to pay.`;
    return refuse(400, "InvalidContractStatus", detail);
  }
  const { former, token } = contract.checkout;
  contract.checkout = newCheckout(world, [...former, token]);
  world.state.saveContract(contract);
  return ok(contract);
}
