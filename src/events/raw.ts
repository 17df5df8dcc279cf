import { inflateBody } from "./inflate.ts";

/** A body's JSON, for fields that the facts do not have; `null` where it can't be read. Its numbers are plain floats. */
export function parseRaw(body: Uint8Array, encoding: string | undefined): unknown {
  const inflated = inflateBody(body, encoding, rawBytesMax);
  try {
    return JSON.parse(new TextDecoder().decode(inflated.ok ? inflated.value : body)) as unknown;
  } catch {
    return null;
  }
}

/** Far above any body that was taken in: it was read within its bound then. */
const rawBytesMax = 2 ** 30;
