/** Opens the mirror, and the service's client where a command needs it. */
import { createClient, type Client } from "../../client.ts";
import { createMirror, type Mirror } from "../../mirror/create-mirror.ts";
import { readsIn, type Reads } from "../../queries/reads.ts";
import { silentLogger } from "../../shared/logger.ts";
import type { Store } from "../../store/store.ts";
import { loadConfig } from "./config.ts";
import { exitCodes, Misuse, Stopped } from "./explain.ts";
import { loadSecrets } from "./secrets.ts";
import { existingStoreAt, placeOf, type StorePlace, type StoreFlags } from "./stores.ts";

/** The store of an open mirror, and where it is. */
export interface OpenStore extends StorePlace {
  readonly store: Store;
}

/** Opens the mirror, works on it, and closes it. It receives no deliveries, runs no handlers and changes no tables. */
export async function withMirror<Result>(
  flags: StoreFlags,
  work: (mirror: Mirror, open: OpenStore) => Promise<Result>,
  client?: Client,
): Promise<Result> {
  const place = placeOf(flags);
  const store = existingStoreAt(place);
  const jobs = { run: false };
  const mirror = await createMirror({ store, migrate: "check", jobs, logger: silentLogger, client });
  try {
    return await work(mirror, { ...place, store });
  } finally {
    await mirror.close();
  }
}

/**
 * Opens the mirror, and reads on one view of its rows: what is shown together was true together. On Postgres it is one
 * transaction, and the reads go out together.
 */
export function withReads<Result>(
  flags: StoreFlags,
  work: (reads: Reads) => Promise<Result>,
): Promise<Result> {
  return withMirror(flags, (_, { store }) => store.read((reader) => work(readsIn(reader))));
}

const clientNames = [
  "ESCROW_BASE_URL",
  "ESCROW_AUTH_URL",
  "ESCROW_CLIENT_ID",
  "ESCROW_CLIENT_SECRET",
] as const;

/** The service's API, with the settings of the config file and the environment. `undefined` if some are missing. */
export function findClient(flags: StoreFlags): Client | undefined {
  const found = loadClientSettings(flags);
  return found.missing.length > 0 ? undefined : createClient(found.settings);
}

/** @throws Misuse that names what is missing */
export function needClient(flags: StoreFlags): Client {
  const { settings, missing } = loadClientSettings(flags);
  if (missing.length === 0) return createClient(settings);
  throw new Misuse(
    `This command asks the service, and ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing: set ${missing.length === 1 ? "it" : "them"} in the environment or in --secrets-file. All but the secret can be in escrow-mirror.json, in "client".`,
  );
}

function loadClientSettings(flags: StoreFlags) {
  const { client = {} } = loadConfig(flags.config);
  const given = loadSecrets(clientNames, flags.secretsFile);
  const found = {
    ESCROW_BASE_URL: given.ESCROW_BASE_URL ?? client.baseUrl,
    ESCROW_AUTH_URL: given.ESCROW_AUTH_URL ?? client.authUrl,
    ESCROW_CLIENT_ID: given.ESCROW_CLIENT_ID ?? client.clientId,
    ESCROW_CLIENT_SECRET: given.ESCROW_CLIENT_SECRET,
  };
  const { scope, expiresInUnit } = client;
  const settings = {
    baseUrl: found.ESCROW_BASE_URL ?? "",
    authUrl: found.ESCROW_AUTH_URL ?? "",
    clientId: found.ESCROW_CLIENT_ID ?? "",
    clientSecret: found.ESCROW_CLIENT_SECRET ?? "",
    scope,
    ...(expiresInUnit === undefined ? {} : { expiresInUnit }),
  };
  return { settings, missing: clientNames.filter((name) => found[name] === undefined) };
}

/** Runs long work with a signal. Ctrl+C and SIGTERM abort it. Finished steps stay finished. */
export async function untilStopped<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  advice: string,
): Promise<Result> {
  const stopping = new AbortController();
  return onSignal(
    () => stopping.abort(new Stopped(`Stopped. ${advice}`)),
    () => work(stopping.signal),
  );
}

/** Runs work that takes no signal. Ctrl+C and SIGTERM end the process at once, after `tidy`, which gives the message. */
export function endedBySignal<Result>(work: () => Promise<Result>, tidy: () => string): Promise<Result> {
  return onSignal(() => {
    process.stderr.write(`error: ${tidy()}\n`);
    process.exit(exitCodes.stopped);
  }, work);
}

async function onSignal<Result>(stop: () => void, work: () => Promise<Result>): Promise<Result> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  try {
    return await work();
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  }
}
