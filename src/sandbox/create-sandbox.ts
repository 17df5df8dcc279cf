import { systemClock } from "../shared/clock.ts";
import { act, actionNames } from "./actions.ts";
import { answerApi } from "./api-routes.ts";
import type { Answer, Outcome, Refusal } from "./answer.ts";
import { createStamper, flowingClock } from "./clock.ts";
import { findContract } from "./contracts.ts";
import { answerControl } from "./control-routes.ts";
import { DeliveryEngine } from "./delivery-engine.ts";
import { Faults } from "./faults.ts";
import { createHttpServer, listen } from "./http-server.ts";
import type { Call } from "./http-server.ts";
import { openJournal } from "./journal-file.ts";
import type { SandboxOptions } from "./options.ts";
import { answerPage } from "./page-routes.ts";
import { seededRandom, systemRandom } from "./random.ts";
import { createRecorder } from "./recorder.ts";
import type { Recorder } from "./recorder.ts";
import { settleRefund } from "./refunds.ts";
import type { Sandbox } from "./sandbox.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { SandboxErrorCode } from "./sandbox-error.ts";
import { toSettings } from "./settings.ts";
import type { Settings } from "./settings.ts";
import { State } from "./state.ts";
import type { IdentityRecord } from "./state.ts";
import { newSecret, putSubscription } from "./subscriptions.ts";
import { revokeTokens } from "./tokens.ts";
import {
  listContracts,
  listRefunds,
  toSandboxContract,
  toSandboxDelivery,
  toSandboxRefund,
} from "./truth.ts";
import { changeUser } from "./user-changes.ts";
import type { World } from "./world.ts";

/**
 * Starts the whole escrow service on this machine: its API, checkout page, webhooks with retries, and a control
 * page. Follows the service's documents; what they leave open is an option.
 * Throws `invalid-configuration`, `address-in-use` or `missing-peer` with the cause and the fix.
 * @example
 * const sandbox = await createSandbox({ webhookUrl: "http://localhost:3000/webhooks/escrow" });
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = toSettings(options);
  const recorder =
    settings.record === undefined ? undefined : createRecorder(settings.record, reportRecorder);
  const world = createWorld(settings, recorder);
  const server = createHttpServer((call) => route(world, call), world.clock.now);
  const undrive = world.clock.drive(world.deliveries);
  const close = async (): Promise<void> => {
    undrive();
    const closed = new Promise((resolve) => void server.close(resolve));
    await world.deliveries.close();
    server.closeAllConnections();
    if (server.listening) await closed;
    saveClock(world);
    world.state.close();
    await recorder?.close();
  };
  try {
    const address = await listen(server, settings.host, settings.port);
    world.baseUrl = `http://${urlHost(address.host)}:${address.port}`;
    if (settings.webhookUrl !== undefined) unwrap(putSubscription(world, settings.clientId, settings));
    world.deliveries.restore();
    saveClock(world);
    world.state.commit();
  } catch (error) {
    await close();
    throw error;
  }
  return toSandbox(world, onceOnly(close));
}

function createWorld(settings: Settings, recorder: Recorder | undefined): World {
  const state = new State(settings.data === undefined ? undefined : openJournal(settings.data));
  const random = settings.seed === undefined ? systemRandom : seededRandom(settings.seed);
  // Time does not go back over a restart, however fast it ran before.
  const startMs = Math.max(systemClock.now(), state.identity?.clockMs ?? 0);
  const clock = settings.clock === "real" ? flowingClock(settings.speed, startMs) : settings.clock;
  state.saveIdentity(toIdentity(settings, state.identity, random));
  const world: World = {
    settings,
    state,
    clock,
    random,
    faults: new Faults(),
    stamp: createStamper(clock),
    baseUrl: "",
    get identity() {
      return state.identity as IdentityRecord;
    },
    get deliveries() {
      return deliveries;
    },
  };
  const deliveries = new DeliveryEngine(world, (request, delivery, sent, at) =>
    recorder?.write(request, delivery, sent, at),
  );
  return world;
}

function toIdentity(
  settings: Settings,
  before: IdentityRecord | undefined,
  random: World["random"],
): IdentityRecord {
  return {
    clientSecret: settings.clientSecret ?? before?.clientSecret ?? random.hex(24),
    webhookSecret: settings.webhookSecret ?? before?.webhookSecret ?? newSecret({ random }),
    tokenKey: before?.tokenKey ?? random.hex(32),
    clockMs: before?.clockMs ?? 0,
  };
}

function saveClock(world: World): void {
  world.state.saveIdentity({ ...world.identity, clockMs: world.clock.now() });
}

/** A recording that can't be written must not stop the deliveries; it must not go unnoticed either. */
function reportRecorder(error: Error): void {
  process.emitWarning(`The sandbox's recording can't be written: ${error.message}`, "SandboxWarning");
}

async function route(world: World, call: Call): Promise<Answer | "cut"> {
  if (call.path.startsWith("/apps/api/") || call.path === "/connect/token") return answerApi(world, call);
  if (call.path === "/_sandbox" || call.path.startsWith("/_sandbox/")) return answerControl(world, call);
  return answerPage(world, call);
}

function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

function onceOnly(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => (closing ??= close());
}

function toSandbox(world: World, close: () => Promise<void>): Sandbox {
  const { state, settings, deliveries, faults, clock } = world;
  return {
    baseUrl: world.baseUrl,
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

  function deliveriesOf(within: World): Sandbox["deliveries"] {
    return {
      list: async (filter = {}) =>
        Array.from(within.state.deliveries.values())
          .filter((one) =>
            Object.entries(filter).every(([key, value]) => one[key as keyof typeof filter] === value),
          )
          .map(toSandboxDelivery),
      resend: async (webhookId) => {
        const delivery = state.deliveries.get(webhookId);
        if (delivery === undefined) throw new SandboxError("not-found", `There is no webhook ${webhookId}.`);
        deliveries.resend(delivery);
        state.commit();
      },
      idle: () => deliveries.idle(),
      drained: () => deliveries.drained(),
      pending: () => deliveries.pending,
    };
  }
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

function unwrap<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw toError(outcome.error);
}

const codes: Record<number, SandboxErrorCode> = { 404: "not-found", 409: "action-forbidden" };

function toError({ status, message, detail, validationErrors = [] }: Refusal): SandboxError {
  const text = detail ?? (validationErrors.map((error) => error.message).join(" ") || message);
  const hint = message === "UnknownAction" ? ` Actions: ${actionNames().join(", ")}.` : "";
  return new SandboxError(codes[status] ?? "invalid-argument", `${text}${hint}`);
}
