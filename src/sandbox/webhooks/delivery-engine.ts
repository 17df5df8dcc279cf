import { clearTimeout, setTimeout } from "../../shared/timers.ts";
import type { Timeline } from "../world/clock.ts";
import type { DeliveryRecord, SubscriptionRecord } from "../world/records.ts";
import type { Deliveries, DeliveryDraft, Ground } from "../world/world.ts";
import { Agenda } from "./agenda.ts";
import type { Task, TaskKind } from "./agenda.ts";
import { beginAttempt, bookAttempt } from "./attempts.ts";
import { concludeAttempt, finish } from "./conclusion.ts";
import { Flights } from "./flights.ts";
import type { Flight } from "./flights.ts";
import { HeldBack } from "./held-back.ts";
import { planFirst, toRecord, whyNotSent } from "./plan.ts";
import type { Sent, SignedRequest } from "./send.ts";
import { Waiters } from "./waiters.ts";

/** Hears of every attempt that has ended. */
export type AttemptListener = (
  request: SignedRequest,
  delivery: DeliveryRecord,
  sent: Sent,
  at: string,
) => void;

/** How long `close()` lets attempts that are under way end by themselves. */
const closeGraceMs = 1_000;

/** Sends webhooks as §6.5 says. A delivery's way: `enqueue`, `#schedule`, `#start`, `#attempt`, and again for a retry. */
export class DeliveryEngine implements Timeline, Deliveries {
  readonly #ground: Ground;
  readonly #onAttempt: AttemptListener;
  readonly #agenda: Agenda;
  readonly #flights: Flights;
  readonly #held = new HeldBack();
  readonly #waiters = new Waiters();
  #closed = false;

  constructor(ground: Ground, onAttempt: AttemptListener) {
    this.#ground = ground;
    this.#onAttempt = onAttempt;
    const pump = (): void => this.pump();
    this.#agenda = new Agenda(ground.clock, pump);
    this.#flights = new Flights(ground, this.#agenda, pump);
  }

  /** Not one of them has a timer of its own. */
  get pending(): number {
    return this.#agenda.waiting("retry") + this.#agenda.waiting("attempt");
  }

  /** Where nobody is subscribed it is kept as skipped and never sent. */
  enqueue(draft: DeliveryDraft): void {
    const delivery = toRecord(draft);
    const reason = whyNotSent(this.#ground, delivery.business);
    if (reason === undefined) this.#scheduleFirst(delivery);
    else Object.assign(delivery, { state: "skipped", reason });
    this.#ground.state.saveDelivery(delivery);
  }

  resend(delivery: DeliveryRecord): void {
    Object.assign(delivery, { state: "pending", reason: null, tries: 0 });
    this.#schedule(this.#ground.clock.now(), "attempt", delivery);
    this.#ground.state.saveDelivery(delivery);
  }

  /** After a restart: what was pending is pending again, what was due meanwhile is due now. */
  restore(): void {
    for (const delivery of this.#ground.state.deliveries.values()) {
      if (delivery.state !== "pending") continue;
      const dueMs = delivery.nextAttemptAtMs ?? this.#ground.clock.now();
      this.#schedule(dueMs, delivery.tries === 0 ? "attempt" : "retry", delivery);
    }
  }

  nextAtMs(): number | undefined {
    return this.#agenda.nextAtMs();
  }

  pump(): void {
    while (!this.#flights.isFull && this.#agenda.runDue());
    if (!this.#flights.isFull) this.#agenda.arm();
    this.#waiters.tell();
  }

  quiet(): Promise<void> {
    return this.#waiters.when(() => this.#isQuiet());
  }

  idle(): Promise<void> {
    const flows = this.#ground.clock.kind === "real";
    return this.#waiters.when(() => this.#isQuiet() && !(flows && this.#agenda.waiting("attempt") > 0));
  }

  drained(): Promise<void> {
    return this.#waiters.when(() => this.pending === 0 && this.#flights.underWay === 0);
  }

  /** Lets attempts under way end, for a second; what is cut off then stays pending. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#agenda.stop();
    const cut = setTimeout(() => this.#flights.abortAll("The sandbox was closed."), closeGraceMs);
    await this.#waiters.when(() => this.#flights.underWay === 0);
    clearTimeout(cut);
    this.#waiters.releaseAll();
  }

  #isQuiet(): boolean {
    const nextMs = this.nextAtMs();
    return this.#flights.flying === 0 && (nextMs === undefined || nextMs > this.#ground.clock.now());
  }

  #scheduleFirst(delivery: DeliveryRecord): void {
    const plan = planFirst(this.#ground, delivery);
    if (plan === undefined) {
      Object.assign(delivery, { state: "dropped", reason: "Dropped by the fault drop." });
      return;
    }
    const task = this.#schedule(plan.dueMs, "attempt", delivery);
    if (plan.held) this.#held.add({ delivery, task });
    if (plan.copyAtMs !== null)
      this.#agenda.add(plan.copyAtMs, "attempt", () => this.#launch(delivery, true));
  }

  #schedule(dueMs: number, kind: TaskKind, delivery: DeliveryRecord): Task {
    delivery.nextAttemptAtMs = dueMs;
    return this.#agenda.add(dueMs, kind, () => {
      // Unless a resend has put another attempt in this one's place.
      if (delivery.nextAttemptAtMs === dueMs) this.#launch(delivery, false);
    });
  }

  #launch(delivery: DeliveryRecord, copy: boolean): void {
    this.#flights.launch((flight) =>
      this.#attempt(delivery, copy, flight).catch((error: unknown) => this.#breakOff(delivery, error)),
    );
  }

  async #attempt(delivery: DeliveryRecord, copy: boolean, flight: Flight): Promise<void> {
    const subscription = this.#receiverOf(delivery, copy);
    if (subscription === undefined) return;
    const attempt = beginAttempt(this.#ground, delivery, subscription, copy);
    const sent = await this.#flights.send(attempt.request, flight);
    if (this.#closed && sent.status === null && flight.signal.aborted) {
      delivery.tries -= copy ? 0 : 1;
      return;
    }
    bookAttempt(this.#ground, delivery, attempt, sent);
    if (!copy) this.#conclude(delivery, subscription, sent);
    this.#onAttempt(attempt.request, delivery, sent, attempt.at);
    if (attempt.number === 1) this.#release(delivery);
    this.#ground.state.commit();
  }

  /** The subscription to send to. Where there is none any more, that is the end of the delivery. */
  #receiverOf(delivery: DeliveryRecord, copy: boolean): SubscriptionRecord | undefined {
    const { state, settings } = this.#ground;
    const subscription = state.subscriptions.get(delivery.business);
    const stopped = whyNotSent(this.#ground, delivery.business);
    const goesOn = stopped === undefined || settings.retriesWhenDisabled === "continue";
    if (subscription !== undefined && goesOn) return subscription;
    if (!copy) finish(this.#ground, delivery, "failed", stopped ?? null);
    return undefined;
  }

  #conclude(delivery: DeliveryRecord, subscription: SubscriptionRecord, sent: Sent): void {
    const waitMs = concludeAttempt(this.#ground, delivery, subscription.id, sent);
    if (waitMs === null) return;
    this.#schedule(this.#ground.clock.now() + waitMs, "retry", delivery);
    this.#ground.state.saveDelivery(delivery);
  }

  /** `delivery` has overtaken those that were kept back for it: now they may go. */
  #release(delivery: DeliveryRecord): void {
    for (const held of this.#held.overtakenBy(delivery)) {
      this.#ground.faults.count("reorder");
      this.#agenda.cancel(held.task);
      this.#schedule(this.#ground.clock.now(), "attempt", held.delivery);
    }
  }

  /** The sandbox's own fault, or that of a function it was given (`sign`, `onAttempt`): said, and no end of it. */
  #breakOff(delivery: DeliveryRecord, error: unknown): void {
    const seen = error instanceof Error ? error.message : String(error);
    process.emitWarning(`The sandbox stopped an attempt: ${seen}`, "SandboxWarning");
    if (delivery.state === "pending") finish(this.#ground, delivery, "failed", `Stopped: ${seen}`);
  }
}
