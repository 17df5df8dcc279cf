/** A process that does with the queue whatever an app may do, at random moments, for as long as it is told. */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { PermanentError, RetryAfterError } from "../../src/handlers/errors.ts";
import type { TransactionContext } from "../../src/handlers/transaction/call-in-transaction.ts";
import { createMirror, type Mirror } from "../../src/mirror/create-mirror.ts";
import { isEscrowMirrorError } from "../../src/shared/errors.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { signBody } from "../../src/signature/sign.ts";
import { eventBody } from "../support/delivery.ts";
import { openDatabase } from "./database.ts";
import { createRandom } from "./random.ts";

const [, , place = "", secret = "", trace = "", role = "calm", table = "", seedText = "0", msText = "0"] =
  process.argv;
const isCalm = role === "calm";
const random = createRandom(Number(seedText));
const endsAt = performance.now() + Number(msText);
const contracts = 5;
const pending = new Set<Promise<unknown>>();
const offs = new Map<string, () => void>();
let sent = 0;
let mirror = await createOwn();

/** A line of the trace. The system has it once the call returns. */
function note(what: string, { webhookId, contractId }: Traced): void {
  appendFileSync(trace, `${[what, webhookId, contractId, process.hrtime.bigint()].join("\t")}\n`);
}

interface Traced {
  readonly webhookId: string;
  readonly contractId: string;
}

/** The name of the delivery says how its job goes. */
async function traceRun(event: Traced, { attempt }: { readonly attempt: number }): Promise<void> {
  note("start", event);
  await sleep(random.below(event.webhookId.includes("slow") ? 300 : 12));
  if (!isCalm && event.webhookId.includes("block")) block(2500);
  if (event.webhookId.includes("poison"))
    return fail(event, isCalm ? new Error("always") : new PermanentError("always"));
  if (event.webhookId.includes("flaky") && attempt === 1) return fail(event, new RetryAfterError("now", 0));
  note("done", event);
}

function fail(event: Traced, error: Error): never {
  note("fail", event);
  throw error;
}

/** Nothing else goes on in this process meanwhile: no heartbeat. */
function block(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

/** Tries again while others hold the lock of the file for too long. */
async function createOwn(): Promise<Mirror> {
  return create().catch((error: unknown) => {
    if (isEscrowMirrorError(error, "store-unavailable")) return createOwn();
    throw error;
  });
}

function create(): Promise<Mirror> {
  return createMirror({
    store: openDatabase(place),
    webhook: { secrets: secret },
    logger: silentLogger,
    jobs: {
      leaseMs: isCalm ? 60_000 : 1000,
      backoffMs: () => 20,
      // A killed process uses up an attempt of the job that was alone there, whatever job that is.
      maxAttempts: isCalm ? 2 : 1000,
      concurrency: 1 + random.below(8),
    },
  });
}

function registerAll(): void {
  for (const name of ["trace", "extra", "ledger"]) offs.set(name, register(name));
}

function register(name: string): () => void {
  if (name === "trace") return mirror.on("*", traceRun, { name });
  if (name === "extra") return mirror.on("*", () => sleep(random.below(20)), { name });
  return mirror.inTransaction("*", ({ webhookId }, { trx }) => write(trx, webhookId), { name });
}

async function write(trx: TransactionContext["trx"], webhookId: string): Promise<void> {
  await sql`insert into ${sql.table(table)} (webhook) values (${webhookId})`.execute(trx);
}

const often = Array.from({ length: 9 }, () => "quick");
const kinds = [...often, "flaky", "flaky", "poison", "slow", "block"];

async function receive(): Promise<void> {
  const kind = kinds[random.below(kinds.length)] as string;
  const webhookId = `${kind}-${process.pid}-${sent++}`;
  const contractId = `CNT-${random.below(contracts)}`;
  const body = eventBody("contract.created", { id: webhookId, seconds: sent, contractId });
  const headers = signBody({ secret, timestamp: 0, body, webhookId });
  const request = { method: "POST", headers, body: Buffer.from(body) };
  for (let tried = 0; tried < 50; tried++)
    if ((await mirror.receive(request)).status === 200) return note("sent", { webhookId, contractId });
}

/** What may meet a job that has changed meanwhile, or a mirror that closes. */
function inBackground(work: Promise<unknown>): void {
  const settled = work.catch((error: unknown) => {
    const { code = String(error) } = error as { code?: string };
    if (!["not-found", "closed", "store-unavailable"].includes(code))
      note(`odd ${code}`, { webhookId: "", contractId: "" });
  });
  pending.add(settled);
  void settled.then(() => pending.delete(settled));
}

async function retryOne(state: "dead" | "due"): Promise<void> {
  const { items } = await mirror.jobs.list({ state });
  const job = items[random.below(items.length)];
  if (job !== undefined) await mirror.jobs.retry(job.id);
}

const acts: readonly (readonly [weight: number, act: () => Promise<unknown> | void])[] = [
  [8, () => inBackground(receive())],
  [2, () => inBackground(retryOne("dead"))],
  [2, () => inBackground(retryOne("due"))],
  [2, () => inBackground(mirror.jobs.retryAll({ state: random.below(2) === 0 ? "dead" : "due" }))],
  [2, () => inBackground(mirror.jobs.runOnce())],
  [1, () => inBackground(mirror.idle())],
  [1, () => inBackground(mirror.handlers.remove("extra"))],
  [3, () => registerAgain(["trace", "ledger", "extra"][random.below(3)] as string)],
  [1, reopen],
];

function registerAgain(name: string): void {
  offs.get(name)?.();
  offs.set(name, register(name));
}

async function reopen(): Promise<void> {
  await mirror.close();
  await Promise.all(pending);
  mirror = await createOwn();
  registerAll();
}

registerAll();
process.stdout.write("0\n");
const all = acts.flatMap(([weight, act]) => Array.from({ length: weight }, () => act));
while (performance.now() < endsAt) {
  await all[random.below(all.length)]?.();
  await sleep(random.below(30));
}
await mirror.close();
await Promise.all(pending);
process.exit(0);
