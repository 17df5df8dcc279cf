/** Node's timers as they were at load: fake timers, which a test installs later, must not hold a delivery up. */
import * as timers from "node:timers";
import * as promises from "node:timers/promises";

export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = timers;

/** Resolves after `ms`. */
export const sleep = promises.setTimeout;

/** Resolves on the next turn of the event loop. */
export const nextTurn = promises.setImmediate;

/** Milliseconds of a clock that is never set back. */
export const monotonicMs: () => number = performance.now.bind(performance);
