/** A receiving process, to be killed: a mirror on the database that it is given, behind a plain HTTP server. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import { openDatabase } from "./database.ts";

const [, , place = "", secret = ""] = process.argv;
const mirror = await createMirror({ store: openDatabase(place), webhook: { secrets: secret } });
const server = createServer((request, response) => void answer(request, response));
// A connection that is idle while the tests think stays open.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${port}\n`);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { status, headers, body } = await mirror.receive({
    method: request.method ?? "",
    headers: request.rawHeaders,
    body: Buffer.concat(chunks),
  });
  response.writeHead(status, headers).end(body);
}
