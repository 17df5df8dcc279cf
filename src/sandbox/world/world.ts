import type { SandboxClock } from "./clock.ts";
import type { DeliveryEngine } from "../webhooks/delivery-engine.ts";
import type { Faults } from "./faults.ts";
import type { Random } from "./random.ts";
import type { IdentityRecord, State } from "./state.ts";
import type { Settings } from "./settings.ts";

/** What every operation of the sandbox works on. */
export interface World {
  readonly settings: Settings;
  readonly identity: IdentityRecord;
  readonly clock: SandboxClock;
  readonly random: Random;
  readonly state: State;
  readonly faults: Faults;
  readonly deliveries: DeliveryEngine;
  /** The next timestamp: later than every one before it. */
  stamp(): string;
  /** What the server is bound to. */
  address: { host: string; port: number };
  /** `http://127.0.0.1:4010`, known once the server listens. */
  baseUrl: string;
}

export function businessNameOf(world: World, clientId: string): string {
  const other = world.settings.clients.find((client) => client.clientId === clientId);
  return other === undefined ? world.settings.businessName : (other.businessName ?? "Sandbox Business");
}
