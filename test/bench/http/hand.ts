import { createHmac, timingSafeEqual } from "node:crypto";
import { openByHand } from "../by-hand.ts";
import { makeDeliveries, secret } from "../deliveries.ts";
import { byDelivery, record } from "../recording-store.ts";

/** What a server does with a request that it has read. @throws Error on a wrong signature */
export type Take = (body: Buffer, signature: string | undefined) => Promise<void>;

/**
 * A receiver written by hand: the signature, `JSON.parse`, and one transaction for all that wait. It looks nothing up and
 * folds nothing, for the rows that it writes are known beforehand: those of the mirror, for `count` deliveries.
 */
export async function openHandReceiver(path: string, count: number): Promise<Take> {
  const rows = (await record(makeDeliveries(count))).flatMap(byDelivery);
  const hand = openByHand(path);
  let next = 0;
  let waiting: (() => void)[] = [];

  function writeAllThatWait(): void {
    const written = waiting;
    waiting = [];
    const share = rows.slice(next, (next += written.length));
    if (share.length < written.length) throw new Error("more deliveries came than rows were made");
    hand.write([share.flat()]);
    for (const answer of written) answer();
  }

  /** As the intake does: over HTTP, what is on its way is read in several turns. */
  async function drain(): Promise<void> {
    for (let before = 0; waiting.length > before;) {
      before = waiting.length;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    writeAllThatWait();
  }

  return (body, signature) => {
    verify(body, signature);
    JSON.parse(body.toString());
    return new Promise((resolve, reject) => {
      if (waiting.push(resolve) === 1) drain().catch(reject);
    });
  };
}

function verify(body: Buffer, signature: string | undefined): void {
  const mac = createHmac("sha256", secret).update(body).digest();
  const given = Buffer.from(signature?.replace(/^sha256=/, "") ?? "", "hex");
  if (given.length !== mac.length || !timingSafeEqual(given, mac)) throw new Error("the signature is wrong");
}
