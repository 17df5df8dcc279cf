import * as controls from "./control/controls.ts";
import { toRequest } from "./control/input.ts";
import { listContracts, listRefunds } from "./control/truth.ts";
import { changeUser } from "./control/user-changes.ts";
import type { Sandbox } from "./sandbox.ts";
import { revokeTokens } from "./service/tokens.ts";
import { explain } from "./wire/refusal.ts";
import type { Granted, Refusal } from "./wire/refusal.ts";
import { SandboxError } from "./world/sandbox-error.ts";
import type { SandboxErrorCode } from "./world/sandbox-error.ts";
import type { World } from "./world/world.ts";

/** The sandbox for programs: each call is one control, committed. A refusal becomes a `SandboxError`. */
export function toSandbox(world: World, address: Sandbox["address"], close: () => Promise<void>): Sandbox {
  const { state, settings, baseUrl } = world;
  return {
    baseUrl,
    address,
    authUrl: baseUrl,
    controlUrl: `${baseUrl}/_sandbox/`,
    clientId: settings.clientId,
    clientSecret: state.identity.clientSecret,
    get webhookSecret() {
      return state.subscriptions.get(settings.clientId)?.secretKey ?? state.identity.webhookSecret;
    },
    createContract: async (input) =>
      take(
        world,
        input === undefined ? controls.makeExample(world) : controls.makeContract(world, toRequest(input)),
      ),
    act: async (contractId, action, on = {}) =>
      take(world, controls.actOn(world, contractId, action, toNumber(on.milestoneId))),
    requestRefund: async (contractId, input) =>
      take(world, await controls.refund(world, contractId, toRequest(input))),
    settleRefund: async (refundId) => take(world, controls.settle(world, Number(refundId))),
    contracts: contractsOf(world),
    refunds: { list: async () => listRefunds(world) },
    users: usersOf(world),
    subscription: {
      get: async () => controls.getSubscription(world),
      set: async (webhookUrl) => take(world, controls.setSubscription(world, { webhookUrl })),
    },
    deliveries: deliveriesOf(world),
    faults: faultsOf(world),
    clock: { now: () => world.clock.now(), advance: (ms) => advance(world, ms) },
    sms: { list: async () => state.sms.map((sms) => ({ ...sms })) },
    tokens: { revoke: () => revoke(world) },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function contractsOf(world: World): Sandbox["contracts"] {
  return {
    list: async () => listContracts(world),
    get: async (contractId) => {
      const found = controls.getContract(world, contractId);
      return found.ok ? found.value : undefined;
    },
  };
}

function usersOf(world: World): Sandbox["users"] {
  return {
    list: async () => Array.from(world.state.users.values(), (user) => ({ ...user })),
    set: async (platformRefId, change) => take(world, changeUser(world, platformRefId, change)),
  };
}

function deliveriesOf(world: World): Sandbox["deliveries"] {
  const { deliveries } = world;
  return {
    list: async (filter) => controls.listDeliveries(world, filter),
    resend: async (webhookId) => void take(world, controls.resend(world, webhookId)),
    idle: () => deliveries.idle(),
    drained: () => deliveries.drained(),
    pending: () => deliveries.pending,
  };
}

function faultsOf(world: World): Sandbox["faults"] {
  return {
    set: (faults, { seed = 1 } = {}) => void take(world, controls.setFaults(world, faults, seed)),
    get: () => world.faults.get(),
    counts: () => world.faults.counts(),
    clear: () => {
      world.faults.clear();
      world.state.touch();
    },
  };
}

async function advance(world: World, ms: number): Promise<void> {
  take(world, await controls.advance(world, ms));
}

function revoke(world: World): void {
  revokeTokens(world);
  world.state.commit();
}

/** Ids of milestones are text here, as in the mirror, and numbers in the service. */
function toNumber(id: number | string | undefined): number | null {
  return id === undefined ? null : Number(id);
}

function take<T>(world: World, granted: Granted<T>): T {
  world.state.commit();
  return unwrap(granted);
}

export function unwrap<T>(granted: Granted<T>): T {
  if (granted.ok) return granted.value;
  const { error } = granted;
  throw new SandboxError(codeOf(error), explain(error), { messageKey: error.message });
}

function codeOf({ status, message, validationErrors = [] }: Refusal): SandboxErrorCode {
  if (status === 404) return "not-found";
  return validationErrors.length > 0 || message === "InvalidContractId"
    ? "invalid-argument"
    : "action-forbidden";
}
