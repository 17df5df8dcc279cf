import type {
  ContractRecord,
  CounterRecord,
  DeliveryRecord,
  LogRecord,
  RefundRecord,
  SmsRecord,
  SubscriptionRecord,
  UserRecord,
} from "./records.ts";

/** Above these the oldest are forgotten, so that a sandbox that runs for weeks stays small. */
const logEntriesMax = 200_000;
const deliveriesMax = 200_000;
const smsMax = 10_000;

export interface RecordKinds {
  contract: ContractRecord;
  refund: RefundRecord;
  user: UserRecord;
  subscription: SubscriptionRecord;
  delivery: DeliveryRecord;
  log: LogRecord;
  sms: SmsRecord;
  counters: CounterRecord;
  identity: IdentityRecord;
}

/** Settings that must stay the same over a restart on one file. */
export interface IdentityRecord {
  clientSecret: string;
  webhookSecret: string;
  tokenKey: string;
  /** The clock's last reading: time does not go backwards over a restart. */
  clockMs: number;
}

export type Change = { kind: keyof RecordKinds; id: string; json: string | null };

/** Where changes go to outlive the process. */
export interface Journal {
  load(): Iterable<{ kind: string; id: string; json: string }>;
  /** All of `changes` or none. */
  write(changes: Iterable<Change>): void;
  close(): void;
}

/** Everything that the sandbox knows, in memory; `commit()` writes what changed to the journal, if there is one. */
export class State {
  readonly contracts = new Map<string, ContractRecord>();
  readonly refunds = new Map<number, RefundRecord>();
  readonly users = new Map<string, UserRecord>();
  readonly subscriptions = new Map<string, SubscriptionRecord>();
  readonly deliveries = new Map<string, DeliveryRecord>();
  readonly log: LogRecord[] = [];
  readonly sms: SmsRecord[] = [];
  counters: CounterRecord = {
    contract: 100_000,
    milestone: 0,
    refund: 4_520,
    settlement: 900,
    payment: 100_000,
    dispute: 700,
    tokenGeneration: 1,
  };
  identity: IdentityRecord = { clientSecret: "", webhookSecret: "", tokenKey: "", clockMs: 0 };
  /** Grows with every change; the control page asks for it to know when to draw itself anew. */
  version = 0;

  readonly #journal: Journal | undefined;
  readonly #changed = new Map<string, { kind: keyof RecordKinds; id: string; record: object | null }>();
  readonly #userOfPhone = new Map<string, string>();

  constructor(journal?: Journal) {
    this.#journal = journal;
    for (const { kind, id, json } of journal?.load() ?? []) this.#restore(kind, id, json);
  }

  userByPhone(phoneNumber: string): UserRecord | undefined {
    return this.users.get(this.#userOfPhone.get(phoneNumber) ?? "");
  }

  saveContract(contract: ContractRecord): void {
    this.contracts.set(contract.contractId, contract);
    this.#note("contract", contract.contractId, contract);
  }

  saveRefund(refund: RefundRecord): void {
    this.refunds.set(refund.refundId, refund);
    this.#note("refund", String(refund.refundId), refund);
  }

  saveUser(user: UserRecord): void {
    this.users.set(user.platformRefId, user);
    this.#userOfPhone.set(user.phoneNumber, user.platformRefId);
    this.#note("user", user.platformRefId, user);
  }

  saveSubscription(subscription: SubscriptionRecord): void {
    this.subscriptions.set(subscription.business, subscription);
    this.#note("subscription", subscription.business, subscription);
  }

  removeSubscription(business: string): void {
    this.subscriptions.delete(business);
    this.#note("subscription", business, null);
  }

  saveDelivery(delivery: DeliveryRecord): void {
    this.deliveries.set(delivery.webhookId, delivery);
    this.#note("delivery", delivery.webhookId, delivery);
    if (this.deliveries.size > deliveriesMax) this.#forgetOldestDelivery();
  }

  addLog(entry: LogRecord): void {
    this.log.push(entry);
    this.#note("log", entry.id, entry);
    if (this.log.length <= logEntriesMax * 1.1) return;
    for (const old of this.log.splice(0, this.log.length - logEntriesMax)) this.#note("log", old.id, null);
  }

  addSms(sms: SmsRecord, id: string): void {
    this.sms.push(sms);
    this.#note("sms", id, sms);
    if (this.sms.length > smsMax * 1.1) this.sms.splice(0, this.sms.length - smsMax);
  }

  /** The next number of a series. */
  count(series: keyof CounterRecord): number {
    this.#note("counters", "counters", this.counters);
    return ++this.counters[series];
  }

  saveIdentity(identity: IdentityRecord): void {
    this.identity = identity;
    this.#note("identity", "identity", identity);
  }

  /** Something changed that is not remembered, such as the faults: the control page is to be drawn anew. */
  touch(): void {
    this.version++;
  }

  /** Makes all changes since the last call outlive the process, in one transaction. */
  commit(): void {
    if (this.#journal === undefined || this.#changed.size === 0) return;
    this.#journal.write(
      Array.from(this.#changed.values(), ({ kind, id, record }) => ({
        kind,
        id,
        json: record === null ? null : JSON.stringify(record),
      })),
    );
    this.#changed.clear();
  }

  close(): void {
    this.commit();
    this.#journal?.close();
  }

  #note(kind: keyof RecordKinds, id: string, record: object | null): void {
    this.version++;
    if (this.#journal !== undefined) this.#changed.set(`${kind} ${id}`, { kind, id, record });
  }

  #forgetOldestDelivery(): void {
    for (const [webhookId, delivery] of this.deliveries) {
      if (delivery.state === "pending") continue;
      this.deliveries.delete(webhookId);
      this.#note("delivery", webhookId, null);
      return;
    }
  }

  /** The file is our own and was written by `commit`: its records are taken as they are. */
  #restore(kind: string, id: string, json: string): void {
    if (kind === "contract") this.contracts.set(id, JSON.parse(json));
    if (kind === "refund") this.refunds.set(Number(id), JSON.parse(json));
    if (kind === "user") this.#restoreUser(JSON.parse(json));
    if (kind === "subscription") this.subscriptions.set(id, JSON.parse(json));
    if (kind === "delivery") this.deliveries.set(id, JSON.parse(json));
    if (kind === "log") this.log.push(JSON.parse(json));
    if (kind === "sms") this.sms.push(JSON.parse(json));
    if (kind === "counters") this.counters = JSON.parse(json);
    if (kind === "identity") this.identity = JSON.parse(json);
  }

  #restoreUser(user: UserRecord): void {
    this.users.set(user.platformRefId, user);
    this.#userOfPhone.set(user.phoneNumber, user.platformRefId);
  }
}
