/** `Content-Encoding` is not signed: whatever it says, and whichever copy comes first, the mirror comes out the same. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../../src/mirror/create-mirror.ts";
import type { ReceiveRequest } from "../../../src/receiver/request.ts";
import { eventBody, permutations, sha256, signed } from "../../support/delivery.ts";
import { openMirror, storeKinds } from "../../support/mirror.ts";

const text = Buffer.from(eventBody("contract.created", { id: "e-1", seconds: 0, amount: 600 }));
/** Each body with the header under which it can be read, `undefined` for none, and ones under which it can't. */
const bodies: readonly (readonly [
  string,
  Uint8Array,
  string | undefined,
  readonly (string | undefined)[],
])[] = [
  ["a plain body", text, undefined, ["gzip", "deflate", "br", "zstd", "gzip, br", "identity, gzip"]],
  ["a plain body", text, "identity", ["gzip", ";;="]],
  ["a gzip body", gzipSync(text), "gzip", [undefined, "identity", "deflate", "br", "zstd"]],
  ["a deflate body", deflateSync(text), "deflate", [undefined, "gzip"]],
  ["a raw deflate body", deflateRawSync(text), "deflate", [undefined, "br"]],
  ["a brotli body", brotliCompressSync(text), "br", [undefined, "gzip"]],
];
const cases = bodies.flatMap(([what, body, right, wrongs]) =>
  wrongs.map((wrong) => [what, `${right}`, `${wrong}`, body, right, wrong] as const),
);

function copy(body: Uint8Array, encoding: string | undefined, withoutId = false): ReceiveRequest {
  const headers = encoding === undefined ? undefined : { "Content-Encoding": encoding };
  return signed(body, { withoutId, ...(headers && { headers }) });
}

/** All that is the same whatever the order: not how often and when each came, nor the headers of the first. */
async function stateOf(mirror: Mirror): Promise<unknown> {
  const { items } = await mirror.deliveries.list();
  const deliveries = items.map(
    ({ id, webhookId, payloadId, event, contractId, outcome, reason, attempts }) => ({
      id,
      webhookId,
      payloadId,
      event,
      contractId,
      outcome,
      reason,
      attempts,
    }),
  );
  const [contracts, quarantined, anomalies] = await Promise.all([
    mirror.contracts.list(),
    mirror.quarantine.list(),
    mirror.anomalies.list(),
  ]);
  const ours = { changedAt: null, syncedAt: null };
  return {
    deliveries,
    contracts: contracts.items.map((each) => ({ ...each, ...ours })),
    quarantined: quarantined.items.length,
    anomalies: anomalies.items,
    history: await mirror.contracts.history("CNT-1"),
  };
}

describe.each(storeKinds)("on %s", (_, openStore) => {
  describe.each([false, true])("without an id header: %s,", (withoutId) => {
    it.each(cases)("%s read by %s, met by %s: either order applies it once", async (...each) => {
      const [, , , body, right, wrong] = each;
      const orders = permutations([wrong, right, wrong]);
      const states: unknown[] = [];
      for (const order of orders) {
        const mirror = await openMirror({ store: openStore() });
        const outcomes: string[] = [];
        for (const encoding of order)
          outcomes.push((await mirror.receive(copy(body, encoding, withoutId))).outcome);
        expect(outcomes.filter((outcome) => outcome === "applied")).toHaveLength(1);
        states.push(await stateOf(mirror));
      }
      expect(states[0]).toMatchObject({ quarantined: 0, contracts: [{ contractId: "CNT-1" }] });
      for (const state of states) expect(state).toEqual(states[0]);
    });
  });

  it("copies that come at once, in one commit, apply it once", async () => {
    const body = gzipSync(text);
    for (const order of permutations(["gzip", undefined, "br"])) {
      const mirror = await openMirror({ store: openStore() });
      await Promise.all(order.map((encoding) => mirror.receive(copy(body, encoding))));
      expect(await stateOf(mirror)).toMatchObject({ quarantined: 0, contracts: [{ contractId: "CNT-1" }] });
      expect(await mirror.contracts.history("CNT-1")).toHaveLength(1);
    }
  });

  it.each(cases)("%s read by %s, met by %s: it can be released without another copy", async (...each) => {
    const [, , , body, , wrong] = each;
    const mirror = await openMirror({ store: openStore() });
    expect(await mirror.receive(copy(body, wrong))).toMatchObject({ outcome: "quarantined" });
    await mirror.quarantine.release(`sha256:${sha256(body)}`);
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "pending" });
  });
});
