/** Every --json against its documented shape, and against the fields in the page. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { readText } from "../unit/docs/pages.ts";
import {
  commandOf,
  everyCommand,
  openPlace,
  quarantinedId,
  sandboxContract,
  type Place,
} from "./command-lines.ts";
import { run } from "./run-command.ts";

const text = z.string();
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullable();
const count = z.int().min(0);
const minor = maybe(z.int());

const refund = z.strictObject({
  refundId: maybe(text),
  contractId: text,
  milestoneId: maybe(text),
  scope: z.enum(["contract", "milestone"]),
  kind: z.enum(["full", "partial"]),
  state: z.enum(["requested", "initiated", "succeeded"]),
  inferred: z.boolean(),
  amountMinor: minor,
  currency: text,
  requestedAt: maybe(time),
  initiatedAt: maybe(time),
  succeededAt: maybe(time),
});

const milestone = z.strictObject({
  contractId: text,
  milestoneId: text,
  name: maybe(text),
  description: maybe(text),
  status: maybe(text),
  statusSince: maybe(time),
  previousStatus: maybe(text),
  amountMinor: minor,
  dueDate: maybe(text),
});

const party = z.looseObject({ firstName: maybe(text), lastName: maybe(text), phoneNumber: maybe(text) });

const contract = z.strictObject({
  contractId: text,
  reference: maybe(text),
  status: text,
  statusSince: time,
  previousStatus: maybe(text),
  title: maybe(text),
  description: maybe(text),
  notes: maybe(text),
  businessName: maybe(text),
  serviceType: maybe(text),
  amountMinor: minor,
  currency: text,
  metadata: z.record(text, text),
  buyer: maybe(party),
  seller: maybe(party),
  milestones: z.array(milestone),
  refunds: z.array(refund),
  createdAt: maybe(time),
  updatedAt: time,
  changedAt: time,
  syncedAt: maybe(time),
});

const delivery = z.strictObject({
  id: text,
  webhookId: text,
  payloadId: maybe(text),
  event: maybe(text),
  contractId: maybe(text),
  milestoneId: maybe(text),
  outcome: z.enum(["applied", "duplicate", "quarantined", "dismissed"]),
  reason: maybe(text),
  attempts: count,
  occurredAt: maybe(time),
  receivedAt: time,
  lastReceivedAt: time,
  secretId: text,
});
const headers = { headers: maybe(z.record(text, text)) };
const body = { body: maybe(text), bodyBase64: maybe(text) };

const anomaly = z.strictObject({
  kind: text,
  contractId: maybe(text),
  milestoneId: maybe(text),
  webhookId: maybe(text),
  detail: text,
  at: time,
});

const job = z.strictObject({
  id: text,
  handler: text,
  webhookId: maybe(text),
  contractId: maybe(text),
  state: z.enum(["waiting", "due", "running", "done", "dead"]),
  attempts: count,
  nextAttemptAt: time,
  lastError: maybe(text),
});

const open = z.strictObject({
  kind: z.enum(["refund", "quarantine", "job", "lost-event", "forgotten"]),
  stuck: z.boolean(),
  since: maybe(time),
  what: text,
  next: z.array(text).min(1),
});

const status = z.strictObject({
  ok: z.boolean(),
  store: text,
  lastDeliveryAt: maybe(time),
  contracts: z.strictObject({ total: count, byStatus: z.record(text, count) }),
  quarantined: count,
  jobs: z.strictObject({ due: count, waiting: count, running: count, dead: count }),
  stuckRefunds: z.strictObject({ count, since: maybe(time) }),
  subscription: z.null(),
  todo: z.array(text),
});

const shownContract = z.strictObject({
  contract,
  history: z.array(z.looseObject({ contractId: text, to: text, moved: z.boolean() })),
  payments: z.array(z.looseObject({ paymentId: text, amountMinor: minor })),
  disputes: z.array(z.looseObject({ disputeId: maybe(text), raisedAt: time })),
  anomalies: z.array(anomaly),
  quarantined: z.array(delivery),
  failedJobs: z.array(job),
  open: z.array(open),
});

const subscription = z.strictObject({
  webhookUrl: text,
  active: z.literal(true),
  consecutiveFailures: count,
  lastSuccessAt: maybe(time),
  lastFailureAt: maybe(time),
});
const failure = z.strictObject({ contractId: maybe(text), code: text, message: text });
const done = { id: text, ok: z.literal(true) };
const failed = z.strictObject({ id: text, ok: z.literal(false), code: text, message: text });
const drift = z.strictObject({
  contractId: text,
  milestoneId: maybe(text),
  field: text,
  mirror: z.unknown(),
  service: z.unknown(),
});

/** A line, the shape of its objects, and how many it prints. */
const cases: readonly (readonly [line: string, shape: z.ZodType, objects: number])[] = [
  ["status", status.extend({ subscription }), 1],
  ["contracts list", contract, 3],
  ["contracts list --status escrow RefundInProgress", contract, 2],
  ["contracts list --reference order-1", contract, 1],
  ["contracts list --changed-since 2026-03-19T08:30:00Z", contract, 2],
  ["contracts show CNT-1", shownContract, 1],
  ["contracts show CNT-2", shownContract, 1],
  [
    `contracts refresh ${sandboxContract}`,
    z.strictObject({ ...done, before: z.null(), status: z.literal("pending") }),
    1,
  ],
  ["contracts refresh CNT-2601-00009999", failed, 1],
  [
    `contracts import ${sandboxContract} CNT-2601-00009999`,
    z.strictObject({ imported: z.literal(1), failed: z.literal(1), failures: z.tuple([failure]) }),
    1,
  ],
  ["refunds list", refund.extend({ stuck: z.boolean() }), 2],
  ["refunds list --contract CNT-3", refund.extend({ stuck: z.boolean() }), 1],
  ["refunds list --state succeeded", refund, 0],
  ["deliveries list", delivery, 12],
  ["deliveries list --contract CNT-2 --event contract.released", delivery, 1],
  ["deliveries list --outcome quarantined", delivery, 1],
  ["deliveries show WH-1", delivery.extend(body), 1],
  ["deliveries replay WH-7", z.strictObject({ ...done, jobs: z.literal(1) }), 1],
  ["deliveries replay WH-99", failed, 1],
  ["quarantine list", delivery.extend(headers), 1],
  ["quarantine list --dismissed", delivery.extend(headers), 0],
  [`quarantine show ${quarantinedId}`, delivery.extend(headers).extend(body), 1],
  [`quarantine release ${quarantinedId}`, failed.extend({ code: z.literal("not-releasable") }), 1],
  [`quarantine dismiss ${quarantinedId}`, z.strictObject(done), 1],
  ["quarantine dismiss WH-99", failed.extend({ code: z.literal("not-found") }), 1],
  ["anomalies", anomaly, 1],
  ["anomalies --kind gap --contract CNT-2", anomaly, 1],
  ["jobs list", job, 1],
  ["jobs list --state dead --handler email-seller --event contract.released", job, 1],
  ["jobs list --event contract.created", job, 0],
  ["jobs retry 1", z.strictObject(done), 1],
  ["jobs retry --event contract.created", z.strictObject({ retried: z.literal(0) }), 1],
  ["jobs retry --all", z.strictObject({ retried: z.literal(1) }), 1],
  [
    "reconcile",
    z.strictObject({
      checked: count,
      healed: count,
      failed: count,
      drift: z.array(drift).min(1),
      failures: z.array(failure).min(1),
      unreadable: z.array(text).min(1),
    }),
    1,
  ],
  ["subscription show", subscription, 1],
  ["subscription enable", subscription, 1],
  ["subscription rotate --save webhook-secret", z.strictObject({ saved: z.literal("webhook-secret") }), 1],
  ["subscription test", z.strictObject({ webhookId: text }), 1],
  ["rebuild", z.strictObject({ rebuilt: z.literal(3) }), 1],
  [
    "prune --jobs 1d --payloads 9999d",
    z.strictObject({ payloads: count, partitions: z.array(text), jobs: count, quarantine: count }),
    1,
  ],
  ["redact CNT-3", z.strictObject({ ...done, bytesGone: z.boolean(), known: z.literal(true) }), 1],
  ["redact CNT-misspelt", z.strictObject({ ...done, bytesGone: z.boolean(), known: z.literal(false) }), 1],
  ["migrate", z.strictObject({ store: text, ready: z.literal(true) }), 1],
  ["migrate --sql", z.strictObject({ statements: z.array(text).min(10) }), 1],
  [
    "copy --from sqlite:escrow.db --to sqlite:copy.db",
    z.strictObject({
      equal: z.literal(true),
      tables: z.array(z.strictObject({ table: text, rows: count, equal: z.literal(true) })).min(10),
    }),
    1,
  ],
  [
    "signature detect --body body.bin --headers headers.txt",
    z.strictObject({ fits: z.literal(true), signature: text, headerPrefix: text, advice: text }),
    1,
  ],
  [
    "signature detect --body other.bin --headers headers.txt",
    z.strictObject({ fits: z.literal(false), cause: text, advice: text }),
    1,
  ],
  [
    "sandbox replay webhooks.jsonl --to <url>",
    z.strictObject({ webhookId: text, event: text, status: z.literal(200), error: z.null() }),
    1,
  ],
];

const home = process.cwd();
let place: Place;
beforeAll(async () => {
  place = await openPlace();
  process.chdir(place.folder);
});
afterAll(async () => {
  process.chdir(home);
  await place.close();
});

it("every command has a case here, but for the sandbox: its own tests run it", () => {
  const tried = new Set(cases.map(([line]) => commandOf(line)));
  expect(everyCommand.filter((command) => !tried.has(command))).toEqual(["sandbox"]);
});

it.each(cases)("--json of %s is as it is documented", async (line, shape, objects) => {
  const words = line.replace("<url>", place.receiver.url).split(" ");
  const { stdout } = await run([...words, "--json"], await place.reset("story"));
  const printed = stdout.split("\n").filter((each) => each !== "");
  expect(printed, stdout).toHaveLength(objects);
  for (const each of printed) {
    const object = JSON.parse(each) as object;
    expect(shape.safeParse(object).error).toBeUndefined();
    const documented = documentedFor(commandOf(line));
    // Types of the library are explained in its own pages.
    if (documented.every((fields) => fields !== "type"))
      expect(documented).toContainEqual(Object.keys(object).sort());
  }
});

it("the page has a row for every command", () => {
  expect(everyCommand.filter((command) => documentedFor(command).length === failedOnly)).toEqual([]);
});

/** The row of failed ids fits every command. */
const failedOnly = 1;

/** The fields of each object that the page gives for a command; `type` for a type of the library. */
function documentedFor(command: string): (readonly string[] | "type")[] {
  const rows = readText("docs/command-line.md").matchAll(/^\| (.*?) +\| (.*?) +\|$/gm);
  return [...rows].flatMap(([, commands = "", objects = ""]) => {
    const named = [...commands.matchAll(/`([a-z ]+)`/g)].map(([, name]) => name);
    const isIt = named.includes(command) || commands === "an id that failed";
    if (!isIt || !objects.startsWith("`")) return [];
    if (!objects.startsWith("`{")) return ["type" as const];
    return [...objects.matchAll(/`\{ ([^`]+) \}`/g)].map(([, fields = ""]) => namesIn(fields));
  });
}

function namesIn(fields: string): string[] {
  return fields
    .split(", ")
    .map((field) => field.replace(/:.*/, ""))
    .sort();
}
