/** Rows without end in no time: written by the database itself, not received. */

/** How a database makes bytes of a number's own; `i` is the number. */
export type Bytes = (sql: string) => string;

/**
 * The statements that give a mirror's tables `count` contracts, numbered from `first` in the order of time: each with two
 * milestones, a refund, a payment, four transitions and a delivery; every tenth with a dispute, every second with an anomaly,
 * each with a job, every hundredth with a delivery that is set aside.
 */
export function fillStatements(
  at: (table: string) => string,
  bytes: Bytes,
  count: number,
  first = 0,
): string[] {
  const each = (table: string, row: Readonly<Record<string, string>>, rows = "n", where = ""): string =>
    `with recursive n(i) as (select ${first} union all select i + 1 from n where i + 1 < ${first + count}), k(j) as (select 1 union all select j + 1 from k where j < 4)
     insert into ${at(table)} (${Object.keys(row).join()}) select ${Object.values(row).join()} from ${rows}${where} order by i`;
  const contract = { contract_id: contractId };
  const changed = { changed_at: time };
  return [
    each("contracts", {
      ...contract,
      ...changed,
      status:
        "case when i % 1000 = 999 then null when i % 10 < 5 then 'Escrow' when i % 10 < 9 then 'Released' else 'Dispute' end",
      status_since: time,
      status_key: "''",
      status_derived: "0",
      previous_status: "'Approved'",
      reference: "'order-' || i",
      amount_minor: "60000",
      currency: "'SAR'",
      metadata1: "'tenant-' || (i % 50)",
      metadata2: "case when i % 100 = 0 then 'gold' end",
      created_at: time,
      updated_at: time,
      last_key: "''",
      transition_count: "4",
      anomaly_count: "0",
    }),
    each(
      "milestones",
      {
        ...contract,
        milestone_id: "'' || j",
        name: "'Part ' || j",
        status: "'Escrow'",
        status_since: time,
        status_key: "''",
      },
      "n, k",
      " where j <= 2",
    ),
    each("refunds", {
      ...contract,
      ...changed,
      refund_key: "'' || (500000 + i)",
      refund_id: "'' || (500000 + i)",
      scope: "'contract'",
      kind: "'full'",
      state: "case when i % 10 < 4 then 'initiated' when i % 10 = 4 then 'requested' else 'succeeded' end",
      inferred: "0",
      amount_minor: "60000",
      currency: "'SAR'",
      initiated_at: `case when i % 10 <> 4 then ${time} end`,
      initiated_key: `case when i % 10 <> 4 then ${time} else '' end`,
    }),
    each("payments", {
      ...contract,
      payment_key: "'PAY-' || i",
      payment_id: "'PAY-' || i",
      transaction_id: "'TXN-' || i",
      invoice_id: "'INV-' || i",
      amount_minor: "60000",
      currency: "'SAR'",
      completed_at: time,
    }),
    each(
      "disputes",
      { ...contract, dispute_key: "'DSP-' || i", dispute_id: "'DSP-' || i", raised_at: time },
      "n",
      " where i % 10 = 9",
    ),
    each(
      "transitions",
      {
        ...contract,
        position: "j",
        entity: "'contract'",
        from_status: "'Approved'",
        to_status: "'Escrow'",
        event: "'payment.completed'",
        webhook_id: "'wh-' || i",
        occurred_at: time,
        moved: "1",
        derived: "0",
        source: "'inferred'",
      },
      "n, k",
    ),
    each(
      "anomalies",
      {
        ...contract,
        position: "1",
        kind: "case when i % 10 = 0 then 'unknown-event' else 'gap' end",
        webhook_id: "'wh-' || i",
        detail: "'pending to Escrow'",
        at: time,
      },
      "n",
      " where i % 2 = 0",
    ),
    each("deliveries", {
      ...contract,
      id: "'wh-' || i",
      webhook_id: "'wh-' || i",
      payload_id: "'e-' || i",
      content_key: bytes("i"),
      event: "case when i % 10 < 8 then 'payment.completed' else 'contract.disputed' end",
      occurred_at: time,
      outcome: "case when i % 100 = 7 then 'quarantined' else 'applied' end",
      reason: "case when i % 100 = 7 then 'payload-id-conflict' end",
      attempts: "1",
      received_at: time,
      last_received_at: time,
      secret_id: "'default'",
      facts: `'{"status":"Escrow","amountMinor":60000}'`,
    }),
    each("jobs", {
      ...contract,
      handler: "case when i % 100 = 3 then 'rare' else 'usual' end",
      job_key: "'wh-' || i",
      content_key: bytes("i"),
      webhook_id: "'wh-' || i",
      state: "case when i % 50 = 3 then 'dead' when i % 50 = 4 then 'due' else 'done' end",
      attempts: "1",
      claims: "1",
      next_attempt_at: time,
      lost: "0",
      last_error: "case when i % 50 in (3, 4) then 'no route' end",
      created_at: time,
      finished_at: `case when i % 50 <> 4 then ${time} end`,
    }),
    each("payloads", { received_at: time, content_key: bytes("i"), headers: "'{}'", body: bytes("i") }),
  ];
}

/** Of the contract with this number. */
export function filledContractId(number: number): string {
  return `CNT-2601-${10_000_000 + number}`;
}

/** When it changed: half a second after the one before it, as its digits count. */
export function filledTime(number: number): string {
  const part = (divisor: number, base: number) => 10 + (Math.floor(number / divisor) % base);
  return `2026-01-${part(50_000, 20)}T${part(5000, 10)}:${part(100, 50)}:${part(2, 50)}.${(number % 2) * 5}00Z`;
}

const contractId = "'CNT-2601-' || (10000000 + i)";
const time =
  "'2026-01-' || (10 + i / 50000 % 20) || 'T' || (10 + i / 5000 % 10) || ':' || (10 + i / 100 % 50) || ':' || (10 + i / 2 % 50) || '.' || (i % 2 * 5) || '00Z'";

/** On SQLite. */
export const sqliteBytes: Bytes = (sql) => `cast(printf('%040d', ${sql}) as blob)`;

/** On Postgres. */
export const postgresBytes: Bytes = (sql) => `decode(lpad((${sql})::text, 80, '0'), 'hex')`;
