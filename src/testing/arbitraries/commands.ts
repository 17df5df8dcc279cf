import { deepStrictEqual } from "node:assert/strict";
import { sleep } from "../../shared/timers.ts";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import type { SandboxContract } from "../../sandbox/control/truth.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { ContractAction } from "../../sandbox/service/machine.ts";
import { SandboxError } from "../../sandbox/world/sandbox-error.ts";
import type { Observation } from "../conformance/receiver-conformance.ts";

/** A running server, and the sandbox that sends webhooks to it. */
export interface Integrator {
  /** Sends its webhooks to the server. Give it a manual clock, so that retries cost no time. */
  readonly sandbox: Sandbox;
  /**
   * Returns the server's data about a contract: `status`, and `refunds` if it has them. If it asks over HTTP, the server can
   * be written in any language.
   */
  readonly observe: (contractId: string) => Promise<Observation | undefined> | Observation | undefined;
}

/** The commands' own memory of a run. Start with `{ contracts: [] }`. */
export interface IntegratorModel {
  /** The ids of the contracts created so far, in order. */
  readonly contracts: string[];
}

/** Options of `commands`. */
export interface CommandOptions {
  /** How long the server may take to show a delivery's effect after its answer. Milliseconds, default 2,000. */
  readonly waitMs?: number | undefined;
}

/** One thing that happens to the sandbox, and the comparison after it. */
type Command = fc.AsyncCommand<IntegratorModel, Integrator>;

/**
 * Commands for fast-check's model runner. In the sandbox they act as buyer, seller and bank, and send old webhooks again.
 * After each command the server must have the same data as the sandbox about every contract.
 *
 * ```ts
 * await fc.assert(fc.asyncProperty(fc.commands(commands()), async (story) => {
 *   await using sandbox = await createSandbox({ port: 0, webhookUrl, webhookSecret, clock: manualClock() });
 *   await fc.asyncModelRun(() => ({ model: { contracts: [] }, real: { sandbox, observe } }), story);
 * }));
 * ```
 */
export function commands({ waitMs = 2000 }: CommandOptions = {}): fc.Arbitrary<Command>[] {
  const choice = fc.nat({ max: 99 });
  const make = (
    name: string,
    needsContract: boolean,
    act: (step: Step) => Promise<string>,
  ): fc.Arbitrary<Command> => choice.map((chosen) => toCommand({ name, needsContract, act, waitMs }, chosen));
  return [
    make("create", false, create),
    make("act", true, actOn),
    make("act", true, actOn),
    make("refund", true, refund),
    make("settle", true, settle),
    make("send again", true, sendAgain),
    make("disturb", false, disturb),
  ];
}

interface Step {
  readonly model: IntegratorModel;
  readonly sandbox: Sandbox;
  readonly chosen: number;
}

interface Recipe {
  readonly name: string;
  readonly needsContract: boolean;
  /** Gives what was done, for the counterexample. */
  readonly act: (step: Step) => Promise<string>;
  readonly waitMs: number;
}

function toCommand({ name, needsContract, act, waitMs }: Recipe, chosen: number): Command {
  let told = name;
  return {
    check: ({ contracts }) => !needsContract || contracts.length > 0,
    run: async (model, real) => {
      told = await act({ model, sandbox: real.sandbox, chosen });
      await deliverAll(real.sandbox);
      for (const contractId of model.contracts) await compare(contractId, real, waitMs);
    },
    toString: () => told,
  };
}

async function create({ model, sandbox, chosen }: Step): Promise<string> {
  const plain = {
    title: "An order of the testing kit",
    contractServiceType: "Product",
    buyerParty: { phoneNumber: "+966500000001", firstName: "Sara", lastName: "Ali" },
    sellerParty: { phoneNumber: "+966500000002", firstName: "Omar", lastName: "Nasser" },
    amount: 100 + chosen,
  } as const;
  const { contractId } = await (chosen % 2 === 0 ? sandbox.createContract(plain) : sandbox.createContract());
  model.contracts.push(contractId);
  return `create ${contractId}`;
}

/** One of the actions that the service allows now. */
async function actOn({ model, sandbox, chosen }: Step): Promise<string> {
  const contract = await chosenContract({ model, sandbox, chosen });
  const actions = contract === undefined ? [] : actionsOf(contract);
  const [action, milestoneId] = actions[chosen % Math.max(1, actions.length)] ?? [];
  if (contract === undefined || action === undefined) return "act: nothing is allowed";
  await sandbox.act(contract.contractId, action, milestoneId === undefined ? {} : { milestoneId });
  return `${action} ${contract.contractId}${milestoneId === undefined ? "" : ` milestone ${milestoneId}`}`;
}

function actionsOf({ actions, milestones }: SandboxContract): [ContractAction, string | undefined][] {
  const own = actions.map((action): [ContractAction, undefined] => [action, undefined]);
  const ofMilestones = milestones.flatMap((milestone) =>
    milestone.actions.map((action): [ContractAction, string] => [action, milestone.milestoneId]),
  );
  return [...own, ...ofMilestones];
}

async function refund(step: Step): Promise<string> {
  const contract = await chosenContract(step);
  if (contract === undefined) return "refund: no contract";
  const { contractId, milestones } = contract;
  const milestone = milestones[step.chosen % Math.max(1, milestones.length)];
  const input = {
    reason: "the testing kit asks",
    ...(milestone && { milestoneId: Number(milestone.milestoneId) }),
  };
  return unlessForbidden(`refund ${contractId}`, () => step.sandbox.requestRefund(contractId, input));
}

async function settle({ sandbox, chosen }: Step): Promise<string> {
  const open = (await sandbox.refunds.list()).filter(({ state }) => state === "initiated");
  const chosenRefund = open[chosen % Math.max(1, open.length)];
  if (chosenRefund === undefined) return "settle: no refund is open";
  return unlessForbidden(`settle ${chosenRefund.refundId}`, () =>
    sandbox.settleRefund(chosenRefund.refundId),
  );
}

async function sendAgain({ sandbox, chosen }: Step): Promise<string> {
  const sent = await sandbox.deliveries.list();
  const delivery = sent[chosen % Math.max(1, sent.length)];
  if (delivery === undefined) return "send again: nothing was sent";
  await sandbox.deliveries.resend(delivery.webhookId);
  return `send ${delivery.event} ${delivery.webhookId} again`;
}

/** From now on some webhooks come twice, or late. */
async function disturb({ sandbox, chosen }: Step): Promise<string> {
  sandbox.faults.set({ duplicate: 0.3, reorder: 0.3 }, { seed: chosen });
  return `disturb with seed ${chosen}`;
}

async function chosenContract({ model, sandbox, chosen }: Step): Promise<SandboxContract | undefined> {
  return sandbox.contracts.get(model.contracts[chosen % model.contracts.length] ?? "");
}

async function unlessForbidden(name: string, act: () => Promise<unknown>): Promise<string> {
  try {
    await act();
    return name;
  } catch (error) {
    if (error instanceof SandboxError && error.code === "action-forbidden") return `${name}: forbidden`;
    throw error;
  }
}

const hourMs = 3_600_000;

/** Until no retry is pending: the last comes more than 72 minutes after the first attempt. */
async function deliverAll(sandbox: Sandbox): Promise<void> {
  await sandbox.deliveries.idle();
  if (sandbox.deliveries.pending() > 0) await sandbox.clock.advance(2 * hourMs);
  await sandbox.deliveries.idle();
}

/** @throws AssertionError where the server does not come to hold what the sandbox holds */
async function compare(contractId: string, { sandbox, observe }: Integrator, waitMs: number): Promise<void> {
  const contract = await sandbox.contracts.get(contractId);
  const endMs = Date.now() + waitMs;
  for (;;) {
    const seen = await observe(contractId);
    const held = { contractId, status: seen?.status?.toLowerCase(), refunds: seen?.refunds };
    const expected = {
      contractId,
      status: contract?.status.toLowerCase(),
      refunds: seen?.refunds === undefined ? undefined : refundsOf(contract),
    };
    if (isDeepStrictEqual(held, expected)) return;
    if (Date.now() > endMs) return deepStrictEqual(held, expected);
    await sleep(20);
  }
}

function refundsOf(contract: SandboxContract | undefined): Record<string, string> {
  return Object.fromEntries((contract?.refunds ?? []).map(({ refundId, state }) => [refundId, state]));
}
