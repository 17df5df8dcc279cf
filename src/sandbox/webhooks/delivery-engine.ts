import { clearTimeout, monotonicMs, setImmediate, setTimeout } from "../../shared/timers.ts";
import type { Timeline } from "../world/clock.ts";
import { bookAttempt, countAttempt, judge, signRequest, toAttempt } from "./attempts.ts";
import { HeldBack } from "./held-back.ts";
import type { DeliveryRecord, SubscriptionRecord } from "../world/records.ts";
import { Schedule } from "./schedule.ts";
import { send } from "./send.ts";
import type { Sent, SignedRequest } from "./send.ts";
import { Waiters } from "./waiters.ts";
import type { World } from "../world/world.ts";

export type DeliveryDraft = Pick<
  DeliveryRecord,
  | "webhookId"
  | "business"
  | "event"
  | "contractId"
  | "internalContractId"
  | "milestoneId"
  | "createdAt"
  | "body"
>;

/** A first attempt, a retry, a copy that the `duplicate` fault sends, or the end of an attempt's patience. */
interface Task {
  kind: "first" | "retry" | "copy" | "timeout";
  delivery: DeliveryRecord;
  dueMs: number;
  /** What a time-out ends. */
  flight?: Flight;
  /** Taken back: the heap forgets it when it comes up. */
  cancelled: boolean;
}

interface Flight {
  controller: AbortController;
}

/** How long the `reorder` fault keeps a delivery back for the contract's next one to overtake it. */
const holdMs = 5_000;
/** How much later than the original a copy is sent, at most. */
const copyLagMs = 1_000;
/** `setTimeout` takes no more than 31 bits. */
const timerMsMax = 2_147_483_647;
/** How long `close()` lets attempts that are under way end by themselves. */
const closeGraceMs = 1_000;

/**
 * Sends webhooks as §6.5 says. All that is due sooner or later stands in one heap with one timer; at most
 * `concurrency` attempts are under way.
 */
export class DeliveryEngine implements Timeline {
  readonly #world: World;
  readonly #onAttempt: (request: SignedRequest, delivery: DeliveryRecord, sent: Sent, at: string) => void;
  readonly #schedule = new Schedule<Task>();
  readonly #held = new HeldBack<Task>();
  readonly #flying = new Set<Flight>();
  /** On a manual clock: attempts whose receiver has said nothing for `patienceMs`. They no longer stop time. */
  readonly #hanging = new Set<Flight>();
  readonly #waiters = new Waiters();
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Infinity;
  #poked = false;
  #closed = false;
  /** Tasks in the heap that wait for their turn, retries and others. */
  #waitingRetries = 0;
  #waitingOthers = 0;

  constructor(
    world: World,
    onAttempt: (request: SignedRequest, delivery: DeliveryRecord, sent: Sent, at: string) => void,
  ) {
    this.#world = world;
    this.#onAttempt = onAttempt;
  }

  /** How many attempts are scheduled; not one of them has a timer of its own. */
  get pending(): number {
    return this.#waitingRetries + this.#waitingOthers;
  }

  /** Takes a new webhook in. Where nobody is subscribed it is kept as skipped and never sent. */
  enqueue(draft: DeliveryDraft): void {
    const delivery: DeliveryRecord = {
      webhookId: draft.webhookId,
      business: draft.business,
      event: draft.event,
      contractId: draft.contractId,
      internalContractId: draft.internalContractId,
      milestoneId: draft.milestoneId,
      createdAt: draft.createdAt,
      body: draft.body,
      state: "pending",
      reason: null,
      tries: 0,
      nextAttemptAtMs: null,
      attempts: [],
    };
    const reason = this.#whyNotSent(delivery.business);
    if (reason === undefined) this.#scheduleFirst(delivery);
    else Object.assign(delivery, { state: "skipped", reason });
    this.#world.state.saveDelivery(delivery);
  }

  /** Starts a new series of attempts with the same id and bytes, now. */
  resend(delivery: DeliveryRecord): void {
    Object.assign(delivery, { state: "pending", reason: null, tries: 0 });
    this.#scheduleAt(this.#world.clock.now(), "first", delivery);
    this.#world.state.saveDelivery(delivery);
  }

  /** After a restart: what was pending is pending again, what was due meanwhile is due now. */
  restore(): void {
    for (const delivery of this.#world.state.deliveries.values()) {
      if (delivery.state !== "pending") continue;
      const dueMs = delivery.nextAttemptAtMs ?? this.#world.clock.now();
      this.#scheduleAt(dueMs, delivery.tries === 0 ? "first" : "retry", delivery);
    }
  }

  nextAtMs(): number | undefined {
    while (this.#schedule.first()?.item.cancelled === true) this.#schedule.takeDue(Infinity);
    return this.#schedule.first()?.dueMs;
  }

  pump(): void {
    const { clock, settings } = this.#world;
    while (!this.#closed && this.#flying.size < settings.concurrency) {
      const nextMs = this.nextAtMs();
      const task = nextMs === undefined ? undefined : this.#schedule.takeDue(clock.now());
      if (task === undefined) break;
      this.#start(task);
    }
    this.#arm();
    this.#waiters.tell();
  }

  quiet(): Promise<void> {
    return this.#waiters.when(() => this.#isQuiet());
  }

  /** See `Sandbox.deliveries.idle`. */
  idle(): Promise<void> {
    return this.#waiters.when(
      () => this.#isQuiet() && (this.#world.clock.kind === "manual" || this.#waitingOthers === 0),
    );
  }

  /** See `Sandbox.deliveries.drained`. */
  drained(): Promise<void> {
    return this.#waiters.when(() => this.pending === 0 && this.#flying.size + this.#hanging.size === 0);
  }

  /** Lets attempts under way end, for a second; what is cut off then stays pending. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const flights = (): Flight[] => [...this.#flying, ...this.#hanging];
    const cut = setTimeout(() => {
      for (const { controller } of flights()) controller.abort("The sandbox was closed.");
    }, closeGraceMs);
    await this.#waiters.when(() => flights().length === 0);
    clearTimeout(cut);
    this.#waiters.releaseAll();
  }

  #whyNotSent(business: string): string | undefined {
    const subscription = this.#world.state.subscriptions.get(business);
    if (subscription === undefined) return "There is no webhook subscription.";
    return subscription.isActive ? undefined : "The webhook subscription is disabled.";
  }

  #scheduleFirst(delivery: DeliveryRecord): void {
    const { clock, faults, random } = this.#world;
    const fault = faults.forDelivery();
    if (fault.drop) {
      faults.count("drop");
      Object.assign(delivery, { state: "dropped", reason: "Dropped by the fault drop." });
      return;
    }
    if (fault.delayMs > 0) faults.count("delay");
    const dueMs = clock.now() + fault.delayMs;
    const holds = fault.reorder && delivery.contractId !== null;
    const task = this.#scheduleAt(holds ? dueMs + holdMs : dueMs, "first", delivery);
    if (holds) this.#held.add(task);
    if (fault.duplicate) this.#scheduleAt(dueMs + Math.floor(random.next() * copyLagMs), "copy", delivery);
  }

  /** `delivery` has overtaken those that were kept back for it: now they may go. */
  #release(delivery: DeliveryRecord): void {
    for (const task of this.#held.overtakenBy(delivery)) {
      this.#world.faults.count("reorder");
      task.cancelled = true;
      this.#waitingOthers--;
      this.#scheduleAt(this.#world.clock.now(), "first", task.delivery);
    }
  }

  #scheduleAt(dueMs: number, kind: Task["kind"], delivery: DeliveryRecord, flight?: Flight): Task {
    const task: Task = {
      kind,
      delivery,
      dueMs,
      cancelled: false,
      ...(flight === undefined ? {} : { flight }),
    };
    this.#schedule.add(dueMs, task);
    if (kind === "retry") this.#waitingRetries++;
    else if (kind !== "timeout") this.#waitingOthers++;
    if (kind === "first" || kind === "retry") delivery.nextAttemptAtMs = dueMs;
    this.#poke(dueMs);
    return task;
  }

  /** Sends after the present turn, so that an API answer usually leaves before the webhook that it caused. */
  #poke(dueMs: number): void {
    if (dueMs > this.#world.clock.now()) return this.#arm();
    if (this.#poked) return;
    this.#poked = true;
    setImmediate(() => {
      this.#poked = false;
      this.pump();
    });
  }

  /** The one timer: for the first of all that is due. */
  #arm(): void {
    const nextMs = this.nextAtMs();
    if (this.#closed || nextMs === undefined || this.#flying.size >= this.#world.settings.concurrency) return;
    if (this.#timer !== undefined && this.#timerAtMs <= nextMs) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waitMs = this.#world.clock.waitMs(nextMs);
    if (waitMs === undefined) return;
    this.#timerAtMs = nextMs;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.pump();
      },
      Math.min(waitMs, timerMsMax),
    );
  }

  #start(task: Task): void {
    if (task.kind === "timeout") {
      if (task.flight !== undefined) this.#timeOut(task.flight);
      return;
    }
    if (task.kind === "retry") this.#waitingRetries--;
    else this.#waitingOthers--;
    // A resend has put another attempt in this one's place.
    if (task.kind !== "copy" && task.delivery.nextAttemptAtMs !== task.dueMs) return;
    const flight: Flight = { controller: new AbortController() };
    this.#flying.add(flight);
    void this.#attempt(task, flight)
      .catch((error: unknown) => this.#breakOff(task.delivery, error))
      .finally(() => {
        this.#flying.delete(flight);
        this.#hanging.delete(flight);
        this.pump();
      });
  }

  /** The sandbox's own fault, or that of a function it was given (`sign`, `onAttempt`): said, and no end of it. */
  #breakOff(delivery: DeliveryRecord, error: unknown): void {
    const seen = error instanceof Error ? error.message : String(error);
    process.emitWarning(`The sandbox broke an attempt off: ${seen}`, "SandboxWarning");
    if (delivery.state === "pending") this.#finish(delivery, "failed", `Broken off: ${seen}`);
  }

  #timeOut(flight: Flight): void {
    if (this.#hanging.delete(flight)) this.#flying.add(flight);
    flight.controller.abort(`No answer within ${this.#world.settings.timeoutMs / 1_000} s.`);
  }

  async #attempt({ kind, delivery }: Task, flight: Flight): Promise<void> {
    const { clock, state } = this.#world;
    const copy = kind === "copy";
    const subscription = state.subscriptions.get(delivery.business);
    const stopped = this.#whyNotSent(delivery.business);
    if (
      subscription === undefined ||
      (stopped !== undefined && this.#world.settings.retriesWhenDisabled === "stop")
    ) {
      if (!copy) this.#finish(delivery, "failed", stopped ?? null);
      return;
    }
    if (copy) this.#world.faults.count("duplicate");
    else delivery.tries++;
    const number = Math.max(1, delivery.tries);
    const at = this.#world.stamp();
    const startMs = clock.kind === "manual" ? clock.now() : monotonicMs();
    const request = signRequest(this.#world, delivery, subscription);
    const sent = await this.#fly(request, delivery, flight);
    if (this.#closed && sent.status === null && flight.controller.signal.aborted) {
      delivery.tries -= copy ? 0 : 1;
      return;
    }
    const durationMs = Math.round((clock.kind === "manual" ? clock.now() : monotonicMs()) - startMs);
    const verdict = judge(sent.status, this.#world.settings);
    bookAttempt(
      this.#world,
      delivery,
      toAttempt(request, sent, { number, at, durationMs, copy }),
      verdict === "delivered",
    );
    if (!copy) this.#conclude(delivery, subscription, verdict, sent);
    this.#onAttempt(request, delivery, sent, at);
    if (number === 1) this.#release(delivery);
    state.commit();
  }

  /** Sends, and cuts off what takes longer than `timeoutMs`. */
  async #fly(request: SignedRequest, delivery: DeliveryRecord, flight: Flight): Promise<Sent> {
    const { clock, settings } = this.#world;
    if (clock.kind !== "manual") {
      const timer = setTimeout(() => this.#timeOut(flight), settings.timeoutMs);
      return send(request, flight.controller.signal).finally(() => clearTimeout(timer));
    }
    const timeout = this.#scheduleAt(clock.now() + settings.timeoutMs, "timeout", delivery, flight);
    const patience = setTimeout(() => this.#letHang(flight), settings.patienceMs);
    return send(request, flight.controller.signal).finally(() => {
      timeout.cancelled = true;
      clearTimeout(patience);
    });
  }

  #letHang(flight: Flight): void {
    this.#flying.delete(flight);
    this.#hanging.add(flight);
    this.pump();
  }

  #conclude(delivery: DeliveryRecord, subscription: SubscriptionRecord, verdict: string, sent: Sent): void {
    const { clock, settings } = this.#world;
    const waitMs = settings.retryDelaysMs[delivery.tries - 1];
    if (verdict === "delivered") this.#finish(delivery, "delivered", null);
    else if (verdict === "permanent")
      this.#finish(delivery, "failed", `${sent.error ?? ""} Not retried (§6.5).`);
    else if (waitMs === undefined) this.#finish(delivery, "failed", `${delivery.tries} attempts failed.`);
    else {
      this.#scheduleAt(clock.now() + waitMs, "retry", delivery);
      this.#world.state.saveDelivery(delivery);
    }
    countAttempt(this.#world, subscription.id, delivery);
  }

  #finish(delivery: DeliveryRecord, state: "delivered" | "failed", reason: string | null): void {
    Object.assign(delivery, { state, reason, nextAttemptAtMs: null });
    this.#world.state.saveDelivery(delivery);
  }

  #isQuiet(): boolean {
    const nextMs = this.nextAtMs();
    return this.#flying.size === 0 && (nextMs === undefined || nextMs > this.#world.clock.now());
  }
}
