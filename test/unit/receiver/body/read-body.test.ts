import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { MirrorOptions } from "../../../../src/mirror/options.ts";
import type { BodyStream } from "../../../../src/receiver/body/body-stream.ts";
import type { ReceiveRequest } from "../../../../src/receiver/request.ts";
import { delivery } from "../../../support/delivery.ts";
import { openMirror, recordingLogger, settle } from "../../../support/mirror.ts";

const order = delivery("contract.created", { seconds: 0 });
const wellFormed = { "X-Service-Signature": "0".repeat(64) };
const withBody = (body: BodyStream, headers: ReceiveRequest["headers"] = wellFormed): ReceiveRequest => ({
  method: "POST",
  headers,
  body,
});
const open = async (intake: MirrorOptions["intake"] = {}) => {
  const logger = recordingLogger();
  const mirror = await openMirror({ logger, intake, webhook: { maxBodyBytes: 1000 } });
  await mirror.receive(delivery("webhook.test", { id: "proof" }));
  logger.lines.length = 0;
  return { mirror, logger };
};

/** A stream of which so much has come, and no more comes. */
function begun(bytes: number): PassThrough {
  const stream = new PassThrough();
  stream.write(Buffer.alloc(bytes));
  return stream;
}

describe("a body that is on its way", () => {
  it.each([
    ["no signature", {}, "signature-missing"],
    ["a malformed one", { "X-Service-Signature": "z".repeat(64) }, "signature-malformed"],
    ["a length that is too large", { ...wellFormed, "content-length": "1001" }, "body-too-large"],
  ])("is not touched where the headers have %s", async (_, headers, reason) => {
    const { mirror } = await open();
    const stream = begun(10);
    expect(await mirror.receive(withBody(stream, headers))).toMatchObject({ outcome: "rejected", reason });
    expect([stream.readableDidRead, stream.listenerCount("data"), stream.readableFlowing]).toEqual([
      false,
      0,
      null,
    ]);
  });

  it("is not touched where the method is not POST, or the mirror is closed", async () => {
    const { mirror } = await open();
    const stream = begun(10);
    expect((await mirror.receive({ ...withBody(stream), method: "PUT" })).status).toBe(405);
    await mirror.close();
    expect((await mirror.receive(withBody(stream))).status).toBe(503);
    expect(stream.listenerCount("data")).toBe(0);
  });

  it("is waited for no longer than intake.bodyTimeoutMs", async () => {
    const { mirror, logger } = await open({ bodyTimeoutMs: 50 });
    const answer = await mirror.receive(withBody(begun(10)));
    expect(answer).toMatchObject({ status: 503, reason: "body-incomplete" });
    expect(answer.headers).toMatchObject({ connection: "close", "retry-after": "5" });
    expect(logger.lines.map(({ level }) => level)).toEqual(["debug"]);
  });

  it("is given up when the mirror closes, which does not wait for it", async () => {
    const { mirror } = await open();
    const answering = mirror.receive(withBody(begun(10)));
    await mirror.close();
    expect(await answering).toMatchObject({ status: 503, reason: "closed" });
  });

  it("ends the connection where its end is not known", async () => {
    const { mirror } = await open();
    const chunked = { "transfer-encoding": "chunked" };
    expect((await mirror.receive(withBody(begun(1), chunked))).headers["connection"]).toBe("close");
    const long = { "content-length": "1001" };
    expect((await mirror.receive(withBody(begun(1), long))).headers["connection"]).toBe("close");
    const short = { "content-length": "1000" };
    expect((await mirror.receive(withBody(begun(1), short))).headers["connection"]).toBeUndefined();
  });

  it("that fails after its answer ends no process", async () => {
    const { mirror } = await open();
    const stream = begun(2000);
    expect((await mirror.receive(withBody(stream))).status).toBe(413);
    stream.destroy(new Error("too late"));
    await settle();
  });

  it("keeps no timer from running, in however many pieces it comes", async () => {
    const { mirror } = await open();
    let turns = 0;
    const ticking = setInterval(() => turns++, 0);
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      controller.enqueue(new Uint8Array(turns > 3 ? 1 : 0));
    };
    expect((await mirror.receive(withBody(new ReadableStream({ pull })))).status).toBe(413);
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(3);
  });
});

describe("bodies that are on their way", () => {
  it("share intake.unverifiedBytesMax: the largest gives way, and a delivery is taken in", async () => {
    const { mirror, logger } = await open({ unverifiedBytesMax: 3000 });
    const answers = [600, 700, 800, 900].map((bytes) => mirror.receive(withBody(begun(bytes))));
    await settle();
    expect(await mirror.receive(order)).toMatchObject({ status: 200 });
    expect(await answers[3]).toMatchObject({ status: 503, reason: "intake-full" });
    for (let more = 0; more < 20; more++) void mirror.receive(withBody(begun(990)));
    await settle();
    const told = logger.lines.filter(({ level }) => level !== "debug");
    expect(told).toMatchObject([{ level: "warn", fields: { reason: "intake-full" } }]);
    expect((await mirror.health()).ok).toBe(true);
  });

  it.each(["cut off", "failed", "too large", "forged"])(
    "give their bytes back when they were %s",
    async (how) => {
      const { mirror } = await open({ unverifiedBytesMax: 1000, bodyTimeoutMs: 5000 });
      for (let round = 0; round < 5; round++) {
        const stream = begun(how === "too large" ? 1500 : 900);
        const answering = mirror.receive(withBody(stream));
        await settle(3);
        if (how === "cut off") stream.destroy();
        else if (how === "failed") stream.destroy(new Error("no"));
        else stream.end();
        await answering;
      }
      const large = delivery("contract.created", { seconds: 0, description: "x".repeat(700) });
      expect((await mirror.receive(large)).status).toBe(200);
    },
  );
});
