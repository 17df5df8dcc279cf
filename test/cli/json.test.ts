/** Every --json against its documented shape; and every command that reads, on a full, an empty and a missing store. */
import { existsSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { migrationOf } from "./new-store.ts";
import { temporaryFile } from "../support/mirror.ts";
import { run } from "./run-command.ts";
import { fillStory } from "./story.ts";

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

/** A command, the shape of its lines, and how many it prints for the story. */
const commands: readonly (readonly [line: string, shape: z.ZodType, lines: number])[] = [
  ["status", status, 1],
  ["contracts list", contract, 3],
  ["contracts list --status escrow RefundInProgress", contract, 2],
  ["contracts list --reference order-1", contract, 1],
  ["contracts list --changed-since 2026-03-19T08:30:00Z", contract, 2],
  ["contracts show CNT-1", shownContract, 1],
  ["contracts show CNT-2", shownContract, 1],
  ["refunds list", refund.extend({ stuck: z.boolean() }), 2],
  ["refunds list --contract CNT-3", refund.extend({ stuck: z.boolean() }), 1],
  ["refunds list --state succeeded", refund, 0],
  ["deliveries list", delivery, 12],
  ["deliveries list --contract CNT-2 --event contract.released", delivery, 1],
  ["deliveries list --outcome quarantined", delivery, 1],
  ["deliveries show WH-1", delivery.extend(body), 1],
  ["quarantine list", delivery.extend(headers), 1],
  ["quarantine list --dismissed", delivery.extend(headers), 0],
  ["anomalies", anomaly, 1],
  ["anomalies --kind gap --contract CNT-2", anomaly, 1],
  ["jobs list", job, 1],
  ["jobs list --state dead --handler email-seller --event contract.released", job, 1],
  ["jobs list --event contract.created", job, 0],
  ["rebuild", z.strictObject({ rebuilt: z.literal(3) }), 1],
  ["deliveries replay WH-7", z.strictObject({ id: text, ok: z.literal(true), jobs: z.literal(1) }), 1],
  [
    "deliveries replay WH-99",
    z.strictObject({ id: text, ok: z.literal(false), code: z.literal("not-found"), message: text }),
    1,
  ],
  ["jobs retry --event contract.created", z.strictObject({ retried: z.literal(0) }), 1],
  ["jobs retry --all", z.strictObject({ retried: z.literal(1) }), 1],
  [
    "prune --jobs 1d --payloads 9999d",
    z.strictObject({ payloads: count, partitions: z.array(text), jobs: count, quarantine: count }),
    1,
  ],
  [
    "redact CNT-3",
    z.strictObject({ id: text, ok: z.literal(true), bytesGone: z.boolean(), known: z.literal(true) }),
    1,
  ],
  [
    "redact CNT-misspelt",
    z.strictObject({ id: text, ok: z.literal(true), bytesGone: z.boolean(), known: z.literal(false) }),
    1,
  ],
  ["migrate", z.strictObject({ store: text, ready: z.literal(true) }), 1],
  ["migrate --sql", z.strictObject({ statements: z.array(text).min(10) }), 1],
];

let file: string;
beforeAll(async () => {
  file = temporaryFile();
  await fillStory(file);
});

const reads = commands.filter(([line]) => !line.startsWith("migrate"));

describe("--json", () => {
  it.each(commands)("of %s is as it is documented", async (line, shape, lines) => {
    const { stdout } = await run([...line.split(" "), "--json"], { ESCROW_MIRROR_STORE: `sqlite:${file}` });
    const objects = stdout.split("\n").filter((each) => each !== "");
    expect(objects).toHaveLength(lines);
    for (const each of objects) expect(shape.safeParse(JSON.parse(each)).error).toBeUndefined();
  });

  it("of a quarantined delivery has its body, and dismiss and release answer for each id", async () => {
    const env = { ESCROW_MIRROR_STORE: `sqlite:${file}` };
    const [first = ""] = (await run(["quarantine", "list", "--json"], env)).stdout.split("\n");
    const { id } = JSON.parse(first) as { id: string };
    const shownText = (await run(["quarantine", "show", id, "--json"], env)).stdout;
    expect(delivery.extend(headers).extend(body).safeParse(JSON.parse(shownText)).error).toBeUndefined();
    const released = await run(["quarantine", "release", id, "--json"], env);
    expect(released.code).toBe(1);
    expect(JSON.parse(released.stdout)).toMatchObject({ id, ok: false, code: "not-releasable" });
    expect(JSON.parse((await run(["quarantine", "dismiss", id, "--json"], env)).stdout)).toEqual({
      id,
      ok: true,
    });
  });
});

describe("an empty store", () => {
  it.each(reads)("is no fault for %s", async (line) => {
    const store = await migrationOf(temporaryFile());
    const { code, stdout, stderr } = await run(line.split(" "), { ESCROW_MIRROR_STORE: store });
    expect(stderr).not.toContain("at ");
    const isAboutOne = /show|replay/.test(line);
    expect([code, stderr === "" || isAboutOne || stderr.startsWith("No ")]).toEqual([
      isAboutOne ? 1 : 0,
      true,
    ]);
    expect(isAboutOne ? stdout : "").toBe("");
  });
});

describe("a missing store", () => {
  it.each(reads)("is not made by %s", async (line) => {
    const missing = temporaryFile("never.db");
    const { code, stdout, stderr } = await run(line.split(" "), { ESCROW_MIRROR_STORE: `sqlite:${missing}` });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      `error: There is no file ${missing}: no mirror has been there. Name the file of your app's mirror. (escrow-mirror migrate makes a new one.)\n`,
    );
    expect(existsSync(missing)).toBe(false);
  });
});
