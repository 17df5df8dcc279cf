/**
 * The way of one webhook: request → verify → parse → dedupe → transition → persist → notify. Each step has a file of its
 * name. `take` takes one request through the first three and hands it to the intake. Then `batch.ts` and `commit.ts` take
 * a batch through the rest, in one transaction.
 */
import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { DeliveryArrival } from "./arrival.ts";
import { reasonOf } from "./batch.ts";
import { isBodyStream } from "./body/body-stream.ts";
import { holdBody, readBody } from "./body/read-body.ts";
import { retryIfDoubtful } from "./body/second-hand.ts";
import type { HeldBody, Unverified } from "./body/unverified.ts";
import type { ReceiverLog } from "./log.ts";
import type { Listeners } from "./notify.ts";
import { failed, respond, type ReceiveResult, type Verdict } from "./outcome.ts";
import { parseDelivery, type ParseOptions } from "./parse.ts";
import {
  checkLength,
  checkMethod,
  headersOf,
  leavingUnread,
  type ReceiveRequest,
  type RequestHeaders,
  type WholeRequest,
} from "./request.ts";
import type { Verify } from "./verify.ts";
import type { Way } from "./way.ts";

export interface ReceiveParts {
  readonly verify: Verify;
  readonly log: ReceiverLog;
  readonly clock: Clock;
  readonly parsing: ParseOptions;
  readonly listeners: Listeners;
  readonly bodyTimeoutMs: number;
  readonly unverified: Unverified;
  readonly isClosed: () => boolean;
  /** The steps from *dedupe* on, with others of a batch. */
  readonly submit: (arrival: DeliveryArrival, bytes: number) => Promise<Verdict>;
}

export function createReceive(parts: ReceiveParts) {
  const { verify, log, clock, parsing, unverified, submit } = parts;
  const { maxBodyBytes } = parsing;
  const reading = { timeoutMs: parts.bodyTimeoutMs, onBroken: (error: unknown) => log.broken(error) };

  /** Answers one request. It never rejects. */
  async function receive(raw: ReceiveRequest, way: Way): Promise<ReceiveResult> {
    const held = unverified.open();
    try {
      if (raw.fault !== undefined) throw raw.fault as Error;
      return respond(await take(raw, held, way));
    } catch (error) {
      log.fault(way.step, error, raw.hint);
      return respond(failed(reasonOf(error)));
    } finally {
      held.release();
    }
  }

  async function take(raw: ReceiveRequest, held: HeldBody, way: Way): Promise<Verdict> {
    const refuse = (verdict: Verdict) => log.refused(way.step, { ...verdict, hint: raw.hint });
    const headers = headersOf(raw.headers);
    const unfit = checkHead(raw, headers, way);
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
    return verdict;
  }

  /** The verdict on requests that are refused before their body is read. */
  function checkHead(raw: ReceiveRequest, headers: RequestHeaders, { enter }: Way): Verdict | undefined {
    if (parts.isClosed()) return failed("closed");
    // A handler that sends a delivery to its own mirror, and awaits the answer, would deadlock.
    if (parts.listeners.isInTransaction()) return failed("inside-transaction");
    const unfit = checkMethod(raw);
    if (unfit !== undefined) return unfit;
    enter("verify");
    const unsigned = verify.checkHeaders((name) => headers.get(name) ?? []);
    if (unsigned !== undefined) return unsigned;
    enter("request");
    return checkLength(raw, headers, maxBodyBytes);
  }

  return receive;
}

function signedView({ headers, body }: WholeRequest) {
  return { body, headers: (name: string) => headers.get(name) ?? [] };
}
