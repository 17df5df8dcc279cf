import { systemClock } from "../shared/clock.ts";
import { answerApi } from "./http/api-routes.ts";
import type { Answer } from "./wire/answer.ts";
import { createStamper, flowingClock } from "./world/clock.ts";
import { answerControl } from "./http/control-routes.ts";
import { DeliveryEngine } from "./webhooks/delivery-engine.ts";
import { Faults } from "./world/faults.ts";
import { createHttpServer, listen } from "./http/http-server.ts";
import type { Call } from "./http/http-server.ts";
import { openJournal } from "./world/journal-file.ts";
import type { SandboxOptions } from "./world/options.ts";
import { answerPage } from "./http/page-routes.ts";
import { seededRandom, systemRandom } from "./world/random.ts";
import { createRecorder } from "./webhooks/recorder.ts";
import type { Recorder } from "./webhooks/recorder.ts";
import type { Sandbox } from "./sandbox.ts";
import { toSettings } from "./world/settings.ts";
import type { Settings } from "./world/settings.ts";
import { State } from "./world/state.ts";
import type { IdentityRecord } from "./world/state.ts";
import { newSecret, putSubscription } from "./service/subscriptions.ts";
import { toSandbox, unwrap } from "./surface.ts";
import { toSandboxDelivery } from "./control/truth.ts";
import type { World } from "./world/world.ts";

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
  const server = createHttpServer(
    (call) => route(world, call),
    () => world.clock.now(),
  );
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
    world.address = address;
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
  const startMs = Math.max(systemClock.now(), state.identity.clockMs);
  const clock = settings.clock === "real" ? flowingClock(settings.speed, startMs) : settings.clock;
  state.saveIdentity(toIdentity(settings, state.identity, random));
  const world: World = {
    settings,
    state,
    clock,
    random,
    faults: new Faults(),
    stamp: createStamper(clock),
    address: { host: settings.host, port: settings.port },
    baseUrl: "",
    get identity() {
      return state.identity;
    },
    get deliveries() {
      return deliveries;
    },
  };
  const deliveries = new DeliveryEngine(world, (request, delivery, sent, at) => {
    recorder?.write(request, delivery, sent, at);
    settings.onAttempt?.(toSandboxDelivery(delivery));
  });
  return world;
}

function toIdentity(settings: Settings, before: IdentityRecord, random: World["random"]): IdentityRecord {
  return {
    clientSecret: settings.clientSecret ?? (before.clientSecret || random.hex(24)),
    webhookSecret: settings.webhookSecret ?? (before.webhookSecret || newSecret({ random })),
    tokenKey: before.tokenKey || random.hex(32),
    clockMs: before.clockMs,
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
