import { EscrowMirrorError, isEscrowMirrorError } from "../../shared/errors.ts";
import { settle } from "../../shared/result.ts";
import { decodeValue } from "../sql/codec.ts";
import type { Engine, Session } from "../sql/session.ts";
import { toArray } from "./array.ts";

/**
 * Makes sure, before a row is written, that the driver is one that we know how to use, that the database can hold whatever
 * an event says, and that values come back as they went in: an app's own Kysely may run on another driver than `pg`, or have been
 * told to read values as something else.
 *
 * @throws EscrowMirrorError `invalid-configuration`, `store-unavailable`
 */
export async function probe(engine: Engine, store: string): Promise<void> {
  const probed = await settle(() => engine.read((session) => inspect(session, store)));
  if (probed.ok) return;
  const { error } = probed;
  const isTold = isEscrowMirrorError(error, "store-unavailable", "closed", "invalid-configuration");
  throw isTold && !isOfStatement(error.cause) ? error : anotherDriver(store, error);
}

/** Whether a server did not understand what we ask every server alike: a driver sent it in another form. */
function isOfStatement(cause: unknown): boolean {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === "string" && /^(0A|42)...$/.test(code);
}

async function inspect(session: Session, store: string): Promise<void> {
  const [[encoding] = []] = await session.all(
    "select current_setting('server_encoding') as encoding, set_config('escrow_mirror.probe', '1', true) as probe",
    [],
  );
  if (typeof encoding !== "string") throw anotherDriver(store);
  if (!encodings.has(encoding))
    throw refusal(
      `${store} is in a database of the encoding ${encoding}, which can't hold every text. Make one of UTF8: create database … encoding 'UTF8' template template0`,
    );
  const [[inTransaction, ...values] = []] = await session.all(
    "select current_setting('escrow_mirror.probe', true) as probe, given.* from unnest($1::bytea[], $2::text[], $3::bigint[]) as given(bytes, text, number)",
    [toArray("bytea", [sample.bytes]), toArray("text", [sample.text]), toArray("bigint", [sample.number])],
  );
  // A driver that runs each query on a connection of its own has forgotten it.
  if (inTransaction !== "1") throw anotherDriver(store);
  if (!comesBack(values))
    throw refusal(
      `${store}: the driver returns other values than were stored. Likely cause: pg.types.setTypeParser for bytea, text or bigint in this process. Leave those as they are, or give the mirror { connectionString } or { pool }, where it uses parsers of its own`,
    );
}

const sample = {
  bytes: Buffer.from([0, 0x5c, 0x78, 0xff]),
  text: "aB é طلب",
  number: Number.MAX_SAFE_INTEGER,
};

/** SQL_ASCII takes any bytes as they come. */
const encodings: ReadonlySet<string> = new Set(["UTF8", "SQL_ASCII"]);

function comesBack([bytes, text, number]: readonly unknown[]): boolean {
  try {
    return (
      decodeValue("hex", bytes) === sample.bytes.toString("hex") &&
      text === sample.text &&
      decodeValue("integer", number) === sample.number
    );
  } catch {
    return false;
  }
}

function anotherDriver(store: string, cause?: unknown): EscrowMirrorError {
  return refusal(
    `${store} does not run on the driver pg, or not on one connection for a whole transaction. The mirror needs Kysely's PostgresDialect with a Pool of the package pg, such a Pool itself, or { connectionString }. If the app uses another driver or database, give the mirror a Pool of pg or { connectionString }`,
    cause,
  );
}

function refusal(message: string, cause?: unknown): EscrowMirrorError {
  return new EscrowMirrorError("invalid-configuration", message, { cause });
}
