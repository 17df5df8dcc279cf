import { describe, expect, it } from "vitest";
import { contract, created, envelope, openClient, read, rejection, startScript } from "./support.ts";
import type { Reply } from "./support.ts";

/** Which answers are asked for again. */

const failure = (status: number, message = "Failed", headers = {}): Reply => ({
  status,
  headers,
  body: { data: null, message, status, validationErrors: [], errors: [] },
});
const refuse = (): never => {
  throw new Error("no");
};
const passing = [408, 429, 500, 502, 503, 504];

describe("a read", () => {
  it.each(passing)("is sent again after %i, and resolves with the answer that comes then", async (status) => {
    const script = await startScript(failure(status), failure(status), envelope(read));
    expect(await openClient(script.url).contracts.get("CNT-1")).toEqual(read);
    expect(script.heard).toHaveLength(3);
  });

  it.each(passing)("that gets %i each time rejects with it, and may be retried", async (status) => {
    const script = await startScript(failure(status, "Busy"));
    const error = await rejection(openClient(script.url).contracts.get("CNT-1"));
    expect(error).toMatchObject({ code: "error-response", status, messageKey: "Busy", retryable: true });
    expect(script.heard).toHaveLength(3);
  });

  it.each([400, 403, 404, 409, 418, 422])("is not sent again after %i", async (status) => {
    const script = await startScript(failure(status));
    expect(await rejection(openClient(script.url).contracts.get("CNT-1"))).toMatchObject({
      status,
      retryable: false,
    });
    expect(script.heard).toHaveLength(1);
  });

  it("is sent as often as the option says", async () => {
    for (const retries of [0, 1, 5]) {
      const script = await startScript(failure(503));
      await rejection(openClient(script.url, { retries }).contracts.get("CNT-1"));
      expect(script.heard).toHaveLength(retries + 1);
    }
  });

  it("whose wait is aborted ends at once", async () => {
    const script = await startScript(failure(503, "Busy", { "retry-after": "3600" }));
    const controller = new AbortController();
    const work = rejection(openClient(script.url).contracts.get("CNT-1", { signal: controller.signal }));
    await expect.poll(() => script.heard.length).toBe(1);
    controller.abort();
    expect(await work).toMatchObject({ code: "aborted" });
    expect(script.heard).toHaveLength(1);
  });

  it("tells how often it was sent, and when it was answered", async () => {
    const date = "Sun, 25 Jan 2026 10:00:00 GMT";
    const script = await startScript(failure(503), { ...envelope(read), headers: { date } });
    const seen: unknown[] = [];
    await openClient(script.url).contracts.get("CNT-1", { onAnswer: (answer) => void seen.push(answer) });
    expect(seen).toEqual([{ status: 200, date, tookMs: expect.any(Number) as number, attempts: 2 }]);
  });
});

describe("a create", () => {
  it("is sent again after 429: the service did nothing", async () => {
    const script = await startScript(
      failure(429, "Slow", { "retry-after": "0" }),
      failure(429),
      envelope(created),
    );
    expect(await openClient(script.url).contracts.create(contract)).toEqual(created);
    expect(script.heard).toHaveLength(3);
    expect(new Set(script.heard.map(({ body }) => body)).size).toBe(1);
  });

  it("that gets 429 each time rejects with it, and may be retried", async () => {
    const script = await startScript(failure(429));
    const error = await rejection(openClient(script.url).contracts.create(contract));
    expect(error).toMatchObject({ code: "error-response", status: 429, retryable: true });
  });

  it.each([408, 500, 501, 502, 503, 504, 599])(
    "that gets %i is outcome-unknown, and is not sent again",
    async (status) => {
      for (const reply of [
        failure(status, "Busy", { "retry-after": "0" }),
        { status, body: "<html>Bad Gateway</html>" },
      ]) {
        const script = await startScript(reply);
        const error = await rejection(openClient(script.url).contracts.create(contract));
        expect(error).toMatchObject({ code: "outcome-unknown", status, retryable: false });
        expect(script.heard).toHaveLength(1);
      }
    },
  );

  it("whose onAnswer throws is done all the same", async () => {
    const script = await startScript(envelope(created));
    expect(await openClient(script.url).contracts.create(contract, { onAnswer: refuse })).toEqual(created);
  });
});

it("a refund whose IBAN can't be resolved was not made: the check comes before", async () => {
  const script = await startScript(failure(500, "FailedToResolveIban"));
  const error = await rejection(openClient(script.url).contracts.refund("CNT-1", { reason: "x" }));
  expect(error).toMatchObject({
    code: "error-response",
    status: 500,
    messageKey: "FailedToResolveIban",
    retryable: false,
  });
});

it.each([
  ["renewCheckout", "contracts/checkout"],
  ["test", "webhooks/test"],
  ["update", "webhooks"],
  ["regenerateSecret", "webhooks/regenerate-secret"],
  ["delete", "webhooks"],
  ["createUser", "user"],
] as const)("%s changes something, and is not sent again after a 500", async (name, path) => {
  const script = await startScript(failure(500));
  const { contracts, webhooks, users } = openClient(script.url);
  const calls = {
    renewCheckout: () => contracts.renewCheckout("CNT-1", { buyerPhoneNumber: "+966500000001" }),
    test: () => webhooks.test(),
    update: () => webhooks.update({ webhookUrl: "https://shop.test/hook" }),
    regenerateSecret: () => webhooks.regenerateSecret(),
    delete: () => webhooks.delete(),
    createUser: () => users.create({ phoneNumber: "+966500000001", firstName: "A", lastName: "" }),
  };
  const error = await rejection(calls[name]());
  expect(error).toMatchObject({ code: "outcome-unknown", status: 500 });
  expect(script.heard.map((one) => one.path)).toEqual([`/apps/api/${path}`]);
});
