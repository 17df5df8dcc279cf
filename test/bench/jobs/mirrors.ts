/** Mirrors of the bench, and jobs for them. */
import { createMirror, type Mirror, type MirrorOptions } from "../../../src/index.ts";
import type { Store } from "../../../src/store/store.ts";
import { secret } from "../deliveries.ts";

export const concurrency = 8;
export const perRound = 2500;
export const rounds = 5;

/** One kind of database, of which each name is another one. */
export interface Place {
  readonly where: string;
  readonly open: (name: string) => Store;
}

export function openMirror(store: Store, options: Partial<MirrorOptions> = {}): Promise<Mirror> {
  return createMirror({ store, webhook: { secrets: secret }, ...options });
}

/** The contracts of a round are its own. */
export function firstOf(round: number): number {
  return (round * perRound) / 5;
}
