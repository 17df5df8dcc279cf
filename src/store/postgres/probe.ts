import { EscrowMirrorError } from "../../shared/errors.ts";
import { decodeValue } from "../sql/codec.ts";
import type { Session } from "../sql/session.ts";

/**
 * Makes sure, before a row is written, that the database can hold whatever an event says and that what was written comes back
 * as it was: an app's own Kysely may have been told to read values as something else.
 *
 * @throws EscrowMirrorError `invalid-configuration`
 */
export async function probe(session: Session, store: string): Promise<void> {
  const [[encoding] = []] = await session.all("select current_setting('server_encoding')", []);
  if (!encodings.has(String(encoding)))
    throw refusal(
      `${store} is in a database of the encoding ${String(encoding)}, which can't hold every text. Make one of UTF8: create database … encoding 'UTF8' template template0`,
    );
  const { bytes, text, number } = sample;
  const sql = "select $1::bytea as bytes, $2::text as text, $3::bigint as number";
  const [values = []] = await session.all(sql, [bytes, text, number]);
  if (!comesBack(values))
    throw refusal(
      `${store}: the driver gives values otherwise than they are stored. Likely cause: pg.types.setTypeParser for bytea, text or bigint in this process. Leave those as they are, or give the mirror { connectionString } or { pool }, where it uses parsers of its own`,
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

function refusal(message: string): EscrowMirrorError {
  return new EscrowMirrorError("invalid-configuration", message);
}
