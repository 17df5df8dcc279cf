/** What a person would write who knows the rows: statements in one read transaction, and the mirror's shapes made of them. */
import type Database from "better-sqlite3";
import type { Pool } from "pg";
import { filledContractId } from "../support/fill.ts";

/** Reads of the contract with this number, and of what hangs on it. */
export interface ReadsByHand {
  "contracts.get"(number: number): unknown;
  "contracts.history"(number: number): unknown;
  "refunds.get"(number: number): unknown;
  "deliveries.get"(number: number): unknown;
}

type Row = Record<string, string | number | null>;

const texts = (prefix: string) => ({
  contract: `select * from ${prefix}contracts where contract_id = $1`,
  milestones: `select * from ${prefix}milestones where contract_id = $1`,
  refunds: `select * from ${prefix}refunds where contract_id = $1`,
  transitions: `select * from ${prefix}transitions where contract_id = $1 order by position`,
  refund: `select * from ${prefix}refunds where refund_id = $1 limit 2`,
  delivery: `select id, webhook_id, payload_id, event, contract_id, milestone_id, outcome, reason, attempts, occurred_at, received_at, last_received_at, secret_id from ${prefix}deliveries where id = $1`,
});

export function readSqlite(database: Database.Database): ReadsByHand {
  const { contract, milestones, refunds, transitions, refund, delivery } = Object.fromEntries(
    Object.entries(texts("escrow_")).map(([name, text]) => [name, database.prepare(text.replace("$1", "?"))]),
  ) as Record<keyof ReturnType<typeof texts>, Database.Statement<[string], Row>>;
  const [begin, commit] = [database.prepare("begin"), database.prepare("commit")];
  const inOne = <T>(work: () => T): T => {
    begin.run();
    const result = work();
    commit.run();
    return result;
  };
  return {
    "contracts.get": (number) =>
      inOne(() => {
        const id = filledContractId(number);
        return toContract(contract.get(id), milestones.all(id), refunds.all(id));
      }),
    "contracts.history": (number) => inOne(() => transitions.all(filledContractId(number)).map(toTransition)),
    "refunds.get": (number) => inOne(() => refund.all(String(500_000 + number)).map(toRefund)[0]),
    "deliveries.get": (number) => inOne(() => toDelivery(delivery.get(`wh-${number}`))),
  };
}

/** Without names: a pooler between app and server keeps no prepared statement, and the mirror bears one. */
export function readPostgres(pool: Pool, schema: string): ReadsByHand {
  const statements = texts(`${schema}.`);
  const inOne = async <T>(
    work: (rows: (name: keyof typeof statements, id: string) => Promise<Row[]>) => Promise<T>,
  ) => {
    const client = await pool.connect();
    await client.query("begin isolation level repeatable read read only");
    const result = await work(async (name, id) => {
      return (await client.query<Row>(statements[name], [id])).rows;
    });
    await client.query("commit");
    client.release();
    return result;
  };
  return {
    "contracts.get": (number) =>
      inOne(async (rows) => {
        const id = filledContractId(number);
        const [contract] = await rows("contract", id);
        return toContract(contract, await rows("milestones", id), await rows("refunds", id));
      }),
    "contracts.history": (number) =>
      inOne(async (rows) => (await rows("transitions", filledContractId(number))).map(toTransition)),
    "refunds.get": (number) =>
      inOne(async (rows) => (await rows("refund", String(500_000 + number))).map(toRefund)[0]),
    "deliveries.get": (number) =>
      inOne(async (rows) => toDelivery((await rows("delivery", `wh-${number}`))[0])),
  };
}

function toContract(row: Row | undefined, milestones: readonly Row[], refunds: readonly Row[]) {
  if (row === undefined) return undefined;
  const metadata: Row = {};
  for (const name of ["metadata1", "metadata2", "metadata3", "metadata4"])
    if (row[name] !== null) metadata[name] = row[name] ?? null;
  return {
    contractId: row["contract_id"],
    reference: row["reference"],
    status: row["status"] ?? "unknown",
    statusSince: row["status_since"] ?? row["changed_at"],
    previousStatus: row["previous_status"],
    title: row["title"],
    description: row["description"],
    notes: row["notes"],
    businessName: row["business_name"],
    serviceType: row["service_type"],
    amountMinor: toNumber(row["amount_minor"]),
    currency: row["currency"],
    metadata,
    buyer: toJson(row["buyer"]),
    seller: toJson(row["seller"]),
    milestones: milestones.map(toMilestone),
    refunds: refunds.map(toRefund),
    createdAt: row["created_at"],
    updatedAt: row["updated_at"] ?? row["changed_at"],
    changedAt: row["changed_at"],
    syncedAt: row["synced_at"],
  };
}

function toMilestone(row: Row) {
  return {
    contractId: row["contract_id"],
    milestoneId: row["milestone_id"],
    name: row["name"],
    description: row["description"],
    status: row["status"],
    statusSince: row["status_since"],
    previousStatus: row["previous_status"],
    amountMinor: toNumber(row["amount_minor"]),
    dueDate: row["due_date"],
  };
}

function toRefund(row: Row) {
  return {
    refundId: row["refund_id"],
    contractId: row["contract_id"],
    milestoneId: row["milestone_id"],
    scope: row["scope"],
    kind: row["kind"],
    state: row["state"],
    inferred: Number(row["inferred"]) === 1,
    amountMinor: toNumber(row["amount_minor"]),
    currency: row["currency"],
    requestedAt: row["requested_at"],
    initiatedAt: row["initiated_at"],
    succeededAt: row["succeeded_at"],
  };
}

function toTransition(row: Row) {
  return {
    contractId: row["contract_id"],
    milestoneId: row["milestone_id"],
    entity: row["entity"],
    from: row["from_status"],
    to: row["to_status"],
    event: row["event"],
    webhookId: row["webhook_id"],
    occurredAt: row["occurred_at"],
    moved: Number(row["moved"]) === 1,
    derived: Number(row["derived"]) === 1,
    source: row["source"],
    anomaly: row["anomaly"],
  };
}

function toDelivery(row: Row | undefined) {
  return (
    row && {
      id: row["id"],
      webhookId: row["webhook_id"],
      payloadId: row["payload_id"],
      event: row["event"],
      contractId: row["contract_id"],
      milestoneId: row["milestone_id"],
      outcome: row["outcome"],
      reason: row["reason"],
      attempts: Number(row["attempts"]),
      occurredAt: row["occurred_at"],
      receivedAt: row["received_at"],
      lastReceivedAt: row["last_received_at"],
      secretId: row["secret_id"],
    }
  );
}

function toNumber(value: string | number | null | undefined): number | null {
  return value == null ? null : Number(value);
}

function toJson(value: string | number | null | undefined): unknown {
  return value == null ? null : JSON.parse(String(value));
}
