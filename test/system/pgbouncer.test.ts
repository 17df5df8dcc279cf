/** Several mirrors behind a real PgBouncer in transaction mode, with fewer connections to the server than mirrors. */
import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createMirror, type Mirror } from "../../src/mirror/create-mirror.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { makeDeliveries, secret, type BenchDelivery } from "../bench/deliveries.ts";
import { createServerOfOurs, type PostgresServer } from "../support/postgres-server.ts";

const mirrorsCount = 4;
const deliveriesCount = 2000;
const serverConnections = 3;

let server: PostgresServer;
let bouncer: Bouncer;
beforeAll(async () => {
  server = await createServerOfOurs();
  bouncer = await startBouncer(server.url);
});
afterAll(async () => {
  await bouncer.stop();
  await server.remove();
});

it(`${mirrorsCount} mirrors apply ${deliveriesCount} deliveries once, each brought to two of them`, async () => {
  const mirrors = await Promise.all(
    Array.from({ length: mirrorsCount }, () =>
      createMirror({ store: postgres({ connectionString: bouncer.url }), webhook: { secrets: secret } }),
    ),
  );
  const deliveries = [...makeDeliveries(deliveriesCount, 0, 100)];
  const outcomes = await Promise.all(
    mirrors.map((mirror, index) =>
      bring(
        mirror,
        deliveries.filter((_, at) => [at % mirrorsCount, (at + 1) % mirrorsCount].includes(index)),
      ),
    ),
  );
  const counted = (wanted: string): number => outcomes.flat().filter((each) => each === wanted).length;
  expect([counted("applied"), counted("duplicate")]).toEqual([deliveriesCount, deliveriesCount]);
  const [mirror] = mirrors as [Mirror];
  const { total, byStatus } = await mirror.contracts.count();
  expect({ total, byStatus }).toEqual({
    total: deliveriesCount / 5,
    byStatus: { Completed: deliveriesCount / 10, Refunded: deliveriesCount / 10 },
  });
  const kept = await mirror.db
    .selectFrom("deliveries")
    .select((eb) => [eb.fn.countAll<number>().as("rows"), eb.fn.sum<number>("attempts").as("attempts")])
    .executeTakeFirst();
  expect([Number(kept?.rows), Number(kept?.attempts)]).toEqual([deliveriesCount, 2 * deliveriesCount]);
  expect((await mirror.health()).ok).toBe(true);
  await Promise.all(mirrors.map((each) => each.close()));
});

/** Brings each delivery until it is answered 200, 32 at a time. */
async function bring(mirror: Mirror, deliveries: readonly BenchDelivery[]): Promise<string[]> {
  const queue = [...deliveries];
  const outcomes: string[] = [];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { status, outcome } = await mirror.receive(next);
      if (status === 200) outcomes.push(outcome);
      else if (status === 503) queue.push(next);
      else throw new Error(`a delivery was answered ${status} ${outcome}`);
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  return outcomes;
}

interface Bouncer {
  readonly url: string;
  stop(): Promise<void>;
}

async function startBouncer(target: string): Promise<Bouncer> {
  const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-pgbouncer-"));
  chmodSync(folder, 0o755);
  const { hostname, port: serverPort, username, password, pathname } = new URL(target);
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]
postgres = host=${hostname} port=${serverPort} user=${username} password=${password} dbname=${pathname.slice(1)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${serverConnections}
max_client_conn = 200
`,
  );
  // It refuses to run as root.
  const asUser = userInfo().uid === 0 ? ["-u", "postgres"] : [];
  const child = spawn("/usr/sbin/pgbouncer", ["-q", ...asUser, file], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  await listening(child, port);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGINT");
      setTimeout(() => child.kill("SIGKILL"), 2000).unref();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
  for (let tries = 0; tries < 100; tries++) {
    if (child.exitCode !== null) break;
    if (await accepts(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`PgBouncer does not listen: ${said}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
