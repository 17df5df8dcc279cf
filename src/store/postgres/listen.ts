/** Hears of due jobs by LISTEN, on a connection that is held for it alone: a pooler in between would lose what it asked for. */
import { createHash } from "node:crypto";
import { settle } from "../../shared/result.ts";
import { sleep } from "../../shared/timers.ts";
import { sqlNamesIn, type TablePlace } from "../sql/dialect.ts";
import type { JobListener } from "../store.ts";
import type { PgClient } from "./pg.ts";

export interface ListeningParts {
  readonly place: TablePlace;
  readonly connect: () => Promise<HeldClient>;
}

/** A connection that is ours for as long as it lasts. */
export interface HeldClient {
  readonly client: Pick<PgClient, "on" | "query">;
  /** Ends it. */
  readonly drop: () => Promise<void>;
}

/** The wait before it connects again, doubled each time. */
const firstWaitMs = 1000;
const longestWaitMs = 30_000;

/** One for each place of tables; names of channels are short. */
export function channelOf(place: TablePlace): string {
  const hash = createHash("sha256").update(sqlNamesIn(place)("")).digest("hex");
  return `escrow_mirror_${hash.slice(0, 32)}`;
}

/** Listens until it is stopped, and connects again when the connection breaks. Gives the way to stop it. */
export function listenForJobs(
  { place, connect }: ListeningParts,
  { heard, changed }: JobListener,
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;

  /** Resolves when the connection has broken. */
  async function hold({ client }: HeldClient): Promise<void> {
    // It may have been stopped while it connected.
    if (signal.aborted) return;
    const over = new AbortController();
    const broken = new Promise<void>((resolve) => {
      client.on("error", () => resolve());
      client.on("end", () => resolve());
      signal.addEventListener("abort", () => resolve(), { signal: over.signal });
    });
    client.on("notification", ({ payload = "" }) => heard(payload));
    try {
      // A server that hangs holds up nobody who stops.
      const listening = client.query({ text: `listen "${channelOf(place)}"` }).then(() => true);
      const isHeard = await Promise.race([listening, broken.then(() => false)]);
      if (signal.aborted) return;
      if (!isHeard) throw new Error("the connection broke before it listened");
      changed(true);
      await broken;
      if (!signal.aborted) changed(false);
    } finally {
      over.abort();
    }
  }

  async function listenAgainAndAgain(): Promise<void> {
    for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      const connected = await settle(connect);
      if (connected.ok) {
        const held = await settle(() => hold(connected.value));
        await settle(connected.value.drop);
        if (held.ok) waitMs = firstWaitMs;
      }
      await settle(() => sleep(waitMs, undefined, { ref: false, signal }));
    }
  }

  const listening = listenAgainAndAgain();
  return async () => {
    stopping.abort();
    await listening;
  };
}
