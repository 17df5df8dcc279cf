import { encodeValue, type SqlValue } from "../sql/codec.ts";

/** The element types of the arrays that we send. */
export type ArrayType = "text" | "bigint" | "bytea";

/**
 * One column of a batch as one parameter, in Postgres's binary form of an array: written in one pass, with nothing to
 * escape, and read by the server without parsing.
 */
export function toArray(type: ArrayType, values: readonly SqlValue[]): Buffer {
  const elements = values.map((value) => (value === null ? null : toElement(type, value)));
  const hasNull = elements.includes(null);
  const length = elements.reduce(
    (sum, each) => sum + (each?.byteLength ?? 0),
    headerBytes + 4 * values.length,
  );
  const array = Buffer.allocUnsafe(length);
  let at = writeHeader(array, type, hasNull, values.length);
  for (const element of elements) {
    at = array.writeInt32BE(element === null ? -1 : element.byteLength, at);
    if (element !== null) {
      array.set(element, at);
      at += element.byteLength;
    }
  }
  return array;
}

export function texts(values: readonly (string | null)[]): Buffer {
  return toArray("text", values.map(encodeText));
}

export function bigints(values: readonly number[]): Buffer {
  return toArray("bigint", values);
}

/** Our own form of a text: the database does not take every character. */
export function encodeText(text: string | null): SqlValue {
  return encodeValue("text", text);
}

const headerBytes = 20;
const typeIds: Readonly<Record<ArrayType, number>> = { bytea: 17, bigint: 20, text: 25 };

/** One dimension, whose first index is 1. */
function writeHeader(array: Buffer, type: ArrayType, hasNull: boolean, length: number): number {
  let at = 0;
  for (const word of [1, hasNull ? 1 : 0, typeIds[type], length, 1]) at = array.writeInt32BE(word, at);
  return at;
}

function toElement(type: ArrayType, value: Exclude<SqlValue, null>): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (type === "text") return Buffer.from(String(value), "utf8");
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}
