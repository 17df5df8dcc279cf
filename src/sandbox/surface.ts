import { act } from "./service/actions.ts";
import type { Outcome, Refusal } from "./wire/answer.ts";
import { findContract } from "./service/contracts.ts";
import { settleRefund } from "./service/refunds.ts";
import type { Sandbox } from "./sandbox.ts";
import { SandboxError } from "./world/sandbox-error.ts";
import type { SandboxErrorCode } from "./world/sandbox-error.ts";
import { putSubscription } from "./service/subscriptions.ts";
import { revokeTokens } from "./service/tokens.ts";
import {
  listContracts,
  listRefunds,
  toSandboxContract,
  toSandboxDelivery,
  toSandboxRefund,
} from "./control/truth.ts";
import { changeUser } from "./control/user-changes.ts";
import type { World } from "./world/world.ts";

/** What a program holds in its hands: every call is one operation on the world, committed. */
export function toSandbox(world: World, close: () => Promise<void>): Sandbox {
  const { state, settings, faults, clock } = world;
  return {
    baseUrl: world.baseUrl,
    address: world.address,
    authUrl: world.baseUrl,
    controlUrl: `${world.baseUrl}/_sandbox/`,
    clientId: settings.clientId,
    clientSecret: world.identity.clientSecret,
    get webhookSecret() {
      return state.subscriptions.get(settings.clientId)?.secretKey ?? world.identity.webhookSecret;
    },
    act: (contractId, action, on) => doAct(world, contractId, action, on?.milestoneId),
    settleRefund: async (refundId) =>
      committed(world, toSandboxRefund(unwrap(settleRefund(world, Number(refundId))))),
    contracts: {
      list: async () => listContracts(world),
      get: async (contractId) => {
        const contract = state.contracts.get(contractId);
        return contract && toSandboxContract(world, contract);
      },
    },
    refunds: { list: async () => listRefunds(world) },
    users: {
      list: async () => Array.from(state.users.values(), (user) => ({ ...user })),
      set: async (platformRefId, change) =>
        committed(world, { ...unwrap(changeUser(world, platformRefId, change)) }),
    },
    subscription: {
      get: async () => structuredClone(state.subscriptions.get(settings.clientId)),
      set: async (webhookUrl) => {
        const { subscription } = unwrap(putSubscription(world, settings.clientId, { webhookUrl }));
        return committed(world, { ...subscription });
      },
    },
    deliveries: deliveriesOf(world),
    faults: {
      set: (options, seed) => faults.set(options, seed),
      get: () => faults.get(),
      counts: () => faults.counts(),
      clear: () => faults.clear(),
    },
    clock: { now: () => clock.now(), advance: (ms) => clock.advance(ms) },
    sms: { list: async () => [...state.sms] },
    tokens: { revoke: () => revokeTokens(world) },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function deliveriesOf(world: World): Sandbox["deliveries"] {
  const { deliveries, state: known } = world;
  return {
    list: async (filter = {}) =>
      Array.from(known.deliveries.values())
        .filter(({ contractId }) => filter.contractId === undefined || filter.contractId === contractId)
        .filter(({ event }) => filter.event === undefined || filter.event === event)
        .filter(({ state }) => filter.state === undefined || filter.state === state)
        .map(toSandboxDelivery),
    resend: async (webhookId) => {
      const delivery = known.deliveries.get(webhookId);
      if (delivery === undefined) throw new SandboxError("not-found", `There is no webhook ${webhookId}.`);
      deliveries.resend(delivery);
      known.commit();
    },
    idle: () => deliveries.idle(),
    drained: () => deliveries.drained(),
    pending: () => deliveries.pending,
  };
}

async function doAct(world: World, contractId: string, action: string, milestoneId?: number | string) {
  const contract = unwrap(findContract(world, contractId));
  const target = milestoneId === undefined ? null : Number(milestoneId);
  const acted = unwrap(act(world, contract, action, target));
  return committed(world, toSandboxContract(world, acted));
}

function committed<T>(world: World, value: T): T {
  world.state.commit();
  return value;
}

export function unwrap<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw toError(outcome.error);
}

const codes: Record<number, SandboxErrorCode> = { 404: "not-found", 409: "action-forbidden" };

function toError({ status, message, detail, validationErrors = [] }: Refusal): SandboxError {
  const text = detail ?? (validationErrors.map((error) => error.message).join(" ") || message);
  return new SandboxError(codes[status] ?? "invalid-argument", text);
}
