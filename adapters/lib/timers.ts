/** Node's timers as they were at load: fake timers, which a test installs later, must not hold an answer up. */
import * as timers from "node:timers";
import * as promises from "node:timers/promises";

export const { setTimeout, clearTimeout } = timers;

/** Resolves on the next turn of the event loop. */
export const nextTurn = promises.setImmediate;
