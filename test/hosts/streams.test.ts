/** Bodies that come in tiny pieces, slowly, in part or without end: answered within bounds, and held within bounds. */
import { afterEach, describe, expect, it } from "vitest";
import type { Mirror, MirrorOptions } from "../../src/index.ts";
import { delivery, eventBody, signed } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";
import { createClient, type Answered, type Client, type Sent } from "./client.ts";
import { hosts, type RunningHost } from "./hosts.ts";
import { sendSlowly, type SlowClient, type SlowSent } from "./slow-client.ts";

const wellFormed = [["X-Service-Signature", "0".repeat(64)]] as const;

/** A delivery of so many bytes or a few more. */
function sized(name: string, bytes: number): { headers: [string, string][]; body: Buffer } {
  const { headers, body } = signed(
    eventBody("contract.created", { id: name, contractId: name, description: "x".repeat(bytes) }),
  );
  return { headers: Object.entries(headers as Record<string, string>), body: body as Buffer };
}

/** What is sent on a connection that stays open, and the answer. */
const endless: readonly (readonly [string, Omit<SlowSent, "path">, number, string])[] = [
  ["stops half-way", { headers: wellFormed, bytes: 1000 }, 503, "failed"],
  ["comes byte by byte", { headers: wellFormed, bytes: 1000, dripBytes: 1 }, 503, "failed"],
  ["never begins", { headers: wellFormed }, 503, "failed"],
  ["grows too large", { headers: wellFormed, bytes: 1_000_000, dripBytes: 50_000 }, 413, "rejected"],
  ["has no signature", { bytes: 10, dripBytes: 1000 }, 401, "rejected"],
  ["has no signature, and stops", { bytes: 10 }, 401, "rejected"],
  [
    "has a malformed one",
    { headers: [["X-Service-Signature", "z".repeat(64)]], dripBytes: 1 },
    401,
    "rejected",
  ],
  ["is no POST", { method: "PUT", dripBytes: 1000 }, 405, "rejected"],
];
const distinct = hosts.filter(({ name }) => !name.includes(","));

describe.each(distinct)("$name", (host) => {
  let mirror: Mirror;
  let running: RunningHost;
  let client: Client;
  const slow: SlowClient[] = [];

  const open = async (intake: MirrorOptions["intake"], maxBodyBytes = 1_048_576): Promise<void> => {
    mirror = await openMirror({ webhook: { maxBodyBytes }, intake });
    await mirror.receive(delivery("webhook.test", { id: "proof" }));
    running = await host.start(mirror);
    client = createClient(running.port);
  };
  afterEach(async () => {
    await Promise.all(slow.splice(0).map((each) => each.abort()));
    client.close();
    await running.close();
  });
  const send = (sent: Omit<Sent, "path">): Promise<Answered> => client.send({ path: host.path, ...sent });
  const begin = (sent: Omit<SlowSent, "path">): SlowClient => {
    const each = sendSlowly(running.port, { path: host.path, ...sent });
    slow.push(each);
    return each;
  };
  const isWell = async (name: string, bytes: number): Promise<void> => {
    const { status, text } = await send(sized(name, bytes));
    expect(`${status} ${text}`).toMatch(/^200 \{"outcome":"applied"/);
  };

  it("applies a body in thousands of pieces of one byte", async () => {
    await open({});
    const { status } = await send({ ...sized("tiny", 8000), framing: "bytewise" });
    expect(status).toBe(200);
    expect(await mirror.contracts.get("tiny")).toBeDefined();
  });

  it("answers what is slow or has no end, and ends the connection", async () => {
    await open({ bodyTimeoutMs: 400 });
    const answers = await Promise.all(
      endless.map(async ([, sent]) => {
        const { status, text } = await begin(sent).ended;
        return [status, /"outcome":"(\w+)"/.exec(text)?.[1]];
      }),
    );
    expect(answers).toEqual(endless.map(([, , ...answer]) => answer));
    await isWell("after", 1000);
  });

  it("sends the word to go on to a sender who waits for it", async () => {
    await open({});
    const { headers, body } = sized("expected", 1000);
    const { status } = await send({ headers: [...headers, ["Expect", "100-continue"]], body });
    expect(status).toBe(200);
  });

  it("holds bytes no longer than their requests: sent in part, too slowly, too large or forged", async () => {
    await open({ unverifiedBytesMax: 100_000, bodyTimeoutMs: 300 }, 100_000);
    for (let round = 0; round < 3; round++) {
      const cut = begin({ headers: wellFormed, bytes: 90_000 });
      await new Promise((resolve) => setTimeout(resolve, 50));
      await cut.abort();
      expect(await begin({ headers: wellFormed, bytes: 90_000 }).answered).toBe(503);
      expect((await send({ headers: wellFormed, body: 101_000, framing: "chunked" })).status).toBe(413);
      expect((await send({ headers: wellFormed, body: 99_000 })).status).toBe(401);
      await isWell(`round-${round}`, 90_000);
    }
  });
});

describe.each(distinct)("$name, attacked", (host) => {
  it("holds no more of 500 slow bodies than it may, and still takes deliveries in", async () => {
    const mirror = await openMirror({ intake: { unverifiedBytesMax: 1_048_576 } });
    const running = await host.start(mirror);
    const client = createClient(running.port);
    const { path } = host;
    const slow = Array.from({ length: 500 }, () =>
      sendSlowly(running.port, { path, headers: wellFormed, bytes: 50_000 }),
    );
    const refused = new Set<SlowClient>();
    for (const each of slow) void each.answered.then((status) => status === 503 && refused.add(each));
    for (let order = 0; refused.size < 480; order++)
      expect((await client.send({ path, ...sized(`order-${order}`, 500) })).status).toBe(200);
    expect(refused.size).toBeLessThan(500);
    await Promise.all(slow.map((each) => each.abort()));
    client.close();
    await running.close();
  });
});
