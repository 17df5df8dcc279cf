import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { nodeWebhook } from "../../adapters/node.ts";
import { createClient, type Client } from "../../src/client.ts";
import { createMirror, type Mirror } from "../../src/mirror/create-mirror.ts";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import type { MirrorClient } from "../../src/reconcile/mirror-client.ts";
import type { MirroredContract } from "../../src/queries/shapes.ts";
import { manualClock, type Sandbox, type SandboxContract, type SandboxOptions } from "../../src/sandbox.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Random } from "../simulation/random.ts";
import { openSandbox } from "../sandbox/support.ts";

export const minuteMs = 60_000;

export interface Service {
  readonly sandbox: Sandbox;
  readonly mirror: Mirror;
  readonly client: Client;
  /** Lets the service's time pass, and waits for what is sent in it. */
  readonly pass: (ms?: number) => Promise<void>;
}

export interface ServiceOptions {
  readonly sandbox?: SandboxOptions;
  readonly mirror?: Partial<MirrorOptions>;
  /** The client that the mirror is given. */
  readonly toClient?: (client: Client, sandbox: Sandbox) => MirrorClient;
}

/**
 * The address of a mirror's webhook, which the service needs before the mirror is there.
 *
 * @param around answers requests; it may leave them to the mirror's webhook
 */
export async function openHost(around: (webhook: RequestListener) => RequestListener = (webhook) => webhook) {
  let mount!: (mirror: Mirror) => void;
  const webhook = nodeWebhook(new Promise<Mirror>((resolve) => (mount = resolve)));
  const answer = around((request, response) => void webhook(request, response));
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** At the end of the test all three are closed. */
    mount: (mirror: Mirror, sandbox: Sandbox): void => {
      mount(mirror);
      onTestFinished(async () => {
        await sandbox.close();
        server.closeAllConnections();
        server.close();
        await mirror.close();
      });
    },
  };
}

/** The service, and a mirror that hears of it over HTTP and asks it over HTTP, both on one clock. */
export async function openService(options: ServiceOptions = {}): Promise<Service> {
  const host = await openHost();
  const sandbox = await openSandbox({ clock: manualClock(), webhookUrl: host.url, ...options.sandbox });
  const clock = { now: () => sandbox.clock.now() };
  const client = createClient(sandbox);
  const mirror = await createMirror({
    store: sqlite(":memory:"),
    webhook: { secrets: sandbox.webhookSecret },
    logger: silentLogger,
    clock,
    client: options.toClient?.(client, sandbox) ?? client,
    ...options.mirror,
  });
  host.mount(mirror, sandbox);
  const pass = async (ms = minuteMs): Promise<void> => {
    await sandbox.clock.advance(ms);
    await sandbox.deliveries.idle();
  };
  return { sandbox, mirror, client, pass };
}

/** What the service says of each contract, and what the mirror shows of it. */
export async function compareAll({
  sandbox,
  mirror,
}: Service): Promise<{ service: object[]; mirror: object[] }> {
  const service: object[] = [];
  const mirrored: object[] = [];
  for (const contract of await sandbox.contracts.list()) {
    const known = await mirror.contracts.get(contract.contractId);
    service.push(shownOf(contract));
    mirrored.push(known === undefined ? {} : shownOf(known));
  }
  return { service, mirror: mirrored };
}

/** The fields that the mirror and the sandbox both show. */
export function shownOf(contract: MirroredContract | SandboxContract) {
  const { contractId, status, reference, title, amountMinor, metadata } = contract;
  const milestones = contract.milestones.map((each) => {
    // The service sends no event of a milestone before it is paid.
    const milestoneStatus = each.status === null ? "pending" : each.status.toLowerCase();
    return [each.milestoneId, each.name, milestoneStatus];
  });
  return { contractId, status, reference, title, amountMinor, metadata, milestones };
}

const party = (phoneNumber: string, firstName: string) => ({ phoneNumber, firstName, lastName: "" });

/** A contract's request; each third has milestones. */
export function contractInput(index: number) {
  const milestones = [
    { name: "First part", amount: 60, dueDate: "2027-03-01T00:00:00Z" },
    { name: "Second part", amount: 40, dueDate: "2027-04-01T00:00:00Z" },
  ];
  return {
    title: `Contract ${index}`,
    contractServiceType: "Service" as const,
    buyerParty: party("+966500000001", "Alia"),
    sellerParty: party("+966500000002", "Badr"),
    amount: 100,
    reference: `order-${index}`,
    metaData: { metadata1: `first of ${index}` },
    ...(index % 3 === 0 ? { milestones } : {}),
  };
}

/** One thing that happens to a contract, of those that may happen to it now; nothing once it has ended. */
export async function takeAnyStep(sandbox: Sandbox, contractId: string, random: Random): Promise<void> {
  const contract = await sandbox.contracts.get(contractId);
  if (contract === undefined) return;
  const open = contract.refunds.find(({ state }) => state === "initiated");
  if (open !== undefined) return void (await sandbox.settleRefund(open.refundId));
  const steps: (() => Promise<unknown>)[] = contract.actions.map(
    (action) => () => sandbox.act(contractId, action),
  );
  for (const { milestoneId, actions } of contract.milestones)
    for (const action of actions) steps.push(() => sandbox.act(contractId, action, { milestoneId }));
  if (["Escrow", "Dispute"].includes(contract.status)) {
    const milestone = contract.milestones.find(({ status }) => status === "Escrow");
    if (contract.milestones.length === 0)
      steps.push(() => sandbox.requestRefund(contractId, { reason: "Test" }));
    else if (milestone !== undefined)
      steps.push(() =>
        sandbox.requestRefund(contractId, { reason: "Test", milestoneId: milestone.milestoneId }),
      );
  }
  if (steps.length > 0) await steps[random.below(steps.length)]?.();
}
