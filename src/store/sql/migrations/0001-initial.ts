/**
 * The first tables. A migration is frozen once released: it imports nothing, so that later changes of the code can't
 * change what it did. Until then each beta gives it another name.
 *
 * Rows of one contract carry its id first in every key, so that a database that spreads tables over machines can
 * spread them by contract. Text compares bytewise.
 */
export const initial = {
  version: 1,
  name: "0001-initial-beta-1",
  /** `schema` is `""`, or a schema's name and a dot: an index has none of its own and goes with its table. */
  statements: (types: Types, schema: string, prefix: string): string[] => {
    const { serial, text, integer, boolean, json, bytes, clustered, longKey } = types;
    const table = (name: string, lines: string[]): string =>
      `create table ${schema}${prefix}${name} (\n  ${lines.join(",\n  ")}\n)`;
    /** Of small rows, which are always asked for by their key. */
    const keyed = (name: string, lines: string[]): string => table(name, lines) + clustered;
    const index = (name: string, on: string, rest = ""): string =>
      `create index ${prefix}${name} on ${schema}${prefix}${on}${rest}`;
    return [
      table("deliveries", [
        `seq ${serial}`,
        `id ${text} not null unique`,
        `webhook_id ${text} not null`,
        `payload_id ${text} unique`,
        `content_key ${bytes} not null unique`,
        `event ${text}`,
        `contract_id ${text}`,
        `milestone_id ${text}`,
        `occurred_at ${text}`,
        `outcome ${text} not null`,
        `reason ${text}`,
        `attempts ${integer} not null`,
        `received_at ${text} not null`,
        `last_received_at ${text} not null`,
        `secret_id ${text} not null`,
        `contradicts ${text}`,
        `facts ${json}`,
      ]),
      index("deliveries_by_arrival", "deliveries (received_at, seq)"),
      index("deliveries_by_contract", "deliveries (contract_id, received_at, seq)"),
      index("deliveries_by_event", "deliveries (event, received_at, seq)"),
      // A reason is what those have that are set aside: of most deliveries these two hold nothing.
      index("deliveries_by_outcome", "deliveries (outcome, received_at, seq)", " where reason is not null"),
      index("deliveries_by_webhook_id", "deliveries (webhook_id, seq)", " where reason is not null"),

      // Its key has what Postgres may partition it by.
      table("payloads", [
        `content_key ${bytes} not null`,
        `received_at ${text} not null`,
        `headers ${json} not null`,
        `body ${bytes} not null`,
        `primary key (content_key, received_at)`,
      ]),
      index("payloads_by_arrival", "payloads (received_at, content_key)"),

      table("inputs", [
        `seq ${serial}`,
        `contract_id ${text} not null`,
        `kind ${text} not null`,
        `digest ${bytes} not null`,
        `received_at ${text} not null`,
        `facts ${json} not null`,
        `unique (contract_id, digest)`,
      ]),

      table("intents", [
        `intent_id ${text} not null primary key`,
        `kind ${text} not null`,
        `contract_id ${text}`,
        `open_key ${text} unique`,
        `fields ${json}`,
        `created_at ${text} not null`,
        `closed_at ${text}`,
        `told_at ${text}`,
      ]),
      index("intents_by_contract", "intents (contract_id)", " where contract_id is not null"),
      // Of those that are closed it holds nothing.
      index("intents_open", "intents (created_at, intent_id)", " where open_key is not null"),

      keyed("contracts", [
        `contract_id ${text} not null primary key`,
        `status ${text}`,
        `status_since ${text} not null`,
        `status_key ${text} not null`,
        `status_derived ${boolean} not null`,
        `previous_status ${text}`,
        `reference ${text}`,
        `title ${text}`,
        `description ${text}`,
        `notes ${text}`,
        `business_name ${text}`,
        `service_type ${text}`,
        `amount_minor ${integer}`,
        `currency ${text} not null`,
        `metadata1 ${text}`,
        `metadata2 ${text}`,
        `metadata3 ${text}`,
        `metadata4 ${text}`,
        `buyer ${json}`,
        `seller ${json}`,
        `created_at ${text}`,
        `updated_at ${text} not null`,
        `synced_at ${text}`,
        `last_key ${text} not null`,
        `transition_count ${integer} not null`,
        `anomaly_count ${integer} not null`,
        `redacted_at ${text}`,
        `changed_at ${text} not null`,
      ]),
      index("contracts_by_status", "contracts (status, contract_id)"),
      ...["reference", "metadata1", "metadata2", "metadata3", "metadata4"].map((name) =>
        index(
          `contracts_by_${name}`,
          `contracts (${longKey === null ? name : longKey(name)}, contract_id)`,
          ` where ${name} is not null`,
        ),
      ),
      // For joins of an app's own, which ask for a reference itself and not for its hash.
      ...(longKey === null
        ? []
        : [
            index(
              "contracts_by_whole_reference",
              "contracts using hash (reference)",
              " where reference is not null",
            ),
          ]),
      index("contracts_by_change", "contracts (changed_at, contract_id)"),

      keyed("milestones", [
        `contract_id ${text} not null`,
        `milestone_id ${text} not null`,
        `name ${text}`,
        `description ${text}`,
        `status ${text}`,
        `status_since ${text}`,
        `status_key ${text} not null`,
        `previous_status ${text}`,
        `amount_minor ${integer}`,
        `due_date ${text}`,
        `primary key (contract_id, milestone_id)`,
      ]),

      keyed("refunds", [
        `contract_id ${text} not null`,
        `refund_key ${text} not null`,
        `refund_id ${text}`,
        `milestone_id ${text}`,
        `scope ${text} not null`,
        `kind ${text} not null`,
        `state ${text} not null`,
        `inferred ${boolean} not null`,
        `amount_minor ${integer}`,
        `currency ${text} not null`,
        `requested_at ${text}`,
        `initiated_at ${text}`,
        `succeeded_at ${text}`,
        `initiated_key ${text} not null`,
        `changed_at ${text} not null`,
        `primary key (contract_id, refund_key)`,
      ]),
      index("refunds_by_id", "refunds (refund_id, contract_id)"),
      index("refunds_by_state", "refunds (state, initiated_key, contract_id, refund_key)"),
      index("refunds_by_change", "refunds (changed_at, contract_id, refund_key)"),

      keyed("payments", [
        `contract_id ${text} not null`,
        `payment_key ${text} not null`,
        `payment_id ${text} not null`,
        `milestone_id ${text}`,
        `transaction_id ${text}`,
        `invoice_id ${text}`,
        `amount_minor ${integer}`,
        `currency ${text} not null`,
        `completed_at ${text} not null`,
        `primary key (contract_id, payment_key)`,
      ]),

      keyed("disputes", [
        `contract_id ${text} not null`,
        `dispute_key ${text} not null`,
        `dispute_id ${text}`,
        `milestone_id ${text}`,
        `raised_at ${text} not null`,
        `primary key (contract_id, dispute_key)`,
      ]),

      keyed("transitions", [
        `contract_id ${text} not null`,
        `position ${integer} not null`,
        `entity ${text} not null`,
        `milestone_id ${text}`,
        `from_status ${text}`,
        `to_status ${text} not null`,
        `event ${text} not null`,
        `webhook_id ${text}`,
        `occurred_at ${text}`,
        `moved ${boolean} not null`,
        `derived ${boolean} not null`,
        `source ${text} not null`,
        `anomaly ${text}`,
        `primary key (contract_id, position)`,
      ]),

      table("anomalies", [
        `seq ${serial}`,
        `contract_id ${text}`,
        `position ${integer}`,
        `kind ${text} not null`,
        `milestone_id ${text}`,
        `webhook_id ${text}`,
        `detail ${text} not null`,
        `at ${text} not null`,
        `unique (contract_id, position)`,
      ]),
      index("anomalies_by_time", "anomalies (at, seq)"),
      index("anomalies_by_contract", "anomalies (contract_id, at, seq)"),
      index("anomalies_by_kind", "anomalies (kind, at, seq)"),
      index("anomalies_by_delivery", "anomalies (webhook_id)", " where webhook_id is not null"),

      keyed("secrets", [
        `fingerprint ${text} not null primary key`,
        `secret_id ${text} not null`,
        `verified_at ${text} not null`,
      ]),

      table("subscriptions", [
        `name ${text} not null primary key`,
        `kind ${text} not null`,
        `filter ${json} not null`,
        `cursor ${integer}`,
        `created_at ${text} not null`,
      ]),

      table("jobs", [
        `seq ${serial}`,
        `handler ${text} not null`,
        `contract_id ${text}`,
        `job_key ${text} not null`,
        `content_key ${bytes}`,
        `webhook_id ${text}`,
        `payload ${json}`,
        `state ${text} not null`,
        `attempts ${integer} not null`,
        `claims ${integer} not null`,
        `next_attempt_at ${text} not null`,
        `worker_id ${text}`,
        `lost ${boolean} not null`,
        `last_error ${text}`,
        `created_at ${text} not null`,
        `finished_at ${text}`,
        `unique (handler, job_key)`,
      ]),
      index("jobs_due", "jobs (handler, lost, next_attempt_at, seq)", " where state = 'due'"),
      index("jobs_open", "jobs (handler, contract_id, seq)", " where state in ('waiting', 'due', 'running')"),
      index("jobs_running", "jobs (worker_id)", " where state = 'running'"),
      index("jobs_of_content", "jobs (content_key)", " where state in ('waiting', 'due', 'running')"),
      index("jobs_by_state", "jobs (state, created_at, seq)"),
      index("jobs_by_handler", "jobs (handler, created_at, seq)"),
      // Few jobs fail: it costs the others nothing.
      index("jobs_failed", "jobs (contract_id, created_at, seq)", " where last_error is not null"),

      table("workers", [
        `worker_id ${text} not null primary key`,
        `handlers ${json} not null`,
        `alive_until ${text} not null`,
        `listening ${boolean} not null`,
      ]),

      table("failures", [
        `digest ${bytes} not null`,
        `handler ${text} not null`,
        `contract_id ${text}`,
        `failures ${integer} not null`,
        `faults ${integer} not null`,
        `last_error ${text} not null`,
        `changed_at ${text} not null`,
        `primary key (digest, handler)`,
      ]),
      index("failures_by_change", "failures (changed_at, digest, handler)"),
      index("failures_by_contract", "failures (contract_id)", " where contract_id is not null"),

      table("progress", [
        `run_id ${text} not null primary key`,
        `since ${text}`,
        `started_at ${text} not null`,
        `place ${text}`,
        `updated_at ${text} not null`,
      ]),

      table("rotations", [
        `name ${text} not null primary key`,
        `opened_at ${text} not null`,
        `old_fingerprint ${text}`,
        `fingerprint ${text}`,
        `saved_at ${text}`,
        `closed_at ${text}`,
      ]),

      table("leases", [
        `name ${text} not null primary key`,
        `holder ${text} not null`,
        `held_until ${text} not null`,
        `state ${json}`,
      ]),
    ];
  },
};

interface Types {
  readonly serial: string;
  readonly text: string;
  readonly integer: string;
  readonly boolean: string;
  readonly json: string;
  readonly bytes: string;
  readonly clustered: "" | " without rowid";
  readonly longKey: ((sql: string) => string) | null;
}
