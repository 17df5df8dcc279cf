import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMirror, type Mirror } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { delivery, fixtureDelivery, secret } from "../support/delivery.ts";
import { cases, maxBodyBytes, type HostCase } from "./cases.ts";
import { createClient, type Answered, type Client, type Sent } from "./client.ts";
import { hosts, type Host, type RunningHost } from "./hosts.ts";

const proof = delivery("webhook.test", { id: "payload-proof" }, { webhookId: "wh-proof" });

describe.each(hosts)("$name", (host) => {
  let mirror: Mirror;
  let running: RunningHost;
  let client: Client;

  beforeAll(async () => {
    mirror = await createMirror({ store: sqlite(":memory:"), webhook: { secrets: secret, maxBodyBytes } });
    running = await host.start(mirror);
    client = createClient(running.port);
    // A wrong signature is answered 401 only once the secret has verified something.
    await mirror.receive(proof);
  });
  afterAll(async () => {
    client.close();
    await running.close();
    await mirror.close();
  });

  it.each(cases)("answers $title: $status $outcome", async (each) => {
    const answered = await client.send(sentTo(host, each));
    expect(answered.status).toBe(each.status);
    expectShape(answered, each);
    await expectReusable(answered);
    await expectStored(each);
  });

  it("stores nothing of a delivery that was cut off half-way, and goes on", async () => {
    const { body } = fixtureDelivery("sample-1");
    await client.abort({ path: host.path, headers: headersOf("sample-1"), body });
    expect(await mirror.deliveries.get("wh-sample-1")).toBeUndefined();
    const whole = await client.send({ path: host.path, headers: headersOf("sample-1"), body });
    expect(JSON.parse(whole.text)).toEqual({ outcome: "applied", webhookId: "wh-sample-1" });
  });

  it("takes a slash at the end or has no such route, and never redirects", async () => {
    const { body } = fixtureDelivery("sample-2");
    const { status } = await client.send({ path: `${host.path}/`, headers: headersOf("sample-2"), body });
    expect([200, 404]).toContain(status);
  });

  it("leaves the other routes their own parser", async () => {
    const body = Buffer.from('{"a":1}');
    const headers = [["Content-Type", "application/json"]] as const;
    const answered = await client.send({ path: "/echo", headers, body });
    expect(JSON.parse(answered.text)).toEqual({ echo: { a: 1 } });
  });

  /** Whatever the answer was, the next request finds the connection in order, or was told that it closes. */
  async function expectReusable({ headers }: Answered): Promise<void> {
    const next = await client.send({
      path: host.path,
      headers: headersOf("proof"),
      body: proof.body,
    });
    expect(JSON.parse(next.text)).toEqual({ outcome: "duplicate", webhookId: "wh-proof" });
    expect(next.reused).toBe(headers.connection !== "close");
  }

  async function expectStored({ status, reason, send, webhookId, storedAs }: HostCase): Promise<void> {
    if (status !== 200 || webhookId === undefined) return;
    const stored = await mirror.deliveries.get(storedAs ?? webhookId);
    expect(Buffer.from((await stored?.body()) ?? []).equals(send.body as Buffer)).toBe(true);
    if (reason !== undefined) expect(stored?.reason).toBe(reason);
  }
});

function headersOf(name: string): [string, string][] {
  const { headers } = name === "proof" ? proof : fixtureDelivery(name);
  return Object.entries(headers as Record<string, string>);
}

function sentTo(host: Host, { send: { pathSuffix = "", ...send } }: HostCase): Sent {
  return { ...send, path: `${host.path}${pathSuffix}` };
}

function expectShape({ status, headers, text }: Answered, each: HostCase): void {
  const { outcome, webhookId, send, closes = false } = each;
  expect(headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(headers.location).toBeUndefined();
  expect(headers.allow).toBe(status === 405 ? "POST" : undefined);
  expect(headers.connection).toBe(closes ? "close" : "keep-alive");
  const body = webhookId === undefined ? { outcome } : { outcome, webhookId };
  expect(text === "" ? text : JSON.parse(text)).toEqual(send.method === "HEAD" ? "" : body);
}
