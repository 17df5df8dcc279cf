/**
 * How one webhook goes: request → verify → parse → dedupe → transition → persist → notify. This file knows the order
 * of the steps, and nothing else does; each step is the file of its name.
 */
import type { FoldOptions } from "../domain/fold.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { isEscrowMirrorError } from "../shared/errors.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { isDelivery, webhookIdOf, type Arrival, type Committed, type SnapshotArrival } from "./arrival.ts";
import { dedupe } from "./dedupe.ts";
import { createIntake, type IntakeLimits } from "./intake.ts";
import type { Notify } from "./notify.ts";
import { failed, respond, type Reason, type ReceiveResult, type Verdict } from "./outcome.ts";
import { toArrival, type ParseOptions } from "./parse.ts";
import { flagUnknownEvents, persist } from "./persist.ts";
import type { SecretProof } from "./proof.ts";
import { readRequest, type ReceiveRequest, type Request } from "./request.ts";
import { transition, type ContractChange } from "./transition.ts";
import type { createVerify } from "./verify.ts";

export interface ReceiverParts {
  readonly store: Store;
  readonly verify: ReturnType<typeof createVerify>;
  readonly proof: SecretProof;
  readonly notify: Notify;
  readonly clock: Clock;
  readonly parsing: ParseOptions;
  readonly folding: FoldOptions;
  readonly intake: IntakeLimits;
}

export interface Receiver {
  receive(raw: ReceiveRequest): Promise<ReceiveResult>;
  /** Folds an API answer in, in a commit shared with the deliveries of the moment. */
  takeSnapshot(snapshot: SnapshotArrival): Promise<Verdict>;
  /** How many verified deliveries in a row were not answered 2xx. */
  consecutiveFailures(): number;
  isFull(): boolean;
  /** Refuses new requests with 503; resolves when those taken in are committed and answered. */
  close(): Promise<void>;
}

export function createReceiver(parts: ReceiverParts): Receiver {
  const { store, verify, proof, notify, clock, parsing, folding } = parts;
  const intake = createIntake<Arrival, Verdict>(commit, parts.intake);
  const inFlight = new Set<Promise<ReceiveResult>>();
  let closed = false;
  let failuresInARow = 0;

  function receive(raw: ReceiveRequest): Promise<ReceiveResult> {
    const answering = answer(raw).finally(() => inFlight.delete(answering));
    inFlight.add(answering);
    return answering;
  }

  async function answer(raw: ReceiveRequest): Promise<ReceiveResult> {
    try {
      return respond(await take(raw));
    } catch (error) {
      return respond(failed(reasonOf(error), notify.fault("verify", error)));
    }
  }

  async function take(raw: ReceiveRequest): Promise<Verdict> {
    const request = closed ? failed("closed") : readRequest(raw, parsing.bodyBytesMax);
    if ("outcome" in request) return notify.refused(request);
    const verified = await verify(signedView(request));
    if ("outcome" in verified) return notify.refused(verified);
    const arrival = toArrival(request, verified, toIsoTime(clock.now()), parsing);
    const verdict = await submit(arrival, request.body.byteLength);
    failuresInARow = verdict.outcome === "failed" ? failuresInARow + 1 : 0;
    return verdict;
  }

  async function submit(arrival: Arrival, bytes: number): Promise<Verdict> {
    return (await intake.submit(arrival, bytes)) ?? notify.refused(failed(closed ? "closed" : "intake-full"));
  }

  /** One transaction for all. When it fails for a reason of one arrival's own, each is tried for itself. */
  async function commit(batch: readonly Arrival[]): Promise<readonly Verdict[]> {
    try {
      return announce(await store.transaction((tx) => commitIn(tx, batch)));
    } catch (error) {
      const reason = reasonOf(error);
      notify.fault("persist", error);
      return reason === "internal-error" && batch.length > 1
        ? commitEach(batch)
        : batch.map((arrival) => failed(reason, webhookIdOf(arrival)));
    }
  }

  /** A savepoint for each arrival, so that one that can't be stored fails none of its neighbours. */
  async function commitEach(batch: readonly Arrival[]): Promise<readonly Verdict[]> {
    try {
      const commits = await store.transaction(async (tx) => {
        const done: (Commit | Verdict)[] = [];
        for (const arrival of batch)
          done.push(
            await tx
              .savepoint(() => commitIn(tx, [arrival]))
              .catch((error: unknown) => fault(error, arrival)),
          );
        return done;
      });
      return commits.flatMap((each) => ("changes" in each ? announce(each) : [each]));
    } catch (error) {
      return batch.map((arrival) => fault(error, arrival));
    }
  }

  /** dedupe → transition → persist: what commits together. */
  async function commitIn(tx: StoreTransaction, batch: readonly Arrival[]): Promise<Commit> {
    await proof.record(tx, batch.filter(isDelivery));
    const committed = await dedupe(tx, batch);
    const changes = await transition(tx, committed, folding);
    const now = toIsoTime(clock.now());
    await persist(tx, changes, now);
    await flagUnknownEvents(tx, committed, now);
    return { committed, changes };
  }

  function announce(done: Commit): Verdict[] {
    proof.recorded(done.committed.map(({ arrival }) => arrival).filter(isDelivery));
    notify.committed(done);
    return done.committed.map(({ outcome, webhookId, reason }) => ({ outcome, webhookId, reason }));
  }

  function fault(error: unknown, arrival: Arrival): Verdict {
    notify.fault("persist", error);
    return failed(reasonOf(error), webhookIdOf(arrival));
  }

  return {
    receive,
    takeSnapshot: (snapshot) => submit(snapshot, snapshotBytes),
    consecutiveFailures: () => failuresInARow,
    isFull: () => intake.size >= parts.intake.itemsMax,
    close: async () => {
      closed = true;
      // What is still being verified was taken in before: it is committed too.
      await Promise.all(inFlight);
      await intake.close();
    },
  };
}

/** What one transaction did. */
export interface Commit {
  readonly committed: readonly Committed[];
  readonly changes: readonly ContractChange[];
}

/** What an API answer counts for in the intake's bound. */
const snapshotBytes = 4096;

function signedView({ headers, body }: Request) {
  return { body, headers: (name: string) => headers.get(name) ?? [] };
}

function reasonOf(error: unknown): Reason {
  return isEscrowMirrorError(error, "store-unavailable") ? "store-unavailable" : "internal-error";
}
