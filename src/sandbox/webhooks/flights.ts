import { clearTimeout, setTimeout } from "../../shared/timers.ts";
import type { Ground } from "../world/world.ts";
import type { Agenda } from "./agenda.ts";
import { send } from "./send.ts";
import type { Sent, SignedRequest } from "./send.ts";

/** An attempt under way; aborting it ends the request. */
export type Flight = AbortController;

/** The attempts under way: how many at once, how long each may take, and which ones hold up the time. */
export class Flights {
  readonly #ground: Ground;
  readonly #agenda: Agenda;
  readonly #onChange: () => void;
  readonly #flying = new Set<Flight>();
  /** On a manual clock: those whose receiver has said nothing for `patienceMs`. They no longer stop time. */
  readonly #hanging = new Set<Flight>();

  /** `onChange` is called when an attempt has ended or hangs. */
  constructor(ground: Ground, agenda: Agenda, onChange: () => void) {
    this.#ground = ground;
    this.#agenda = agenda;
    this.#onChange = onChange;
  }

  /** Attempts that hold up the time. */
  get flying(): number {
    return this.#flying.size;
  }

  get underWay(): number {
    return this.#flying.size + this.#hanging.size;
  }

  get isFull(): boolean {
    return this.#flying.size >= this.#ground.settings.concurrency;
  }

  /** `work` settles whatever happens: it never rejects. */
  launch(work: (flight: Flight) => Promise<void>): void {
    const flight = new AbortController();
    this.#flying.add(flight);
    void work(flight).finally(() => {
      this.#flying.delete(flight);
      this.#hanging.delete(flight);
      this.#onChange();
    });
  }

  /** Sends, and cuts off what takes longer than `timeoutMs`. */
  send(request: SignedRequest, flight: Flight): Promise<Sent> {
    const { clock, settings } = this.#ground;
    if (clock.kind !== "manual") {
      const timer = setTimeout(() => this.#timeOut(flight), settings.timeoutMs);
      return send(request, flight.signal).finally(() => clearTimeout(timer));
    }
    const dueMs = clock.now() + settings.timeoutMs;
    const timeout = this.#agenda.add(dueMs, "timeout", () => this.#timeOut(flight));
    const patience = setTimeout(() => this.#letHang(flight), settings.patienceMs);
    return send(request, flight.signal).finally(() => {
      this.#agenda.cancel(timeout);
      clearTimeout(patience);
    });
  }

  abortAll(reason: string): void {
    for (const flight of [...this.#flying, ...this.#hanging]) flight.abort(reason);
  }

  #timeOut(flight: Flight): void {
    if (this.#hanging.delete(flight)) this.#flying.add(flight);
    flight.abort(`No answer within ${this.#ground.settings.timeoutMs / 1_000} s.`);
  }

  #letHang(flight: Flight): void {
    this.#flying.delete(flight);
    this.#hanging.add(flight);
    this.#onChange();
  }
}
