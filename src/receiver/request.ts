/** The step *request*: whatever a host has for a request becomes one shape (semantics §2). */
import { isUint8Array } from "node:util/types";
import { failed, type Verdict } from "./outcome.ts";

/** Header names in any case, values as the host has them. */
export type HeaderBag =
  | Iterable<readonly [string, string | readonly string[]]>
  | readonly string[]
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** One HTTP request, in a form that every framework, gateway or test can give. */
export interface ReceiveRequest {
  readonly method: string;
  /** `Headers`, a record, a `Map`, pairs, or Node's flat `rawHeaders`. */
  readonly headers: HeaderBag;
  /** The bytes as received; text is taken as UTF-8. Absent where another parser has consumed them. */
  readonly body?: Uint8Array | string | undefined;
  /** The body is base64 of the bytes, as some gateways hand it over. */
  readonly isBase64Encoded?: boolean;
  /** What the log says where the body is absent: which line of this host's set-up to change. */
  readonly hint?: string | undefined;
}

export interface Request {
  readonly headers: RequestHeaders;
  readonly body: Uint8Array;
}

/** All values of each header, by lower-case name. */
export type RequestHeaders = ReadonlyMap<string, readonly string[]>;

/** The request with its bytes, or why it is answered before anything is verified. */
export function readRequest(raw: ReceiveRequest, bodyBytesMax: number): Request | Verdict {
  if (raw.method.toUpperCase() !== "POST") return { outcome: "rejected", reason: "method-not-allowed" };
  if (isLonger(raw, bodyBytesMax)) return tooLarge;
  const body = bytesOf(raw);
  if (body === undefined) return { ...failed("raw-body-unavailable"), hint: raw.hint };
  return body.byteLength > bodyBytesMax ? tooLarge : { headers: headersOf(raw.headers), body };
}

const tooLarge: Verdict = { outcome: "rejected", reason: "body-too-large" };

/** Told before decoding: base64 takes four characters for three bytes. */
function isLonger({ body, isBase64Encoded }: ReceiveRequest, bodyBytesMax: number): boolean {
  const lengthMax = isBase64Encoded === true ? Math.ceil(bodyBytesMax / 3) * 4 : bodyBytesMax;
  return (body?.length ?? 0) > lengthMax;
}

/** A copy of our own: what is verified must be what is stored, and some hosts reuse their buffers, or run us in a realm of its own (Jest). */
function bytesOf({ body, isBase64Encoded }: ReceiveRequest): Uint8Array | undefined {
  if (typeof body === "string") return Buffer.from(body, isBase64Encoded === true ? "base64" : "utf8");
  if (!isUint8Array(body)) return undefined;
  const copy = Buffer.from(body);
  return isBase64Encoded === true ? Buffer.from(copy.toString("latin1"), "base64") : copy;
}

export function headersOf(bag: HeaderBag): RequestHeaders {
  const headers = new Map<string, string[]>();
  for (const [name, value] of entriesOf(bag)) {
    if (value === undefined) continue;
    const key = name.toLowerCase();
    const values = typeof value === "string" ? [value] : [...value];
    const known = headers.get(key);
    if (known === undefined) headers.set(key, values);
    else known.push(...values);
  }
  return headers;
}

type Entry = readonly [string, string | readonly string[] | undefined];

function entriesOf(bag: HeaderBag): Iterable<Entry> {
  if (Array.isArray(bag) && bag.every((item) => typeof item === "string")) return pairsOf(bag);
  if (typeof (bag as { [Symbol.iterator]?: unknown })[Symbol.iterator] === "function")
    return bag as Iterable<Entry>;
  return Object.entries(bag as Record<string, string | readonly string[] | undefined>);
}

/** Node's `rawHeaders`: name, value, name, value … */
function pairsOf(flat: readonly string[]): Entry[] {
  const pairs: Entry[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2)
    pairs.push([flat[index] as string, flat[index + 1]]);
  return pairs;
}
