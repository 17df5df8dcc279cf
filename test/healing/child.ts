/** A process of the tests of healing, to be killed: a mirror that receives, and does what it is told over HTTP. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "../../src/client.ts";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import type { StoreTransaction } from "../../src/store/store.ts";
import { openDatabase } from "../simulation/database.ts";

interface Settings {
  readonly database: string;
  /** The file that `webhook.secrets` reads and `save` writes. */
  readonly secretFile: string;
  readonly api?: { baseUrl: string; authUrl: string; clientId: string; clientSecret: string };
  /** The process kills itself when so many steps of a rotation are done. */
  readonly dieAfter?: number;
  readonly watch?: { readonly everyMs: number };
  /** How long `save` takes: so long a process without a client can't have the new secret. */
  readonly saveMs?: number;
}

const settings = JSON.parse(process.argv[2] ?? "") as Settings;
const { database, secretFile, api, dieAfter, saveMs = 0, watch } = settings;
let steps = 0;

/** A point between two steps: nothing runs after it in a process that has to die here. */
function step(): void {
  if (++steps === dieAfter) process.kill(process.pid, "SIGKILL");
}

const client = api && createClient({ ...api, retries: 0, timeoutMs: 5000 });
const bare = openDatabase(database);
let rotating = false;
/** Before and after each call of the service is a point. */
const stepping =
  client &&
  ({
    ...client,
    webhooks: {
      ...client.webhooks,
      get: async () => stepped(() => client.webhooks.get()),
      regenerateSecret: async () => stepped(() => client.webhooks.regenerateSecret()),
    },
  } as typeof client);

async function stepped<T>(work: () => Promise<T>): Promise<T> {
  if (rotating) step();
  const done = await work();
  if (rotating) step();
  return done;
}

/** Each commit that touches the rotation is a point too; those of its lease and of other deliveries are none. */
async function transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
  let isOfRotation = false;
  const done = await bare.transaction((tx) => {
    const lock: StoreTransaction["lock"] = (table, ...rest) => {
      if (table === "rotations") isOfRotation = true;
      return tx.lock(table, ...rest);
    };
    return work(Object.create(tx, { lock: { value: lock } }) as StoreTransaction);
  });
  if (rotating && isOfRotation) step();
  return done;
}

const store = Object.create(bare, { transaction: { value: transaction } }) as typeof bare;
const mirror = await createMirror({
  store: dieAfter === undefined ? bare : store,
  webhook: { secrets: () => readFileSync(secretFile, "utf8") },
  client: dieAfter === undefined ? client : stepping,
  jobs: { run: false, leaseMs: 400 },
});

if (watch !== undefined)
  mirror.startWatchdog({ ...watch, onWarning: (text) => process.stderr.write(`${text}\n`) });

const server = createServer((request, response) => void answer(request, response));
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (request.url === "/rotate") return void response.end(await rotate());
  const { status, headers, body } = await mirror.receive({
    method: request.method ?? "",
    headers: request.rawHeaders,
    body: Buffer.concat(chunks),
  });
  response.writeHead(status, headers).end(body);
}

async function rotate(): Promise<string> {
  rotating = true;
  try {
    await mirror.rotateSecret({ save });
    return "done";
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error);
  } finally {
    rotating = false;
  }
}

async function save(secret: string): Promise<void> {
  step();
  await new Promise((resolve) => setTimeout(resolve, saveMs));
  writeFileSync(`${secretFile}.new`, secret);
  renameSync(`${secretFile}.new`, secretFile);
  step();
}
