import { clearTimeout, setImmediate, setTimeout } from "../../shared/timers.ts";
import type { SandboxClock } from "../world/clock.ts";
import { DueHeap } from "./due-heap.ts";

/** The kind of task: a retry, any other attempt, or the end of the patience with one under way. */
export type TaskKind = "retry" | "attempt" | "timeout";

export interface Task {
  readonly kind: TaskKind;
  readonly dueMs: number;
  readonly run: () => void;
  /** Taken back: the heap forgets it when it comes up. */
  cancelled: boolean;
}

/** `setTimeout` takes no more than 31 bits. */
const timerMsMax = 2_147_483_647;

/** All that is to be done sooner or later: one heap, one timer. `wake` is called when something is due. */
export class Agenda {
  readonly #clock: SandboxClock;
  readonly #wake: () => void;
  readonly #heap = new DueHeap<Task>();
  readonly #waiting: Record<TaskKind, number> = { retry: 0, attempt: 0, timeout: 0 };
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Infinity;
  #woken = false;
  #stopped = false;

  constructor(clock: SandboxClock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** How many tasks of a kind wait for their time. */
  waiting(kind: TaskKind): number {
    return this.#waiting[kind];
  }

  add(dueMs: number, kind: TaskKind, run: () => void): Task {
    const task: Task = { kind, dueMs, run, cancelled: false };
    this.#heap.add(dueMs, task);
    this.#waiting[kind]++;
    if (dueMs > this.#clock.now()) this.arm();
    else this.#wakeSoon();
    return task;
  }

  cancel(task: Task): void {
    if (task.cancelled) return;
    task.cancelled = true;
    this.#waiting[task.kind]--;
  }

  nextAtMs(): number | undefined {
    while (this.#heap.first()?.item.cancelled === true) this.#heap.takeDue(Infinity);
    return this.#heap.first()?.dueMs;
  }

  /** Runs the first task that is due. False when none is. */
  runDue(): boolean {
    if (this.#stopped || this.nextAtMs() === undefined) return false;
    const task = this.#heap.takeDue(this.#clock.now());
    if (task === undefined) return false;
    this.cancel(task);
    task.run();
    return true;
  }

  /** Sets the one timer for the first task. A manual clock has none: whoever moves it asks `nextAtMs`. */
  arm(): void {
    const nextMs = this.nextAtMs();
    if (this.#stopped || nextMs === undefined) return;
    if (this.#timer !== undefined && this.#timerAtMs <= nextMs) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waitMs = this.#clock.waitMs(nextMs);
    if (waitMs === undefined) return;
    this.#timerAtMs = nextMs;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#wake();
      },
      Math.min(waitMs, timerMsMax),
    );
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** After the present turn, so that an API answer usually leaves before the webhook that it caused. */
  #wakeSoon(): void {
    if (this.#woken) return;
    this.#woken = true;
    setImmediate(() => {
      this.#woken = false;
      this.#wake();
    });
  }
}
