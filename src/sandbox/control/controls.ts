import { ok } from "../../shared/result.ts";
import { act } from "../service/actions.ts";
import { renewCheckout } from "../service/checkout.ts";
import { createContract } from "../service/contracts.ts";
import { findContract } from "../service/find-contract.ts";
import { requestRefund, settleRefund } from "../service/refunds.ts";
import { putSubscription } from "../service/subscriptions.ts";
import { mapGranted, refuse, refuseFields } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import { parseFaults } from "../world/fault-options.ts";
import type { FaultOptions } from "../world/fault-options.ts";
import type { FaultCounts } from "../world/faults.ts";
import type { SubscriptionRecord } from "../world/records.ts";
import { toSandboxDelivery } from "../world/shown-delivery.ts";
import type { SandboxDelivery } from "../world/shown-delivery.ts";
import type { World } from "../world/world.ts";
import { exampleContract } from "./example-contract.ts";
import { toSandboxContract, toSandboxRefund } from "./truth.ts";
import type { SandboxContract, SandboxRefund } from "./truth.ts";

// Everything beside the service's own API, each thing once: for code, over HTTP, and on the control page.

/** As the API would, in the name of the first client. */
export function makeContract(world: World, input: unknown): Granted<SandboxContract> {
  const made = createContract(world, world.settings.clientId, input);
  return mapGranted(made, (contract) => toSandboxContract(world, contract));
}

export function makeExample(world: World): Granted<SandboxContract> {
  return makeContract(world, exampleContract(world.clock));
}

export function getContract(world: World, contractId: string): Granted<SandboxContract> {
  return mapGranted(findContract(world, contractId), (contract) => toSandboxContract(world, contract));
}

export function actOn(
  world: World,
  contractId: string,
  action: string,
  milestoneId: number | null,
): Granted<SandboxContract> {
  const found = findContract(world, contractId);
  const acted = found.ok ? act(world, found.value, action, milestoneId) : found;
  return mapGranted(acted, (contract) => toSandboxContract(world, contract));
}

/** A new payment link, without the buyer's phone number. */
export function renewLink(world: World, contractId: string): Granted<SandboxContract> {
  const found = findContract(world, contractId);
  const renewed = found.ok ? renewCheckout(world, found.value) : found;
  return mapGranted(renewed, (contract) => toSandboxContract(world, contract));
}

/** As the API would, in the name of the contract's own client. */
export async function refund(
  world: World,
  contractId: string,
  input: unknown,
): Promise<Granted<SandboxRefund>> {
  const found = findContract(world, contractId);
  if (!found.ok) return found;
  const made = await requestRefund(world, found.value.business, contractId, input);
  return mapGranted(made, toSandboxRefund);
}

export function settle(world: World, refundId: number): Granted<SandboxRefund> {
  return mapGranted(settleRefund(world, refundId), toSandboxRefund);
}

export interface DeliveryFilter {
  contractId?: string | undefined;
  event?: string | undefined;
  state?: string | undefined;
}

/** Oldest first. */
export function listDeliveries({ state }: World, filter: DeliveryFilter = {}): SandboxDelivery[] {
  return Array.from(state.deliveries.values())
    .filter(({ contractId }) => filter.contractId === undefined || filter.contractId === contractId)
    .filter(({ event }) => filter.event === undefined || filter.event === event)
    .filter((delivery) => filter.state === undefined || filter.state === delivery.state)
    .map(toSandboxDelivery);
}

export function resend({ state, deliveries }: World, webhookId: string): Granted<null> {
  const delivery = state.deliveries.get(webhookId);
  if (delivery === undefined) return refuse(404, "DeliveryNotFound", `There is no webhook ${webhookId}.`);
  deliveries.resend(delivery);
  return ok(null);
}

/** The first client's. */
export function getSubscription({ state, settings }: World): SubscriptionRecord | undefined {
  return structuredClone(state.subscriptions.get(settings.clientId));
}

export function setSubscription(world: World, input: unknown): Granted<SubscriptionRecord> {
  const made = putSubscription(world, world.settings.clientId, input);
  return mapGranted(made, ({ subscription }) => ({ ...subscription }));
}

export interface FaultsNow {
  faults: FaultOptions & { seed: number };
  counts: FaultCounts;
}

export function getFaults({ faults }: World): FaultsNow {
  return { faults: faults.get(), counts: faults.counts() };
}

export function setFaults(world: World, given: object, seed: unknown): Granted<FaultsNow> {
  const parsed = parseFaults(given);
  if (!parsed.ok) return parsed;
  if (typeof seed !== "number" || !Number.isFinite(seed))
    return refuseFields({ field: "seed", message: "seed must be a number." });
  world.faults.set(parsed.value, seed);
  world.state.touch();
  return ok(getFaults(world));
}

export interface ClockNow {
  kind: "real" | "manual";
  speed: number;
  now: string;
}

export function getClock({ clock }: World): ClockNow {
  return { kind: clock.kind, speed: clock.speed, now: new Date(clock.now()).toISOString() };
}

const advanceMsMax = 1e12;

export async function advance(world: World, ms: unknown): Promise<Granted<ClockNow>> {
  if (typeof ms !== "number" || !(ms >= 0 && ms <= advanceMsMax)) {
    return refuseFields({
      field: "ms",
      message: `ms must be a number of milliseconds from 0 to ${advanceMsMax}.`,
    });
  }
  await world.clock.advance(ms);
  world.state.touch();
  return ok(getClock(world));
}
