import { monotonicMs, nextTurn } from "./timers.ts";

/** Lets the event loop turn where the work in hand has held it for a while; else it costs nothing. */
export type Pace = () => Promise<void>;

/** How long work may hold the event loop before the next pause in it lets others run. */
const heldMsMax = 10;

/** @returns called between the parts of a work, each of which takes some milliseconds at most */
export function createPace(): Pace {
  let since = monotonicMs();
  return async () => {
    if (monotonicMs() - since < heldMsMax) return;
    await nextTurn();
    since = monotonicMs();
  };
}
