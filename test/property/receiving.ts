/** A receiver on a store, fed with schedules: what createMirror builds, with a way in for API reads. */
import { keptHeaders } from "../../src/receiver/deliveries/kept-headers.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import { createReceiverLog } from "../../src/receiver/log.ts";
import type { Verdict } from "../../src/receiver/outcome.ts";
import { createSecretProof } from "../../src/receiver/secrets/proof.ts";
import { createReceiver, type Receiver } from "../../src/receiver/receiver.ts";
import { noListeners } from "../../src/receiver/notify.ts";
import { rebuild } from "../../src/receiver/by-hand/rebuild.ts";
import { openSecrets } from "../../src/receiver/secrets/live-secrets.ts";
import { createVerify } from "../../src/receiver/verify.ts";
import type { Clock } from "../../src/shared/clock.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { createVerifier } from "../../src/signature/verify.ts";
import type { Store } from "../../src/store/store.ts";
import { signArrived, type Arrived, type StorySchedule } from "../../src/testing/story/schedule.ts";

export const secret = "whsec_property_based";
export const folding = { skewMs: 60_000 };

const arrivalTime = new AsyncLocalStorage<number>();

/**
 * What arrives, arrives when its schedule says. Every other reading is later than the one before, so that what depends on
 * the time of a commit shows.
 */
export function arrivalClock(): Clock {
  let now = Date.UTC(2026, 11, 1);
  return { now: () => arrivalTime.getStore() ?? (now += 7) };
}

/** What `work` brings arrives at this time. */
export function arrivingAt<T>(ms: number, work: () => Promise<T>): Promise<T> {
  return arrivalTime.run(ms, work);
}

export interface Receiving {
  readonly store: Store;
  readonly receiver: Receiver;
  /** Brings the batches one after another, the arrivals of a batch at once; what became of each, in order. */
  deliver(schedule: Pick<StorySchedule, "batches">): Promise<Verdict[]>;
  rebuild(): Promise<void>;
}

export async function openReceiving(
  store: Store,
  { answerMs, batchMax = 256 }: { readonly answerMs?: number; readonly batchMax?: number } = {},
): Promise<Receiving> {
  const clock = arrivalClock();
  const verifier = createVerifier({ scheme: "default" });
  const secrets = await openSecrets(secret, verifier.scheme, clock, () => {});
  await store.open({ migrate: "auto", logger: silentLogger, clock });
  const proof = createSecretProof(store, clock, false);
  const receiver = createReceiver({
    store,
    proof,
    verify: createVerify({ verifier, secrets, proof, clock, logger: silentLogger }),
    log: createReceiverLog(silentLogger, clock),
    clock,
    folding,
    listeners: noListeners,
    intake: {
      itemsMax: 10_000,
      bytesMax: 67_108_864,
      batchMax,
      unverifiedBytesMax: 33_554_432,
      bodyTimeoutMs: 20_000,
    },
    ...(answerMs === undefined ? {} : { answerMs }),
    parsing: {
      maxBodyBytes: 1_048_576,
      idHeader: verifier.scheme.idHeader.toLowerCase(),
      keptHeaders: keptHeaders(verifier.scheme, "X-Service-"),
    },
  });
  return {
    store,
    receiver,
    deliver: (schedule) => deliver(receiver, schedule),
    rebuild: async () => {
      await rebuild({ store, clock, folding }, {});
    },
  };
}

async function deliver(receiver: Receiver, { batches }: Pick<StorySchedule, "batches">): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const batch of batches)
    verdicts.push(...(await Promise.all(batch.map((arrived) => bring(receiver, arrived)))));
  return verdicts;
}

function bring(receiver: Receiver, { arrival, webhookId, atMs }: Arrived): Promise<Verdict> {
  // Each reading is an arrival of its own.
  if (arrival.kind === "snapshot") return receiver.takeSnapshot({ ...arrival });
  const request = signArrived({ arrival, webhookId }, secret);
  return arrivingAt(atMs, () => receiver.receive(request));
}
