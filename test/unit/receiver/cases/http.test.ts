/** Cases from public bug reports: HTTP, as far as `receive` goes. */
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import type { HeaderBag } from "../../../../src/receiver/request.ts";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { casesOf, statusesOf, allDeliveries, proof, v1 } from "../../../support/cases.ts";
import { delivery, eventBody, signed } from "../../../support/delivery.ts";
import { openMirror } from "../../../support/mirror.ts";

const testCase = casesOf("http");

const headerCase = (name: string) => name.replaceAll(/(^|-)./g, (part) => part.toUpperCase());

testCase(
  "Webhook-id missing or hostile",
  "a key is always found, never null; each content counts once; ids differ by case",
  async () => {
    const mirror = await openMirror({ store: sqlite(":memory:") });
    const { "x-service-webhook-id": _, ...rest } = v1.headers;
    expect(await statusesOf(mirror, { ...v1, headers: rest }, { ...v1, headers: rest })).toEqual([
      "200 applied",
      "200 duplicate",
    ]);
    for (const id of ["", "x".repeat(10_000), "a\u0000b", "a\r\nb"]) {
      const body = eventBody("contract.created", { note: id });
      const sent = {
        ...signed(body),
        headers: { ...(signed(body).headers as object), "X-Service-Webhook-Id": id },
      };
      expect(await statusesOf(mirror, sent, sent)).toEqual(["200 applied", "200 duplicate"]);
    }
    const emoji = delivery("contract.created", { note: "emoji" }, { webhookId: "wh-🎉" });
    expect((await mirror.receive(emoji)).webhookId).toBe("wh-🎉");
    expect((await allDeliveries(mirror)).every(({ id, webhookId }) => id !== "" && webhookId !== "")).toBe(
      true,
    );
  },
);

testCase(
  "Header looked up by exact case",
  "every kind of bag in every case verifies, and so does a prefix in any case",
  async () => {
    const pairs = Object.entries(v1.headers);
    const recased = (to: (name: string) => string) =>
      Object.fromEntries(pairs.map(([name, value]) => [to(name), value]));
    const bags: HeaderBag[] = [
      recased((name) => name),
      recased((name) => name.toUpperCase()),
      recased(headerCase),
      new Headers(pairs),
      new Map(pairs),
      pairs,
      pairs.flat(),
      Object.fromEntries(pairs.map(([name, value]) => [headerCase(name), [value]])),
    ];
    for (const headers of bags)
      expect(
        await statusesOf(await openMirror({ webhook: { headerPrefix: "x-SERVICE-" } }), { ...v1, headers }),
      ).toEqual(["200 applied"]);
  },
);

testCase(
  "Repeated header or array value",
  "a repeated id is never stored joined; a repeated signature is 401",
  async () => {
    const mirror = await openMirror();
    const pairs = Object.entries(v1.headers).filter(([name]) => name !== "x-service-webhook-id");
    const answer = await mirror.receive({
      ...v1,
      headers: [...pairs, ["x-service-webhook-id", "a"], ["x-service-webhook-id", "b"]],
    });
    expect(answer).toMatchObject({ status: 200, webhookId: "e-V1" });
    const bad = ["x-service-signature", `sha256=${"0".repeat(64)}`] as const;
    expect(await statusesOf(mirror, { ...v1, headers: [...Object.entries(v1.headers), bad] })).toEqual([
      "401 rejected",
    ]);
  },
);

testCase(
  "Compressed body: which bytes were signed?",
  "the bytes as received; inflated after, within the same bound; an unknown encoding is set aside",
  async () => {
    const mirror = await openMirror();
    await mirror.receive(proof());
    const plain = eventBody("contract.created", { id: "z", seconds: 0 });
    const headers = { "content-encoding": "gzip" };
    const overPlain = {
      ...signed(gzipSync(plain)),
      headers: { ...(signed(plain).headers as object), ...headers },
    };
    expect(await statusesOf(mirror, overPlain, signed(gzipSync(plain), { headers }))).toEqual([
      "401 rejected",
      "200 applied",
    ]);
    const bomb = signed(gzipSync(Buffer.alloc(64 * 1024 * 1024)), { headers });
    expect(await mirror.receive(bomb)).toMatchObject({
      status: 200,
      outcome: "quarantined",
      reason: "inflated-too-large",
    });
    expect(
      await mirror.receive(signed("zstd bytes", { headers: { "content-encoding": "zstd" } })),
    ).toMatchObject({ status: 200, reason: "unknown-encoding" });
    expect(await mirror.receive(signed("no gzip", { headers }))).toMatchObject({
      status: 200,
      reason: "corrupt-encoding",
    });
  },
);

testCase(
  "Gateway hands over the body base64-encoded",
  "with the flag the decoded bytes are hashed, without it the text as it is",
  async () => {
    const mirror = await openMirror();
    const body = Buffer.from(v1.body).toString("base64");
    expect(await statusesOf(mirror, { ...v1, body, isBase64Encoded: true })).toEqual(["200 applied"]);
    expect(await statusesOf(mirror, { ...v1, body, isBase64Encoded: false })).toEqual(["401 rejected"]);
    expect(await mirror.receive(signed(body))).toMatchObject({ status: 200, reason: "not-json" });
  },
);
