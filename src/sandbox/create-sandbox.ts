import type { Server } from "node:http";

import { systemClock } from "../shared/clock.ts";
import { setSubscription } from "./control/controls.ts";
import { refused } from "./http/answer.ts";
import type { Answer } from "./http/answer.ts";
import type { Call } from "./http/call.ts";
import { FormProblems } from "./http/form-problems.ts";
import { baseUrlOf, foreignHost, isAllowedHost } from "./http/hosts.ts";
import type { Address } from "./http/hosts.ts";
import { answerCall } from "./http/routes.ts";
import { createHttpServer, listen } from "./http/server.ts";
import type { Sandbox } from "./sandbox.ts";
import { newSecret } from "./service/subscriptions.ts";
import { toSandbox, unwrap } from "./surface.ts";
import { DeliveryEngine } from "./webhooks/delivery-engine.ts";
import { createRecorder } from "./webhooks/recorder.ts";
import type { Recorder } from "./webhooks/recorder.ts";
import { flowingClock } from "./world/clock.ts";
import { Faults } from "./world/faults.ts";
import { openJournal } from "./world/journal-file.ts";
import type { SandboxOptions } from "./world/options.ts";
import { seededRandom, systemRandom } from "./world/random.ts";
import type { Random } from "./world/random.ts";
import { toSettings } from "./world/settings.ts";
import type { Settings } from "./world/settings.ts";
import { toSandboxDelivery } from "./world/shown-delivery.ts";
import { createStamper } from "./world/stamper.ts";
import { State } from "./world/state.ts";
import type { IdentityRecord } from "./world/state.ts";
import type { Ground, World } from "./world/world.ts";

/**
 * Starts the whole escrow service on this machine: its API, checkout page, webhooks with retries, and a control page.
 * Rejects with a `SandboxError` that says the cause and the fix: `invalid-configuration`, `address-in-use` or
 * `missing-peer`.
 * @example
 * const sandbox = await createSandbox({ webhookUrl: "http://localhost:3000/webhooks/escrow" });
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = toSettings(options);
  const recorder =
    settings.record === undefined ? undefined : createRecorder(settings.record, reportRecorder);
  const ground = createGround(settings);
  const engine = createEngine(ground, recorder);
  const problems = new FormProblems();
  let address: Address = { host: settings.host, port: settings.port };
  const worldFor = (host?: string): World => ({
    ...ground,
    deliveries: engine,
    baseUrl: baseUrlOf(settings, address, host),
  });
  const handle = (call: Call): Promise<Answer | "cut"> | Answer => {
    const { host } = call.headers;
    return isAllowedHost(settings, host)
      ? answerCall(worldFor(host), problems, call)
      : refused(foreignHost(host ?? ""));
  };
  const server = createHttpServer(handle, () => ground.clock.now());
  const close = closerOf(ground, engine, server, recorder);
  try {
    address = await listen(server, settings.host, settings.port);
    const { webhookUrl } = settings;
    if (webhookUrl !== undefined) unwrap(setSubscription(worldFor(), { webhookUrl }));
    engine.restore();
    saveClock(ground);
    ground.state.commit();
  } catch (error) {
    await close();
    throw error;
  }
  return toSandbox(worldFor(), address, close);
}

function createGround(settings: Settings): Ground {
  const state = new State(settings.data === undefined ? undefined : openJournal(settings.data));
  const random = settings.seed === undefined ? systemRandom : seededRandom(settings.seed);
  // Time does not go back over a restart, however fast it ran before.
  const startMs = Math.max(systemClock.now(), state.identity.clockMs);
  const clock = settings.clock === "real" ? flowingClock(settings.speed, startMs) : settings.clock;
  state.saveIdentity(toIdentity(settings, state.identity, random));
  return { settings, state, clock, random, faults: new Faults(), stamp: createStamper(clock) };
}

function toIdentity(settings: Settings, before: IdentityRecord, random: Random): IdentityRecord {
  return {
    clientSecret: settings.clientSecret ?? (before.clientSecret || random.hex(24)),
    webhookSecret: settings.webhookSecret ?? (before.webhookSecret || newSecret({ random })),
    tokenKey: before.tokenKey || random.hex(32),
    clockMs: before.clockMs,
  };
}

function createEngine(ground: Ground, recorder: Recorder | undefined): DeliveryEngine {
  return new DeliveryEngine(ground, (request, delivery, sent, at) => {
    recorder?.write(request, delivery, sent, at);
    ground.settings.onAttempt?.(toSandboxDelivery(delivery));
  });
}

/** Runs the engine along with the clock until the returned function is called, which then ends everything, once. */
function closerOf(
  ground: Ground,
  engine: DeliveryEngine,
  server: Server,
  recorder: Recorder | undefined,
): () => Promise<void> {
  const undrive = ground.clock.drive(engine);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    undrive();
    const closed = new Promise((resolve) => void server.close(resolve));
    await engine.close();
    server.closeAllConnections();
    if (server.listening) await closed;
    saveClock(ground);
    ground.state.close();
    await recorder?.close();
  };
  return () => (closing ??= close());
}

function saveClock({ state, clock }: Ground): void {
  state.saveIdentity({ ...state.identity, clockMs: clock.now() });
}

/** A recording that can't be written must not stop the deliveries; it must not go unnoticed either. */
function reportRecorder(error: Error): void {
  process.emitWarning(`The sandbox's recording can't be written: ${error.message}`, "SandboxWarning");
}
