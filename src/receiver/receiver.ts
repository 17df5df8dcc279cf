/** The receiver of one mirror: requests in flight, their time limit, the counts of their answers, and the end. */
import type { FoldOptions } from "../domain/fold.ts";
import type { Clock } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { within } from "../shared/within.ts";
import type { Store } from "../store/store.ts";
import { silentRecorder, type Recorder } from "../telemetry/recorder.ts";
import type { Arrival, SnapshotArrival } from "./arrival.ts";
import { createBatchCommit, reasonOf } from "./batch.ts";
import { createUnverified } from "./body/unverified.ts";
import { createIntake, type IntakeLimits } from "./intake.ts";
import type { ReceiverLog } from "./log.ts";
import type { Listeners } from "./notify.ts";
import { failed, respond, type ReceiveResult, type Verdict } from "./outcome.ts";
import type { ParseOptions } from "./parse.ts";
import { createReceive } from "./receive.ts";
import type { ReceiveRequest } from "./request.ts";
import type { SecretProof } from "./secrets/proof.ts";
import { createTally, type Tally } from "./tally.ts";
import type { Verify } from "./verify.ts";
import { startWay } from "./way.ts";

export interface ReceiverParts {
  readonly store: Store;
  readonly verify: Verify;
  readonly proof: SecretProof;
  readonly log: ReceiverLog;
  readonly clock: Clock;
  readonly parsing: ParseOptions;
  readonly folding: FoldOptions;
  readonly intake: IntakeLimits & UnverifiedSettings;
  /** How long a request waits for its answer, whatever the store does. Milliseconds, default 23,000. */
  readonly answerMs?: number;
  readonly listeners: Listeners;
  /** Default: nobody hears. */
  readonly recorder?: Recorder;
}

export interface UnverifiedSettings {
  /** How many bytes of bodies may be held before their signatures are checked, of all requests together. */
  readonly unverifiedBytesMax: number;
  /** How long one body may take to come. */
  readonly bodyTimeoutMs: number;
}

/** The service waits 30 s (supplement). A later answer never reaches it. */
const answerMsDefault = 23_000;

export interface Receiver {
  receive(raw: ReceiveRequest): Promise<ReceiveResult>;
  /** Adds an API answer to the fold. It shares a commit with the deliveries that arrive at the same time. */
  takeSnapshot(snapshot: SnapshotArrival): Promise<Verdict>;
  /** How many verified deliveries in a row were not answered 2xx. */
  consecutiveFailures(): number;
  isFull(): boolean;
  /** Counts of this process's answers. */
  readonly tally: Tally;
  /** Refuses new requests with 503; resolves when those taken in are committed and answered. */
  close(): Promise<void>;
}

/** The size of an API answer for the intake's limit. */
const snapshotBytes = 4096;

export function createReceiver(parts: ReceiverParts): Receiver {
  const { log, clock, parsing, answerMs = answerMsDefault, recorder = silentRecorder } = parts;
  const { unverifiedBytesMax, bodyTimeoutMs, itemsMax } = parts.intake;
  const unverified = createUnverified({ maxBodyBytes: parsing.maxBodyBytes, bytesMax: unverifiedBytesMax });
  const intake = createIntake<Arrival, Verdict>(createBatchCommit({ ...parts, recorder }), parts.intake);
  const isClosed = (): boolean => closed;
  const receive = createReceive({ ...parts, bodyTimeoutMs, unverified, isClosed, submit: submitDelivery });
  const tally = createTally(clock);
  const inFlight = new Set<Promise<ReceiveResult>>();
  let closed = false;
  let failuresInARow = 0;

  async function submit(arrival: Arrival, bytes: number): Promise<Verdict> {
    const verdict = await intake.submit(arrival, bytes);
    return verdict ?? log.refused("persist", failed(closed ? "closed" : "intake-full"));
  }

  async function submitDelivery(arrival: Arrival, bytes: number): Promise<Verdict> {
    const verdict = await submit(arrival, bytes);
    failuresInARow = verdict.outcome === "failed" ? failuresInARow + 1 : 0;
    return verdict;
  }

  /** The commit may still succeed. Then the service's next copy is a duplicate. */
  function refuseLate(error: unknown): ReceiveResult {
    failuresInARow++;
    log.fault("persist", error);
    return respond(failed(reasonOf(error)));
  }

  async function receiveInTime(raw: ReceiveRequest): Promise<ReceiveResult> {
    const way = startWay("request");
    const result = await within(answerMs, receive(raw, way), () => tooLate(answerMs)).catch(refuseLate);
    tally.note(result);
    recorder.answered(result, way);
    return result;
  }

  return {
    receive(raw) {
      const answering = receiveInTime(raw).finally(() => inFlight.delete(answering));
      inFlight.add(answering);
      return answering;
    },
    takeSnapshot: (snapshot) => submit(snapshot, snapshotBytes),
    consecutiveFailures: () => failuresInARow,
    tally,
    isFull: () => intake.size >= itemsMax,
    close: async () => {
      closed = true;
      unverified.close();
      // Deliveries that are still being verified arrived before the close. They are committed too.
      await Promise.all(inFlight);
      await intake.close();
    },
  };
}

function tooLate(answerMs: number): Error {
  const message = `the store did not commit a delivery within ${answerMs} ms: it is too slow or stuck`;
  return new EscrowMirrorError("store-unavailable", message);
}
