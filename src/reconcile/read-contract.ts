import { hash } from "node:crypto";
import type { AnswerInfo } from "../client/http/call.ts";
import type { SnapshotFacts } from "../events/snapshot.ts";
import type { SnapshotArrival } from "../receiver/arrival.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { canonicalId } from "../shared/ids.ts";
import type { MirrorClient } from "./mirror-client.ts";
import { toSnapshotFacts } from "./snapshot-of.ts";

/** Reads a contract from the API, ready for a commit. Rejects with the client's error. */
export type ReadContract = (contractId: string, signal?: AbortSignal) => Promise<SnapshotArrival>;

export function createReadContract(client: MirrorClient, clock: Clock): ReadContract {
  return async (contractId, signal) => {
    let info: AnswerInfo | undefined;
    const onAnswer = (answer: AnswerInfo): void => void (info = answer);
    const contract = await client.contracts.get(contractId, { signal, onAnswer });
    if (canonicalId(contract.contractId) !== contractId) throw anotherContract(contractId);
    const nowMs = clock.now();
    return toArrival(toSnapshotFacts(contract, { origin: "read", contractId, info, nowMs }), nowMs);
  };
}

export function toArrival(facts: SnapshotFacts, nowMs: number): SnapshotArrival {
  return {
    kind: "snapshot",
    digest: hash("sha256", JSON.stringify(facts), "hex"),
    receivedAt: toIsoTime(nowMs),
    facts,
  };
}

function anotherContract(contractId: string): EscrowMirrorError {
  const message = `the service was asked for contract ${contractId} and answered with another: nothing was stored`;
  return new EscrowMirrorError("invalid-response", message);
}
