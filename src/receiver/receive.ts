/**
 * The way of one webhook: request → verify → parse → dedupe → transition → persist → notify. Each step has a file of its
 * name. `answer` takes one request through the first three and hands it to the intake. Then `batch.ts` and `commit.ts` take
 * a batch through the rest, in one transaction.
 */
import type { FoldOptions } from "../domain/fold.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { within } from "../shared/within.ts";
import type { Store } from "../store/store.ts";
import { silentRecorder, type Recorder } from "../telemetry/recorder.ts";
import type { Arrival, SnapshotArrival } from "./arrival.ts";
import { isBodyStream } from "./body/body-stream.ts";
import { createBatchCommit, reasonOf } from "./batch.ts";
import { createIntake, type IntakeLimits } from "./intake.ts";
import type { ReceiverLog, Step } from "./log.ts";
import { failed, respond, type ReceiveResult, type Verdict } from "./outcome.ts";
import { parseDelivery, type ParseOptions } from "./parse.ts";
import type { SecretProof } from "./secrets/proof.ts";
import { holdBody, readBody } from "./body/read-body.ts";
import {
  checkLength,
  checkMethod,
  headersOf,
  leavingUnread,
  type ReceiveRequest,
  type WholeRequest,
  type RequestHeaders,
} from "./request.ts";
import { retryIfDoubtful } from "./body/second-hand.ts";
import { createTally, type Tally } from "./tally.ts";
import type { Listeners } from "./notify.ts";
import { createUnverified } from "./body/unverified.ts";
import type { Verify } from "./verify.ts";
import { startWay, type Way } from "./way.ts";

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

export function createReceiver(parts: ReceiverParts): Receiver {
  const { store, verify, proof, log, clock, parsing, folding, listeners } = parts;
  const { answerMs = answerMsDefault, recorder = silentRecorder } = parts;
  const { maxBodyBytes } = parsing;
  const { unverifiedBytesMax, bodyTimeoutMs } = parts.intake;
  const unverified = createUnverified({ maxBodyBytes, bytesMax: unverifiedBytesMax });
  const reading = { timeoutMs: bodyTimeoutMs, onBroken: (error: unknown) => log.broken(error) };
  const intake = createIntake<Arrival, Verdict>(
    createBatchCommit({ store, clock, folding, listeners, log, proof, recorder }),
    parts.intake,
  );
  const tally = createTally(clock);
  const inFlight = new Set<Promise<ReceiveResult>>();
  let closed = false;
  let failuresInARow = 0;

  function receive(raw: ReceiveRequest): Promise<ReceiveResult> {
    const way = startWay("request");
    const answering = within(answerMs, answer(raw, way), tooLate)
      .catch(refuseLate)
      .then((result) => noted(result, way))
      .finally(() => inFlight.delete(answering));
    inFlight.add(answering);
    return answering;
  }

  function noted(result: ReceiveResult, way: Way): ReceiveResult {
    tally.note(result);
    recorder.answered(result, way);
    return result;
  }

  function tooLate(): Error {
    const message = `the store did not commit a delivery within ${answerMs} ms: it is too slow or stuck`;
    return new EscrowMirrorError("store-unavailable", message);
  }

  /** The commit may still succeed. Then the service's next copy is a duplicate. */
  function refuseLate(error: unknown): ReceiveResult {
    failuresInARow++;
    log.fault("persist", error);
    return respond(failed(reasonOf(error)));
  }

  async function answer(raw: ReceiveRequest, way: Way): Promise<ReceiveResult> {
    const held = unverified.open();
    const refuse = (verdict: Verdict) => respond(log.refused(way.step, { ...verdict, hint: raw.hint }));
    try {
      if (raw.fault !== undefined) throw raw.fault as Error;
      const headers = headersOf(raw.headers);
      const unfit = checkHead(raw, headers, way.enter);
      if (unfit !== undefined) return refuse(leavingUnread(unfit, headers, maxBodyBytes));
      const read = isBodyStream(raw.body)
        ? await readBody(raw.body, held, reading)
        : holdBody(raw, headers, held, maxBodyBytes);
      const request = { headers, body: held.bytes() };
      if (read.verdict !== undefined) return refuse(retryIfDoubtful(read.verdict, raw, request, read));
      way.enter("verify");
      const verified = await verify.checkSignature(signedView(request));
      if ("outcome" in verified) return refuse(retryIfDoubtful(verified, raw, request, read));
      way.enter("parse");
      const arrival = parseDelivery(request, verified, toIsoTime(clock.now()), parsing);
      way.subject = arrival.reading.facts;
      held.release();
      const verdict = await submit(arrival, request.body.byteLength);
      if (verdict.way !== undefined) way.join(verdict.way);
      failuresInARow = verdict.outcome === "failed" ? failuresInARow + 1 : 0;
      return respond(verdict);
    } catch (error) {
      log.fault(way.step, error, raw.hint);
      return respond(failed(reasonOf(error)));
    } finally {
      held.release();
    }
  }

  /** The verdict on requests that are refused before their body is read. */
  function checkHead(
    raw: ReceiveRequest,
    headers: RequestHeaders,
    enter: (step: Step) => void,
  ): Verdict | undefined {
    if (closed) return failed("closed");
    // A handler that sends a delivery to its own mirror, and awaits the answer, would deadlock.
    if (listeners.isInTransaction()) return failed("inside-transaction");
    const unfit = checkMethod(raw);
    if (unfit !== undefined) return unfit;
    enter("verify");
    const unsigned = verify.checkHeaders((name) => headers.get(name) ?? []);
    if (unsigned !== undefined) return unsigned;
    enter("request");
    return checkLength(raw, headers, maxBodyBytes);
  }

  async function submit(arrival: Arrival, bytes: number): Promise<Verdict> {
    const verdict = await intake.submit(arrival, bytes);
    return verdict ?? log.refused("persist", failed(closed ? "closed" : "intake-full"));
  }

  return {
    receive,
    takeSnapshot: (snapshot) => submit(snapshot, snapshotBytes),
    consecutiveFailures: () => failuresInARow,
    tally,
    isFull: () => intake.size >= parts.intake.itemsMax,
    close: async () => {
      closed = true;
      unverified.close();
      // Deliveries that are still being verified arrived before the close. They are committed too.
      await Promise.all(inFlight);
      await intake.close();
    },
  };
}

/** The size of an API answer for the intake's limit. */
const snapshotBytes = 4096;

function signedView({ headers, body }: WholeRequest) {
  return { body, headers: (name: string) => headers.get(name) ?? [] };
}
