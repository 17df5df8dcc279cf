/** Commits a batch in one transaction, and turns failures into verdicts. */
import { isHandlerFault, type HandlerFault } from "../handlers/transaction/handler-fault.ts";
import { isEscrowMirrorError } from "../shared/errors.ts";
import { settle } from "../shared/result.ts";
import { inputsOf, isDelivery, webhookIdOf, type Arrival, type Commit } from "./arrival.ts";
import { commitOnce, type CommitParts } from "./commit.ts";
import { heedAside, storedOf } from "./contracts/redacted.ts";
import { dedupe } from "./dedupe.ts";
import { keepUnstorable } from "./deliveries/unstorable.ts";
import type { ReceiverLog } from "./log.ts";
import { failed, type Reason, type Verdict } from "./outcome.ts";
import type { SecretProof } from "./secrets/proof.ts";
import type { Recorder } from "../telemetry/recorder.ts";
import { freshOf } from "./notify.ts";
import { startWay, type Way } from "./way.ts";

export interface BatchParts extends CommitParts {
  readonly log: ReceiverLog;
  readonly proof: SecretProof;
  readonly recorder: Recorder;
}

/** Commits a batch and gives a verdict for each of it, in order. It never rejects. */
export function createBatchCommit(parts: BatchParts) {
  const { store, log, proof, listeners, recorder } = parts;

  /** If one arrival makes the batch fail, the batch is halved until that one is alone. So the others don't fail with it. */
  async function commit(batch: readonly Arrival[]): Promise<readonly Verdict[]> {
    const way = startWay("dedupe");
    const done = await settle(() => commitIn(batch, way));
    if (done.ok) return announce(done.value, way);
    if (isOwn(done.error) && batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      return [...(await commit(batch.slice(0, middle))), ...(await commit(batch.slice(middle)))];
    }
    if (isHandlerFault(done.error)) return afterHandlerFault(batch, done.error);
    log.fault(way.step, done.error);
    return isOwn(done.error) ? Promise.all(batch.map(setAside)) : failAll(batch, done.error, way);
  }

  /** The step *dedupe*, and those that follow it in its transaction. */
  function commitIn(batch: readonly Arrival[], way: Way): Promise<Commit> {
    return commitOnce(parts, {
      enter: way.enter,
      isAlone: batch.length === 1,
      take: async (tx) => {
        await proof.record(tx, batch.filter(isDelivery));
        const committed = await dedupe(tx, batch);
        const stored = storedOf(committed);
        return { committed, inputs: inputsOf(committed), deliveries: freshOf(committed), stored };
      },
    });
  }

  function announce(done: Commit, way: Way): Verdict[] {
    recorder.committed(done.committed.length, way.startedMs);
    if (way.step !== "notify") way.enter("notify");
    proof.recorded(done.committed.map(({ arrival }) => arrival).filter(isDelivery));
    log.committed(done);
    return done.committed.map(({ outcome, webhookId, reason }) => ({ outcome, webhookId, reason, way }));
  }

  /** The transaction was rolled back. The delivery is committed without the handler, or the service sends it again. */
  async function afterHandlerFault(
    batch: readonly Arrival[],
    fault: HandlerFault,
  ): Promise<readonly Verdict[]> {
    const counted = await settle(() => store.transaction((tx) => listeners.countFailure(tx, fault)));
    log.fault("notify", counted.ok ? fault : counted.error);
    if (counted.ok && counted.value) return commit(batch);
    const reason = fault.isOfStore ? "store-unavailable" : "handler-failed";
    return batch.map((arrival) => failed(reason, webhookIdOf(arrival)));
  }

  /** The last resort for an authentic delivery, in a transaction of its own. */
  async function setAside(arrival: Arrival): Promise<Verdict> {
    if (!isDelivery(arrival)) return failed("internal-error");
    const kept = await settle(() =>
      store.transaction(async (tx) => {
        const verdict = await keepUnstorable(tx, arrival);
        await heedAside(tx, arrival);
        return verdict;
      }),
    );
    if (kept.ok) return log.aside(arrival, kept.value);
    log.fault("persist", kept.error);
    return failed(reasonOf(kept.error), arrival.webhookId);
  }

  return commit;
}

function failAll(batch: readonly Arrival[], error: unknown, way: Way): Verdict[] {
  return batch.map((arrival) => ({ ...failed(reasonOf(error), webhookIdOf(arrival)), way }));
}

/** Whether one arrival may be the cause. A fault of the store would hit all of them. */
function isOwn(error: unknown): boolean {
  return reasonOf(error) === "internal-error";
}

export function reasonOf(error: unknown): Reason {
  if (isEscrowMirrorError(error, "store-unavailable")) return "store-unavailable";
  return isEscrowMirrorError(error, "closed") ? "closed" : "internal-error";
}
