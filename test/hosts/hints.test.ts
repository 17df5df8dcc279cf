/** A request that an adapter can't read: the log says which line of that host's set-up to change. */
import { expect, it } from "vitest";
import { expressWebhook } from "../../adapters/express.ts";
import { fastifyWebhook } from "../../adapters/fastify.ts";
import { fetchWebhook } from "../../adapters/fetch.ts";
import { honoWebhook } from "../../adapters/hono.ts";
import { nodeWebhook } from "../../adapters/node.ts";
import type { WebhookReceiver } from "../../adapters/lib/protocol.ts";
import { openMirror, recordingLogger } from "../support/mirror.ts";

/** A request that another library left in a state in which nothing of it can be read. */
const unreadable = new Proxy({}, { get: refuse }) as never;

function refuse(): never {
  throw new RangeError("no");
}

const response = { destroy: () => undefined } as never;
const reply = { hijack: () => undefined, raw: response } as never;

/** As Fastify calls the route's own handler. */
async function throughFastify(mirror: WebhookReceiver): Promise<void> {
  let handle: ((request: never, reply: never) => void) | undefined;
  const all = (_path: string, _hooks: object, handler: typeof handle) => (handle = handler);
  await fastifyWebhook({ all, initialConfig: {} }, { mirror, path: "/webhooks" });
  handle?.({ raw: unreadable } as never, reply);
}

const hosts: readonly (readonly [string, (mirror: WebhookReceiver) => unknown])[] = [
  ["Express", (mirror) => expressWebhook(mirror)(unreadable, response)],
  ["Fastify", throughFastify],
  ["Hono", (mirror) => honoWebhook(mirror)({ req: { raw: unreadable } } as never)],
  ["fetch", (mirror) => fetchWebhook(mirror)(unreadable)],
  ["node:http", (mirror) => nodeWebhook(mirror)(unreadable, response)],
];

it.each(hosts)("an error of %s's own is told of with the host's hint", async (host, send) => {
  const logger = recordingLogger();
  const mirror = await openMirror({ logger });
  await send(mirror);
  await mirror.close();
  expect(logger.lines.filter(({ level }) => level === "error")).toMatchObject([
    { fields: { step: "request", code: "internal-error" }, message: expect.stringContaining(`. ${host}: `) },
  ]);
});
