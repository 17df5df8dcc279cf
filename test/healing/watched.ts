/** The service and mirrors that hear of it and watch over its subscription, all on one manual clock. */
import { createClient, type Client } from "../../src/client.ts";
import type { WatchdogWarning } from "../../src/healing/alarm.ts";
import { createMirror, type Mirror } from "../../src/mirror/create-mirror.ts";
import type { MirrorClient } from "../../src/reconcile/mirror-client.ts";
import { manualClock, type Sandbox, type SandboxOptions } from "../../src/sandbox.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { openHost } from "../reconcile/support.ts";
import { openSandbox } from "../sandbox/support.ts";

export interface Watched {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly mirror: Mirror;
  /** How the endpoint answers: by the mirror, with a status, or not at all. */
  endpoint: "mirror" | "down" | number;
  readonly warned: { readonly kind: WatchdogWarning; readonly message: string }[];
  readonly note: (message: string, kind: WatchdogWarning) => void;
}

export async function openWatched(
  store: Store = sqlite(":memory:"),
  toClient: (client: Client) => MirrorClient = (client) => client,
  options: SandboxOptions = {},
): Promise<Watched> {
  const host = await openHost((webhook) => (request, response) => {
    const { endpoint } = watched;
    if (endpoint === "mirror") return webhook(request, response);
    if (endpoint === "down") return void request.socket.destroy();
    request.resume().on("end", () => response.writeHead(endpoint).end());
  });
  const sandbox = await openSandbox({ clock: manualClock(), webhookUrl: host.url, ...options });
  const client = createClient(sandbox);
  const mirror = await createMirror({
    store,
    webhook: { secrets: () => sandbox.webhookSecret },
    logger: silentLogger,
    clock: { now: () => sandbox.clock.now() },
    client: toClient(client),
    jobs: { run: false, leaseMs: 400 },
  });
  host.mount(mirror, sandbox);
  const warned: Watched["warned"] = [];
  const note: Watched["note"] = (message, kind) => void warned.push({ kind, message });
  const watched: Watched = { sandbox, client, mirror, endpoint: "mirror", warned, note };
  return watched;
}

/** Makes a contract, and lets its webhook be sent. */
export async function makeContract({ sandbox }: Watched): Promise<string> {
  const { contractId } = await sandbox.createContract();
  await sandbox.deliveries.idle();
  return contractId;
}

/** Lets the service's time pass until something holds; the watchdog looks as it passes. */
export async function passUntil(
  { sandbox }: Watched,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  while (!(await holds())) {
    await sandbox.clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
