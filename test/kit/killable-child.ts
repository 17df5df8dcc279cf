/**
 * A receiving process to be killed: the library on the database that it is given. `GET /?<contract>` shows what it has of
 * one. Told `late`, it has a fault: what it answers 200 is in its memory alone, and on the disk once somebody reads.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMirror, type Mirror, type ReceiveRequest, type Store } from "../../src/index.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { openDatabase } from "../simulation/database.ts";
import { observeMirror } from "./observe-mirror.ts";

const [, , place = "", secret = "", port = "0", manner = "careful"] = process.argv;
const durable = await openMirror(openDatabase(place));
const answering = manner === "late" ? await openMirror(createMemoryStore()) : durable;
const putOff: ReceiveRequest[] = [];

const server = createServer((request, response) => {
  const contractId = request.url?.split("?")[1];
  void (contractId === undefined ? answer(request, response) : show(contractId, response));
});
server.listen(Number(port), "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});

function openMirror(store: Store): Promise<Mirror> {
  return createMirror({ store, logger: silentLogger, webhook: { secrets: secret } });
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const method = request.method ?? "";
  const received = { method, headers: request.rawHeaders, body: Buffer.concat(chunks) };
  const { status, headers, body } = await answering.receive(received);
  if (answering !== durable && status === 200) putOff.push(received);
  response.writeHead(status, headers).end(body);
}

async function show(contractId: string, response: ServerResponse): Promise<void> {
  for (const each of putOff.splice(0)) await durable.receive(each);
  response.end(JSON.stringify((await observeMirror(durable, contractId)) ?? null));
}
